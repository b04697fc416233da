"""The end of a background command: on record before anybody is told, exactly once, whoever notices it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import transaction

from apps.audit.chain import storable_text
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.models import Entry
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.sandbox.process import ProcessResult
from apps.firewall.tools.background.view import View
from apps.firewall.tools.builtin.exec import command_outcome
from apps.gateway.background.rows import CHANGED, State
from apps.gateway.models import BackgroundCommand

RECORDED_CHARACTERS: Final = 20_000
ENDED_KEPT: Final = 20
FILLED: Final = (
    *("output", "output_begin", "output_total", "accepts_input", "state", "ended_at", "outcome"),
    *("exit_code", "signal", "error_code", "error_message"),
)
KILLED, STOPPED, SESSION_ENDED, SWITCHED_OFF = "killed", "server_stopped", "session_ended", "switched_off"

MESSAGES: Final[dict[str, str]] = {
    KILLED: "ended by {by}",
    STOPPED: "the server that held it was stopped",
    SESSION_ENDED: "its session was ended",
    SWITCHED_OFF: "ended by {by}, who stopped all of its kind",
    "holder_gone": "the process that held it ended before it said how it went",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command ended.

    Args:
        outcome: `completed`, `failed`, `cancelled` or `unknown`.
        error: `{"code", "message"}`, where it did not end by itself.
        by: who wanted that, as audit names actors; empty for nobody.
    """

    outcome: str
    exit_code: int | None = None
    signal: int | None = None
    cpu_ms: int | None = None
    error: dict[str, str] | None = None
    by: str = ""


def ending_of(ran: ProcessResult, *, time_limit_s: int) -> Ending:
    """Say how a command went that ended by itself, or passed a limit."""
    outcome = command_outcome(ran, timeout=time_limit_s)
    return Ending(
        outcome=outcome.ended,
        exit_code=ran.exit_code,
        signal=ran.signal,
        cpu_ms=ran.cpu_ms,
        error=None if outcome.error is None else dict(outcome.error),
    )


def ending_asked(code: str, by: str, outcome: str = "cancelled") -> Ending:
    """Say that somebody, or something, ended a command.

    Args:
        by: an actor as audit names it, or the name of whoever placed a stop, whose own record names the actor.
    """
    name = by.rpartition(":")[2] or "the system"
    return Ending(
        outcome=outcome, error={"code": code, "message": MESSAGES[code].format(by=name)}, by=by if ":" in by else ""
    )


def command_end(command_id: UUID, ending: Ending, view: View | None, *, at: datetime) -> bool:
    """Put the end of a command on record, then in its row. Harmless to repeat, and to race.

    Args:
        view: what it said; None for what its row holds.
    Returns:
        Whether it was ended now; False when it was before, or its row is gone.
    Raises:
        AuditUnavailableError: the ledger refuses; the command counts as running until it takes it.
    """
    with transaction.atomic():
        rows = BackgroundCommand.objects.select_for_update(of=("self",)).select_related("environment", "session")
        row = rows.filter(pk=command_id, state=State.RUNNING).first()
        if row is None:
            return False
        if view is not None:
            row.output, row.output_begin, row.output_total = storable_text(view.text), view.begin, view.total
        _fill(row, ending, at)
        row.save(update_fields=FILLED)
        announce(CHANGED, id=row.pk, environment=row.environment.slug)
        _forget_surplus(row)
        # A process may have died between the two commits: then the record stands already.
        if not Entry.objects.filter(call_id=row.pk, kind=EntryKind.COMMAND_ENDED).exists():
            entry_record(_entry(row, ending, at))
    return True


def _fill(row: BackgroundCommand, ending: Ending, at: datetime) -> None:
    error = ending.error or {}
    row.state, row.ended_at, row.outcome, row.accepts_input = State.ENDED, at, ending.outcome, False
    row.exit_code, row.signal = ending.exit_code, ending.signal
    row.error_code, row.error_message = error.get("code", ""), error.get("message", "")


def _forget_surplus(row: BackgroundCommand) -> None:
    """Keep the newest of a session: what a busy agent leaves must not grow."""
    ended = BackgroundCommand.objects.filter(session=row.session_id, state=State.ENDED).order_by("-ended_at", "-id")
    BackgroundCommand.objects.filter(pk__in=list(ended.values_list("pk", flat=True)[ENDED_KEPT:])).delete()


def _entry(row: BackgroundCommand, ending: Ending, at: datetime) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.COMMAND_ENDED,
        actor=ending.by or row.actor or "system",
        environment=row.environment.slug,
        agent=row.agent,
        session_key=row.session_key,
        channel=row.channel,
        sender=row.sender,
        tool=row.tool,
        call_id=row.pk,
        result=_result(row, ending),
        error=ending.error,
        status=ending.outcome,
        duration_ms=max(0, (at - row.started_at) // timedelta(milliseconds=1)),
        snapshot_digest=row.snapshot_digest,
        changes={"session": row.session.shown_id, "command": row.shown_id},
        trace_id=row.trace_id,
        at=at,
    )


def _result(row: BackgroundCommand, ending: Ending) -> dict[str, Any]:
    told = {"exit_code": ending.exit_code, "signal": ending.signal, "cpu_ms": ending.cpu_ms}
    shown = _end_of(row.output)
    return {
        **{name: value for name, value in told.items() if value is not None},
        "output": shown,
        "total_characters": row.output_total,
        **({"is_cut": True} if len(shown) < len(row.output) or row.output_begin else {}),
    }


def _end_of(output: str) -> str:
    """Keep the end, from a line's beginning; the masks of what is cut stay whole or go."""
    if len(output) <= RECORDED_CHARACTERS:
        return output
    line = output.find("\n", len(output) - RECORDED_CHARACTERS)
    return output[line + 1 :] if line >= 0 else output[-RECORDED_CHARACTERS:]
