"""What the pages show of a replay: how far it is, figures, groups of calls with what decides them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from apps.accounts.access import Permission, may
from apps.audit.selectors import calls_by_id
from apps.console.calls import layer_number
from apps.console.gate import ConsoleRequest
from apps.console.layers import layer_name
from apps.firewall.engine.snapshot import SnapshotError
from apps.firewall.identifiers import show_id
from apps.policies.replays.asking import DAYS, replay_newest
from apps.policies.replays.proofs import replay_proof
from apps.policies.selectors import draft_snapshot, live_publication

SHOWN_GROUPS: Final = 12
SHOWN_COMMANDS: Final = 3
COMMAND_LETTERS: Final = 200
RUNNING: Final = frozenset({"exec"})
"""Tools whose calls say little without their command."""

DEFAULT_DAYS: Final = 7

REASONS: Final[Mapping[str, Promise]] = {
    "agent": _("The record does not say which agent called."),
    "model": _("The record does not say which provider and model were used, and a rule depends on it."),
    "conversation": _("The record does not say where the call came from, and a rule depends on it."),
    "sender": _("The record does not say who spoke, and a rule depends on it."),
    "owner": _("The record does not say whether an owner spoke, and a rule depends on it."),
    "sandbox": _("The record does not say whether the session was sandboxed, and a rule depends on it."),
    "depth": _("The record does not say how deep the sub-agent was, and a rule depends on it."),
    "runtime_tools": _("The list of tools that the caller brought is too long to be on record."),
    "stored_session": _("What the sub-agent inherited is too long to be on record, or was masked."),
    "context": _("The record keeps too little of the context."),
    "params": _("Rules of commands or permissions changed, and the record holds no whole parameters."),
    "filters": _("Other content filters refuse now; what they would find is not replayed."),
    "not_asked": _("The call was refused before any policy was asked."),
    "failed": _("An error of ours denied the call."),
    "brought": _("The run's caller brought this tool; no snapshot has it."),
    "search": _("A control of tool search: what it finds and calls is decided for each tool."),
    "unexplained": _("The snapshot that decided gives another answer to what is on record."),
}
DECIDERS: Final[Mapping[str, Promise]] = {
    "unknown_tool": _("No such tool"),
    "permissions": _("Permissions"),
    "exec_policy": _("Exec rules"),
}
KINDS: Final[Mapping[str, str]] = {"allowed": "allow", "asks": "ask", "denied": "deny"}


@dataclass(frozen=True, slots=True)
class Side:
    """One verdict, `allow`, `ask` or `deny`, with what decided; without a layer where everything lets it pass."""

    kind: str
    number: int | None
    layer: str
    rule: str


@dataclass(frozen=True, slots=True)
class ReplayGroup:
    """Calls of one agent and tool that change alike, and the way to a few of them.

    Attributes:
        commands: what those few ran, masked as the ledger keeps it, each once.
    """

    agent: str
    tool: str
    now: Side | None
    draft: Side | None
    why: Promise | str
    count: int
    calls: tuple[tuple[UUID, str], ...]
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownReplay:
    """A replay, or what has a tally like one, as the pages show it.

    Attributes:
        names_calls: lead to the calls themselves, for who may read the ledger.
    """

    replay: Any
    dialect: str
    shows_all: bool = False
    names_calls: bool = True
    commands: Mapping[UUID, str] = field(default_factory=dict)

    def count(self, change: str) -> int:
        counts: dict[str, int] = self.replay.tally.get("counts", {})
        return counts.get(change, 0)

    @property
    def blocked(self) -> int:
        return self.count("blocked")

    @property
    def allowed(self) -> int:
        return self.count("allowed")

    @property
    def asked(self) -> int:
        return self.count("asked")

    @property
    def unasked(self) -> int:
        return self.count("unasked")

    @property
    def freed(self) -> int:
        """How many calls would run that were refused, or that a person was asked about."""
        return self.allowed + self.unasked

    @property
    def flipped(self) -> int:
        """How many calls would be decided otherwise, or nobody knows how."""
        return self.freed + self.blocked + self.asked + self.unknown

    @property
    def same(self) -> int:
        return self.count("same")

    @property
    def unknown(self) -> int:
        return self.count("unknown")

    @property
    def flips(self) -> list[ReplayGroup]:
        """The groups of calls that would be decided otherwise, as far as they are shown."""
        return self._shown(self._groups(is_unknown=False))

    @property
    def unknowns(self) -> list[ReplayGroup]:
        return self._shown(self._groups(is_unknown=True))

    @property
    def groups_left(self) -> int:
        """How many groups are not shown."""
        kept = len(self.replay.tally.get("groups", ()))
        return kept - len(self.flips) - len(self.unknowns)

    @property
    def calls_left(self) -> int:
        """How many calls are in groups that found no room."""
        left: dict[str, int] = self.replay.tally.get("left", {})
        return sum(left.values())

    def _shown(self, groups: Iterator[ReplayGroup]) -> list[ReplayGroup]:
        found = list(groups)
        return found if self.shows_all else found[:SHOWN_GROUPS]

    def _groups(self, *, is_unknown: bool) -> Iterator[ReplayGroup]:
        for group in self.replay.tally.get("groups", ()):
            if (group["change"] == "unknown") is is_unknown:
                named = group["calls"] if self.names_calls else ()
                calls = tuple((UUID(call), show_id("call", UUID(call))) for call in named)
                yield ReplayGroup(
                    agent=group["agent"],
                    tool=group["tool"],
                    now=self._side(group["now"]),
                    draft=self._side(group["draft"]),
                    why=REASONS.get(group["reason"], group["reason"]),
                    count=group["count"],
                    calls=calls,
                    commands=self._commands(call for call, _name in calls),
                )

    def _commands(self, calls: Iterable[UUID]) -> tuple[str, ...]:
        found = dict.fromkeys(self.commands[call] for call in calls if call in self.commands)
        return tuple(found)[:SHOWN_COMMANDS]

    def _side(self, answer: dict[str, str] | None) -> Side | None:
        if answer is None:
            return None
        key = answer["layer"]
        name = str(DECIDERS.get(key) or layer_name(key)) if key else ""
        return Side(KINDS[answer["verdict"]], layer_number(key, self.dialect), name, answer["rule"])


def replay_shown(request: ConsoleRequest, replay: Any, dialect: str, *, shows_all: bool = False) -> ShownReplay:
    """A replay with the commands of its groups, for who may read the ledger that keeps them."""
    shown = ShownReplay(replay, dialect, shows_all)
    if not may(request.user, Permission.AUDIT_READ):
        return shown
    wanted = [call for group in (*shown.flips, *shown.unknowns) if group.tool in RUNNING for call, _name in group.calls]
    return replace(shown, commands=_commands_of(wanted)) if wanted else shown


def _commands_of(calls: Iterable[UUID]) -> dict[UUID, str]:
    """Read what calls ran; a record whose content is gone by retention has no command any more."""
    found = {}
    for call_id, record in calls_by_id(calls).items():
        command = record.params.get("command") if isinstance(record.params, dict) else None
        if isinstance(command, str) and command:
            found[call_id] = Truncator(command).chars(COMMAND_LETTERS)
    return found


def replay_panel(request: ConsoleRequest) -> dict[str, Any]:
    """Gather what the review shows of replays: the newest one, whether it is of this draft, and what can be asked."""
    environment: Any = request.environment
    live = live_publication(environment)
    try:
        digest = draft_snapshot(environment).digest
    except SnapshotError:
        digest = ""
    found = replay_newest(environment, digest) if may(request.user, Permission.AUDIT_READ) else None
    live_digest = live.snapshot_id if live else ""
    is_stale = found is not None and (found.draft_digest, found.live_digest) != (digest, live_digest)
    return {
        "shown": None if found is None else replay_shown(request, found, environment.dialect),
        "is_stale": is_stale,
        "is_first": live is None,
        "days_choices": DAYS,
        "days": DEFAULT_DAYS if found is None else found.days,
        "may_replay": may(request.user, Permission.AUDIT_READ),
        "has_draft": bool(digest),
    }


def review_proof(environment: Any, *, draft_digest: str, live_digest: str) -> Any:
    """Say whether the draft of a review was replayed; None where it has no digest."""
    if not draft_digest:
        return None
    proof = replay_proof(environment, draft_digest=draft_digest, live_digest=live_digest, at=timezone.now())
    shown = None if proof.replay is None else ShownReplay(proof.replay, environment.dialect)
    return {"standing": proof.standing, "is_met": proof.is_met, "shown": shown}
