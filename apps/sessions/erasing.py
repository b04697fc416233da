"""What is erased here of a subject: what loop detection remembers, why a session was ended, and who spoke last."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.sessions.models import Session


def _rows(subject: Subject) -> QuerySet[Session]:
    return Session.objects.filter(subject.rows(session="key")).filter(
        Q(loops__isnull=False) | Q(context__isnull=False) | ~Q(end_reason="")
    )


def _count(subject: Subject) -> int:
    return _rows(subject).count()


def _erase(subject: Subject, _at: datetime) -> int:
    return _rows(subject).update(loops=None, context=None, end_reason="")


def _sessions(subject: Subject) -> Iterator[str]:
    """Give the sessions of the sub-agents that the subject's sessions spawned, and theirs."""
    found, seen = set(subject.sessions), set(subject.sessions)
    while found:
        children = Session.objects.filter(parent_key__in=found)
        children = children.filter(Q(sender="") | Q(sender=subject.sender, channel=subject.channel))
        found = set(children.values_list("key", flat=True)) - seen
        seen |= found
        yield from found


ERASER: Final = Eraser(
    name="sessions", label=_("Sessions"), models=(Session,), count=_count, erase=_erase, sessions=_sessions
)
