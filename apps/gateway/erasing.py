"""What is erased here of a subject: commands left running and what they said, calls that run later, news of calls."""

from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.retention.erasers import Eraser, Subject
from apps.gateway.models import (
    AsyncCall,
    BackgroundCommand,
    CallbackAttempt,
    CallProgress,
    CallSlot,
    CommandInput,
    UntoldCall,
)
from apps.registry.models import ToolFailure

BATCH: Final = 500
EMPTY: Final = {"command": "", "workdir": "", "output": "", "error_message": ""}


def _commands(subject: Subject) -> QuerySet[BackgroundCommand]:
    return BackgroundCommand.objects.filter(subject.rows() | Q(pk__in=subject.calls()))


def _filled(subject: Subject) -> QuerySet[BackgroundCommand]:
    told = ~Q(command="") | ~Q(workdir="") | ~Q(output="") | ~Q(error_message="")
    return _commands(subject).filter(told, state=BackgroundCommand.State.ENDED)


def _later(subject: Subject) -> QuerySet[AsyncCall]:
    return AsyncCall.objects.filter(subject.rows() | Q(pk__in=subject.calls()))


def _count(subject: Subject) -> int:
    failures = ToolFailure.objects.filter(call_id__in=subject.calls()).count()
    return _filled(subject).count() + _later(subject).filter(sealed_action__isnull=False).count() + failures


def _open(subject: Subject) -> int:
    running = _commands(subject).exclude(state=BackgroundCommand.State.ENDED).count()
    return running + _later(subject).exclude(state=AsyncCall.State.DONE).count()


def _erase(subject: Subject, _at: datetime) -> int:
    found = list(_filled(subject).order_by().values_list("pk", flat=True)[:BATCH])
    gone = BackgroundCommand.objects.filter(pk__in=found).update(**EMPTY)
    gone += CommandInput.objects.filter(command__in=_commands(subject)).delete()[0]
    gone += _later(subject).filter(sealed_action__isnull=False).update(sealed_action=None)
    gone += CallbackAttempt.objects.filter(~Q(message=""), call__in=_later(subject)).update(message="")
    of_calls = Q(call_id__in=subject.calls())
    gone += CallSlot.objects.filter(of_calls, ~Q(body_digest="")).update(body_digest="")
    return gone + sum(model.objects.filter(of_calls).delete()[0] for model in (CallProgress, ToolFailure, UntoldCall))


ERASER: Final = Eraser(
    name="gateway",
    label=_("Commands in the background and calls in the queue"),
    models=(
        AsyncCall,
        BackgroundCommand,
        CallbackAttempt,
        CallProgress,
        CallSlot,
        CommandInput,
        ToolFailure,
        UntoldCall,
    ),
    count=_count,
    erase=_erase,
    open=_open,
)
