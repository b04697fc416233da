"""What is erased here of a subject: what gateways asked and reported of its calls, while it waits to be told, and what
they said of whoever asked."""

from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.openclaw_gateways.models import GatewayCall, SpawnedSession


def _calls(subject: Subject) -> QuerySet[GatewayCall]:
    return GatewayCall.objects.filter(Q(session_key__in=subject.sessions) | Q(pk__in=subject.calls()))


def _rows(subject: Subject) -> QuerySet[GatewayCall]:
    kept = Q(error__isnull=False) | Q(sealed_params__isnull=False) | Q(sealed_report__isnull=False)
    return _calls(subject).filter(kept | Q(context__isnull=False), ended_at__isnull=False)


def _spawned(subject: Subject) -> QuerySet[SpawnedSession]:
    """Find sessions that the subject's calls spawned: without these rows their spawner is only known by its key."""
    theirs = Q(context__context__sender_id=subject.sender, context__context__channel=subject.channel)
    return SpawnedSession.objects.filter(
        theirs | Q(session_key__in=subject.sessions) | Q(parent_key__in=subject.sessions)
    )


def _count(subject: Subject) -> int:
    return _rows(subject).count() + _spawned(subject).count()


def _open(subject: Subject) -> int:
    return _calls(subject).filter(ended_at=None).count()


def _erase(subject: Subject, _at: datetime) -> int:
    forgotten, _rest = _spawned(subject).delete()
    return forgotten + _rows(subject).update(error=None, sealed_params=None, sealed_report=None, context=None)


ERASER: Final = Eraser(
    name="openclaw_gateways",
    label=_("Calls that gateways asked about"),
    models=(GatewayCall, SpawnedSession),
    count=_count,
    erase=_erase,
    open=_open,
)
