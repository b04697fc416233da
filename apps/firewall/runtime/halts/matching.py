"""Which stop of the kill switch meets a call."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.conversation_key import group_of_key
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.names import normalize_name
from apps.firewall.engine.senders import normalize_channel

Scope: TypeAlias = Literal["environment", "agent", "channel", "tool"]
State: TypeAlias = Literal["stopped", "asking"]
SCOPES: Final[tuple[Scope, ...]] = ("environment", "agent", "channel", "tool")
STRICTEST_FIRST: Final[tuple[State, ...]] = ("stopped", "asking")


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """A stop that holds now.

    Args:
        scope: what `name` is the name of; an environment is stopped whole, so it needs none.
        name: in the form in which calls carry it (`engine.subjects`).
        state: `stopped`, nothing runs; `asking`, the first step back: every call waits for a person.
        reason: of whoever placed it, for agents and people.
    """

    scope: Scope
    name: str = ""
    state: State = "stopped"
    reason: str = ""

    @property
    def rule(self) -> str:
        return f"{self.scope}:{self.name}" if self.name else self.scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a stop may be compared with. An empty channel is one that nobody could tell."""

    agent: str
    tool: str
    channels: frozenset[str]


def aim_of(context: CallContext, *, agent: str, tool: str, release: str) -> Aim:
    """Say what a call is, as stops see it. The channel that its caller names counts, and that of the session's key."""
    dialect = dialect_named(release)
    channels = {context.channel or "", group_of_key(dialect, context.session_key).channel or ""}
    known = frozenset(normalize_channel(dialect, each) for each in channels) - {""}
    return Aim(agent=agent, tool=normalize_name(dialect, tool), channels=known)


def halt_for(halts: Iterable[Halt], aim: Aim) -> Halt | None:
    """Find the stop that meets a call: the strictest, of these the widest.

    A call whose channel nobody knows may come from any, so it meets the stop of each.
    """
    met = [each for each in halts if _meets(each, aim)]
    order = [(state, scope) for state in STRICTEST_FIRST for scope in SCOPES]
    return min(met, key=lambda each: (order.index((each.state, each.scope)), each.name), default=None)


def _meets(halt: Halt, aim: Aim) -> bool:
    if halt.scope == "agent":
        return halt.name == aim.agent
    if halt.scope == "tool":
        return halt.name == aim.tool
    if halt.scope == "channel":
        return not aim.channels or halt.name in aim.channels
    return True
