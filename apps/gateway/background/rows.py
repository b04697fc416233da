"""The life of a background command until it ends: reserved, kept, spoken of. Each step is one transaction."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction

from apps.audit.chain import storable_text
from apps.events.notices import announce
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.exec_policy.inputs import reads_code
from apps.firewall.redaction import mask_text
from apps.firewall.runtime.call import Action, Call
from apps.firewall.runtime.sessions import place_of
from apps.firewall.tools.background.ports import Terms
from apps.firewall.tools.background.view import View
from apps.gateway.background.errors import CommandLostError, TooManyCommandsError
from apps.gateway.models import BackgroundCommand
from apps.gateway.people import environment_named, sender_of
from apps.keys.installation import mask_key
from apps.sessions.models import Session

State = BackgroundCommand.State
CHANGED: Final = "command.changed"
COMMAND_LIMIT: Final = 500
PARENTS_LIMIT: Final = 32


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose commands a call may see: those of its agent, in the tree of sessions that its own belongs to."""

    environment_id: UUID
    agent: str
    family: str


def session_of(call: Call) -> Session | None:
    """Find the session of a call."""
    environment = environment_named(call.environment)
    place = place_of(call, dialect_named(environment.dialect))
    if place is None:
        return None
    return Session.objects.filter(environment=environment, agent=place.name.agent, key=place.name.key).first()


def family_of(session: Session) -> str:
    """Name the session at the root of the tree that a session belongs to."""
    key, parent, seen = session.key, session.parent_key, {session.key}
    while parent and parent not in seen and len(seen) < PARENTS_LIMIT:
        seen.add(parent)
        key = parent
        rows = Session.objects.filter(environment=session.environment_id, key=parent)
        parent = rows.values_list("parent_key", flat=True).first() or ""
    return key


def asker_of(call: Call) -> Asker | None:
    """Tell whose commands a call may see; None for one without a session, which may see none."""
    session = session_of(call)
    return None if session is None else Asker(session.environment_id, session.agent, family_of(session))


def command_reserve(action: Action, terms: Terms, *, holder: UUID, at: datetime) -> None:
    """Take a place for a command that is about to begin.

    Raises:
        TooManyCommandsError: as many run as may, of this session or in all.
        CommandLostError: the session is gone, or was ended.
    """
    call = action.call()
    session = session_of(call)
    if session is None or not session.is_open:
        raise CommandLostError("the session of this call takes no commands")
    with transaction.atomic():
        _check_room(session)
        BackgroundCommand.objects.create(
            id=call.id,
            environment_id=session.environment_id,
            session=session,
            family=family_of(session),
            agent=session.agent,
            session_key=session.key,
            channel=storable_text(call.channel),
            sender=storable_text(sender_of(call)),
            actor=call.actor,
            tool=action.tool,
            snapshot_digest=action.snapshot,
            trace_id=call.trace_id,
            command=_shown(str(action.params.get("command", ""))),
            workdir=storable_text(str(action.params.get("workdir") or "")),
            has_terminal=terms.has_terminal,
            reads_code=reads_code([*(action.argv or ["sh"])[:1], action.executable]),
            time_limit_s=terms.time_limit_s,
            state=State.STARTING,
            holder=holder,
            started_at=at,
        )


def _shown(command: str) -> str:
    masked = mask_text(storable_text(command), key=mask_key()).text
    return masked if len(masked) <= COMMAND_LIMIT else masked[: COMMAND_LIMIT - 1] + "…"


def _check_room(session: Session) -> None:
    with connection.cursor() as cursor:  # who counts, counts alone
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('background commands', 0))")
    running = BackgroundCommand.objects.exclude(state=State.ENDED)
    most, most_of_session = settings.BACKGROUND_LIMIT, settings.BACKGROUND_SESSION_LIMIT
    if running.filter(session=session).count() >= most_of_session:
        message = f"{most_of_session} commands of this session run in the background already: end one first"
        raise TooManyCommandsError(message)
    if running.count() >= most:
        raise TooManyCommandsError(f"{most} commands run in the background of this installation already")


def command_keep(command_id: UUID, view: View) -> None:
    """Let a command belong to its session from now on.

    Raises:
        CommandLostError: its place is gone, or the session was ended.
    """
    with transaction.atomic():
        rows = BackgroundCommand.objects.select_for_update(of=("self",)).select_related("session", "environment")
        row = rows.filter(pk=command_id, state=State.STARTING).first()
        if row is None or not row.session.is_open or row.end_asked_code:
            raise CommandLostError("the command was ended before its call left it")
        row.state = State.RUNNING
        row.output, row.output_begin, row.output_total = storable_text(view.text), view.begin, view.total
        row.save(update_fields=["state", "output", "output_begin", "output_total"])
        announce(CHANGED, id=row.pk, environment=row.environment.slug)


def command_release(command_id: UUID) -> None:
    """Give back the place of a command that ended with its call, or with the attempt to keep it."""
    BackgroundCommand.objects.filter(pk=command_id).exclude(state=State.ENDED).delete()


def command_said(command_id: UUID, view: View, *, accepts_input: bool) -> None:
    """Write down what a command has said by now."""
    running = BackgroundCommand.objects.filter(pk=command_id, state=State.RUNNING)
    running.update(
        output=storable_text(view.text),
        output_begin=view.begin,
        output_total=view.total,
        accepts_input=accepts_input,
    )
