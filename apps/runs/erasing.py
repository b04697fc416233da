"""What is erased here of a subject: its runs, with what they searched and called."""

from datetime import datetime
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.runs.models import ClientCall, RunCall, RunSearch, ToolRun


def _rows(subject: Subject) -> QuerySet[ToolRun]:
    return ToolRun.objects.filter(subject.rows())


def _count(subject: Subject) -> int:
    return _rows(subject).count()


def _erase(subject: Subject, _at: datetime) -> int:
    return _rows(subject).delete()[1].get(ToolRun._meta.label, 0)


ERASER: Final = Eraser(
    name="tool_runs",
    label=_("Runs with tool search"),
    models=(ToolRun, RunSearch, RunCall, ClientCall),
    count=_count,
    erase=_erase,
)
