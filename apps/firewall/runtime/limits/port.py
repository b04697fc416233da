"""What the runtime asks of whoever counts calls and keeps results."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Call, JsonObject
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.running import ToolOutcome

Counting: TypeAlias = Literal["take", "look", "skip"]
"""`take` counts the call, `look` says what it would meet, `skip` leaves rates out: it was counted before."""


@dataclass(frozen=True, slots=True)
class Limited:
    """Why a call may not run now, and after how many seconds it may."""

    code: str
    message: str
    wait_s: int
    rule: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """The result of an equal call, and words for callers about where it comes from."""

    result: JsonObject
    message: str


class Limits(Protocol):
    """How often tools may run, and what answers a call without running."""

    async def admit(
        self, call: Call, tool: ToolEntry, definition: Definition, *, counting: Counting = "take"
    ) -> Limited | None:
        """Let a call through and count it; or say which limit it meets."""

    async def settle(self, call: Call, tool: ToolEntry, outcome: ToolOutcome) -> None:
        """Hear how a call ended that ran."""

    async def recall(self, call: Call, key: str) -> Remembered | None:
        """Give the result of an equal call; None where none is kept."""

    async def keep(self, call: Call, key: str, definition: Definition, outcome: ToolOutcome) -> None:
        """Keep a result for equal calls; that it could not be kept changes nothing."""


class NoLimits:
    """The port `Limits` of whoever counts nothing."""

    async def admit(
        self,
        call: Call,  # noqa: ARG002
        tool: ToolEntry,  # noqa: ARG002
        definition: Definition,  # noqa: ARG002
        *,
        counting: Counting = "take",  # noqa: ARG002
    ) -> Limited | None:
        return None

    async def settle(self, call: Call, tool: ToolEntry, outcome: ToolOutcome) -> None:
        """Nothing counts it."""

    async def recall(self, call: Call, key: str) -> Remembered | None:  # noqa: ARG002
        return None

    async def keep(self, call: Call, key: str, definition: Definition, outcome: ToolOutcome) -> None:
        """Nothing keeps it."""
