"""What is erased here of a subject: what gateways asked and reported of its calls, while it waits to be told."""

from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.openclaw_gateways.models import GatewayCall


def _calls(subject: Subject) -> QuerySet[GatewayCall]:
    return GatewayCall.objects.filter(Q(session_key__in=subject.sessions) | Q(pk__in=subject.calls()))


def _rows(subject: Subject) -> QuerySet[GatewayCall]:
    kept = Q(error__isnull=False) | Q(sealed_params__isnull=False) | Q(sealed_report__isnull=False)
    return _calls(subject).filter(kept, ended_at__isnull=False)


def _count(subject: Subject) -> int:
    return _rows(subject).count()


def _open(subject: Subject) -> int:
    return _calls(subject).filter(ended_at=None).count()


def _erase(subject: Subject, _at: datetime) -> int:
    return _rows(subject).update(error=None, sealed_params=None, sealed_report=None)


ERASER: Final = Eraser(
    name="openclaw_gateways",
    label=_("Calls that gateways asked about"),
    models=(GatewayCall,),
    count=_count,
    erase=_erase,
    open=_open,
)
