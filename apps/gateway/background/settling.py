"""Background commands that nobody holds any more: their process is gone. Nobody knows how they ended; it says so."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from apps.audit.models import Boot
from apps.gateway.background.endings import MESSAGES, Ending, command_end
from apps.gateway.background.inputs import inputs_forget
from apps.gateway.background.rows import State, command_release
from apps.gateway.models import BackgroundCommand

KEPT: Final = timedelta(minutes=30)
"""What an ended command said can be read for so long; the ledger keeps its end."""

GONE: Final = "holder_gone"


def commands_settle(at: datetime) -> int:
    """End the commands whose holder is gone, and forget what ended long ago. Harmless to repeat, and to race.

    A holder is gone when its boot was declared so (`audit.services.sweep_orphans`); its commands died with it.

    Returns:
        How many were ended now.
    Raises:
        AuditUnavailableError: the ledger refuses; they stay for the next time.
    """
    BackgroundCommand.objects.filter(state=State.ENDED, ended_at__lt=at - KEPT).delete()
    inputs_forget(at)
    held = dict(BackgroundCommand.objects.exclude(state=State.ENDED).values_list("pk", "holder"))
    if not held:
        return 0
    gone = set(Boot.objects.filter(id__in=set(held.values()), ended_at__isnull=False).values_list("id", flat=True))
    return sum(_settle(command_id, at) for command_id, boot in held.items() if boot in gone)


def strays_settle(boot: UUID, known: Callable[[], list[UUID]], *, at: datetime) -> int:
    """End the rows in the name of a process that lives and does not hold them.

    Args:
        known: what it holds, asked after the rows were read.
    """
    open_rows = BackgroundCommand.objects.filter(holder=boot).exclude(state=State.ENDED)
    found = list(open_rows.values_list("pk", flat=True))
    holds = set(known()) if found else set()
    return sum(_settle(command_id, at) for command_id in found if command_id not in holds)


def _settle(command_id: UUID, at: datetime) -> int:
    ending = Ending(outcome="unknown", error={"code": GONE, "message": MESSAGES[GONE]})
    if command_end(command_id, ending, None, at=at):
        return 1
    starting = BackgroundCommand.objects.filter(pk=command_id, state=State.STARTING)
    if starting.exists():  # its call has an outcome of its own
        command_release(command_id)
    return 0
