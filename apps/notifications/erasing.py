"""What is erased here of a subject: what places answered to messages about its requests."""

from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.notifications.models import Delivery


def _rows(subject: Subject) -> QuerySet[Delivery]:
    of_subject = Q(approval__channel=subject.channel, approval__sender=subject.sender)
    of_subject |= Q(approval__session_key__in=subject.sessions)
    return Delivery.objects.filter(of_subject).exclude(message="")


def _count(subject: Subject) -> int:
    return _rows(subject).count()


def _erase(subject: Subject, _at: datetime) -> int:
    return _rows(subject).update(message="")


ERASER: Final = Eraser(
    name="notifications", label=_("Messages about requests"), models=(Delivery,), count=_count, erase=_erase
)
