"""What is erased here: every answer that is kept for repeats. Whose it is cannot be told, and a tool gives it again."""

from datetime import datetime
from typing import Final

from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.limits.models import KeptResult


def _count(_subject: Subject) -> int:
    return KeptResult.objects.count()


def _erase(_subject: Subject, _at: datetime) -> int:
    return KeptResult.objects.all().delete()[0]


ERASER: Final = Eraser(
    name="limits",
    label=_("Answers that are kept for repeats, of everybody"),
    models=(KeptResult,),
    count=_count,
    erase=_erase,
)
