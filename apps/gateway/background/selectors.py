"""Reading background commands: for their agents, and for people."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Right

from apps.firewall.tools.background.ports import CommandNotFoundError, KeptCommand, Status
from apps.firewall.tools.background.view import View
from apps.gateway.background.rows import Asker, State
from apps.gateway.models import BackgroundCommand
from apps.sessions.models import Session

LISTED = 50
TAIL = 500
PAGE_TAIL = 4_000


def commands_of_asker(asker: Asker, *, at: datetime) -> list[KeptCommand]:
    """List the commands that a call may see, the newest first, each with the last it said."""
    rows = _visible(asker).defer("output").annotate(tail=Right(F("output"), TAIL))
    return [_kept(row, View(row.tail), at) for row in rows[:LISTED]]


def command_read(asker: Asker, command_id: UUID, *, at: datetime) -> KeptCommand | None:
    """Read one with what it said; None when this call may see none of that name."""
    row = _visible(asker).filter(pk=command_id).first()
    return None if row is None else _kept(row, _view(row), at)


def command_polled(
    asker: Asker, command_id: UUID, *, limit: int, is_last: bool, at: datetime
) -> tuple[KeptCommand, str, int] | None:
    """Read what is new of one, and remember that it was told.

    Args:
        is_last: answer also when there is no news.
    Returns:
        It, its new output, and how much was dropped before that; None to ask again.
    Raises:
        CommandNotFoundError: this call may see none of that name.
    """
    row = _visible(asker).filter(pk=command_id).first()
    if row is None:
        raise CommandNotFoundError("this session has no such background command")
    view = _view(row)
    output, position = view.since(row.polled, limit)
    if not output and row.is_open and not is_last:
        return None
    if position != row.polled:
        told = BackgroundCommand.objects.filter(pk=command_id, polled=row.polled).update(polled=position)
        if not told:  # another poll told it just now
            return None if not is_last else (_kept(row, view, at), "", 0)
    return _kept(row, view, at), output, max(0, view.begin - row.polled)


def commands_forget(asker: Asker, command_id: UUID) -> int:
    """Drop one that has ended."""
    return _visible(asker).filter(pk=command_id, state=State.ENDED).delete()[0]


def commands_of_session(session: Session) -> list[BackgroundCommand]:
    """List the commands of a session for people, those that run first; `tail` is the last they said."""
    rows = BackgroundCommand.objects.filter(session=session).exclude(state=State.STARTING)
    shown = rows.defer("output").annotate(tail=Right(F("output"), PAGE_TAIL))
    return list(shown.order_by("-state", "-started_at", "-id")[:LISTED])


def command_of_session(session: Session, command_id: UUID) -> BackgroundCommand | None:
    """Find one command of a session."""
    rows = BackgroundCommand.objects.filter(session=session, pk=command_id).exclude(state=State.STARTING)
    return rows.annotate(tail=Right(F("output"), PAGE_TAIL)).first()


def _visible(asker: Asker) -> QuerySet[BackgroundCommand]:
    rows = BackgroundCommand.objects.filter(environment=asker.environment_id, agent=asker.agent, family=asker.family)
    return rows.exclude(state=State.STARTING).order_by("-started_at", "-id")


def _view(row: BackgroundCommand) -> View:
    return View(row.output, row.output_begin, row.output_total)


def _kept(row: BackgroundCommand, view: View, at: datetime) -> KeptCommand:
    status: Status = "running" if row.is_open else row.outcome  # type: ignore[assignment]
    return KeptCommand(
        session_id=row.shown_id,
        status=status,
        command=row.command,
        workdir=row.workdir,
        has_terminal=row.has_terminal,
        started_at=row.started_at,
        runtime_ms=max(0, ((row.ended_at or at) - row.started_at) // timedelta(milliseconds=1)),
        exit_code=row.exit_code,
        signal=row.signal,
        error={"code": row.error_code, "message": row.error_message} if row.error_code else None,
        view=view,
        reads_code=row.reads_code,
        accepts_input=row.is_open and row.accepts_input,
    )
