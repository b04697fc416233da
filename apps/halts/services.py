"""Stop, take the first step back, lift. Each is one transaction, and every process hears of it."""

from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, actor_of, require_agents
from apps.accounts.models import User
from apps.approvals.freezing import approvals_freeze
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.masking import Masker
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.subjects import is_group
from apps.halts.conditions import KIND_OF, name_kept, rows_met
from apps.halts.errors import HaltExistsError, HaltInvalidError, HaltLiftedError, HaltUnknownError
from apps.halts.models import Halt, Scope, State
from apps.registry.models import Environment
from apps.registry.services.changing import By, change
from apps.subjects import UNKNOWN, subjects_unknown

PLACED: Final = "halt.placed"
CHANGED: Final = "halt.changed"
STANDING: Final = "halts.standing"
"""What an environment has stopped is another now; its `id` is that of the environment."""
SYSTEM: Final = "system"
BREAKER: Final = "storm breaker"


def halt_place(
    environment: Environment,
    *,
    scope: str,
    name: str = "",
    reason: str,
    ends_running: bool = True,
    unknown: bool = False,
    by: By = None,
    at: datetime,
) -> Halt:
    """Stop everything, an agent, a channel or a tool. Pending requests that it meets are frozen.

    Args:
        name: of the agent, channel or tool; empty for everything.
        reason: for agents, people and the record.
        ends_running: calls and commands that it meets are ended too, wherever they run.
        unknown: the name may be one that nothing has yet.
    Raises:
        PermissionDeniedError, HaltInvalidError.
        HaltUnknownError: nothing has this name, so that nothing would stop.
        HaltExistsError: the same is stopped already.
        AuditUnavailableError: the ledger refuses; nothing was stopped.
    """
    kept = name_kept(environment, scope, name)
    with change(by, permission=Permission.CALLS_STOP):
        require_agents(by, [kept] if scope == Scope.AGENT else [])
        halt = Halt(
            environment=environment,
            scope=scope,
            name=kept,
            reason=Masker().text(" ".join(reason.split())),
            ends_running=ends_running,
            placed_at=at,
            placed_by=by if isinstance(by, User) else None,
            placed_by_label=_label(by),
        )
        _check(halt, written=name)
        if not unknown:
            _check_known(halt, name)
        _replace_pause(halt, by, at)
        _insert(halt)
        halt.frozen = _freeze(environment, at)
        halt.save(update_fields=["frozen"])
        announce(PLACED, id=halt.pk, environment=environment.slug)
        announce(STANDING, id=environment.pk, environment=environment.slug)
        _tell(halt, by, "placed", at, name=halt.name, reason=halt.reason, ends_running=ends_running, frozen=halt.frozen)
    return halt


def halt_pause(environment: Environment, *, agent: str, denials: int | None, minutes: int, at: datetime) -> Halt:
    """Have an agent ask nobody: what would ask is refused, what needs nobody runs on, what waits can be answered.

    Args:
        agent: as calls carry it.
        denials, minutes: how often people had denied it within how long.
    Raises:
        HaltExistsError: it is paused or stopped already.
        AuditUnavailableError: the ledger refuses; nothing was paused.
    """
    with change(None):
        halt = Halt(
            environment=environment,
            scope=Scope.AGENT,
            name=agent,
            state=State.PAUSED,
            reason=f"denied {denials} times within {minutes} minutes",
            ends_running=False,
            placed_at=at,
            placed_by_label=BREAKER,
        )
        _insert(halt)
        announce(PLACED, id=halt.pk, environment=environment.slug)
        _tell(halt, None, "paused", at, name=agent, reason=halt.reason, denials=denials, minutes=minutes)
    return halt


def _insert(halt: Halt) -> None:
    try:
        with transaction.atomic():
            halt.save(force_insert=True)
    except IntegrityError:
        raise HaltExistsError(_("this is stopped already")) from None


def _replace_pause(halt: Halt, by: By, at: datetime) -> None:
    """Let a stop take the place of a pause of the same agent."""
    same = Halt.objects.filter(environment=halt.environment, scope=halt.scope, name=halt.name, state=State.PAUSED)
    pause = same.select_for_update(of=("self",)).select_related("environment").first()
    if pause is not None:
        _lift(pause, by, at)


def halt_ask(halt: Halt, *, by: By = None, at: datetime) -> Halt:
    """Take the first step back: calls may run again, each after a person's yes. Frozen requests wait on.

    Raises:
        PermissionDeniedError.
        HaltInvalidError: it is a pause, which is only lifted.
        HaltLiftedError: there is no way back left.
        AuditUnavailableError: the ledger refuses; everything stays stopped.
    """
    with change(by, permission=Permission.CALLS_STOP):
        halt = _locked(halt)
        require_agents(by, agents_of(halt))
        if halt.state == State.ASKING:
            return halt
        if halt.state == State.PAUSED:
            raise HaltInvalidError(_("a pause can only be lifted"))
        halt.state, halt.asking_at, halt.asking_by_label = State.ASKING, at, _label(by)
        halt.save(update_fields=["state", "asking_at", "asking_by_label"])
        _freeze(halt.environment, at)
        announce(CHANGED, id=halt.pk, environment=halt.environment.slug)
        announce(STANDING, id=halt.environment_id, environment=halt.environment.slug)
        _tell(halt, by, "asking", at)
    return halt


def halt_lift(halt: Halt, *, by: By = None, at: datetime) -> Halt:
    """Let everything go on as the policy says.

    Raises:
        PermissionDeniedError.
        HaltLiftedError: somebody did before.
        AuditUnavailableError: the ledger refuses; nothing was lifted.
    """
    with change(by, permission=Permission.CALLS_STOP):
        halt = _locked(halt)
        require_agents(by, agents_of(halt))
        _lift(halt, by, at)
        _freeze(halt.environment, at)
    return halt


def _lift(halt: Halt, by: By, at: datetime) -> None:
    halt.state, halt.lifted_at, halt.lifted_by_label = State.LIFTED, at, _label(by)
    halt.save(update_fields=["state", "lifted_at", "lifted_by_label"])
    announce(CHANGED, id=halt.pk, environment=halt.environment.slug)
    announce(STANDING, id=halt.environment_id, environment=halt.environment.slug)
    _tell(halt, by, "lifted", at)


def agents_of(halt: Halt) -> list[str]:
    """Name the one agent that a stop is about; none where it meets others, too."""
    return [halt.name] if halt.scope == Scope.AGENT else []


def _check(halt: Halt, *, written: str) -> None:
    details: list[dict[str, str]] = []
    try:
        halt.clean_fields(exclude={"placed_by", "asking_at", "lifted_at"})
    except ValidationError as exc:
        for field, messages in exc.message_dict.items():
            details += [{"path": field, "code": "invalid", "message": each} for each in messages]
    if (halt.scope == Scope.ENVIRONMENT) == bool(written.strip()) and halt.scope in Scope.values:
        message = _("everything has no name") if halt.name else _("say which one")
        details = [{"path": "name", "code": "invalid", "message": message}]
    elif halt.scope != Scope.ENVIRONMENT and written.strip():
        details += _not_one(halt, written)
    if details:
        raise HaltInvalidError(_("nothing was stopped: see details"), details)


def _not_one(halt: Halt, written: str) -> list[dict[str, str]]:
    """Refuse a name that no single agent, channel or tool can have."""
    if halt.scope == Scope.TOOL and is_group(written):
        message = _("`%(name)s` is a group: stop each of its tools, or everything") % {"name": written}
    elif "*" in written:
        message = _("a stop takes no patterns: stop each one, or everything")
    elif halt.scope in Scope.values and not halt.name:
        message = _("nothing can have the name `%(name)s`") % {"name": written}
    else:
        return []
    return [{"path": "name", "code": "invalid", "message": message}]


def _check_known(halt: Halt, written: str) -> None:
    """Refuse a name that nothing has: whoever stops something in a hurry must hear that nothing stopped.

    Raises:
        HaltUnknownError.
    """
    kind = KIND_OF.get(halt.scope)
    if kind is None:
        return
    dialect = dialect_named(halt.environment.dialect)
    for found in subjects_unknown(dialect, kind, [written], halt.environment.slug, patterns=False):
        raise HaltUnknownError(
            _("nothing was stopped: see details"), [{"path": "name", "code": UNKNOWN, "message": found.message}]
        )


def _locked(halt: Halt) -> Halt:
    halt = Halt.objects.select_for_update(of=("self",)).select_related("environment").get(pk=halt.pk)
    if not halt.holds:
        raise HaltLiftedError(_("this stop was lifted before, by %(name)s") % {"name": halt.lifted_by_label})
    return halt


def _freeze(environment: Environment, at: datetime) -> int:
    """Freeze what is stopped now, and let the rest go on."""
    held = Q()
    for halt in Halt.objects.filter(environment=environment, state=State.STOPPED):
        held |= rows_met(environment, halt.scope, halt.name)
    return approvals_freeze(environment, held, at=at)


def _label(by: By) -> str:
    return SYSTEM if by is None else str(by)


def _tell(halt: Halt, by: By, action: str, at: datetime, **changes: Any) -> None:
    entry_record(
        EntryDraft(
            kind=EntryKind.KILL_SWITCH,
            actor=actor_of(by),
            at=at,
            environment=halt.environment.slug,
            agent=halt.name if halt.scope == Scope.AGENT else "",
            channel=halt.name if halt.scope == Scope.CHANNEL else "",
            tool=halt.name if halt.scope == Scope.TOOL else "",
            status=action,
            changes={"halt": halt.shown_id, "action": action, "scope": str(halt.scope), **changes},
        )
    )
