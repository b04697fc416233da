"""Where a tool of a `ToolRegistry` stands, and which step leads where. One table; nothing else moves a tool."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from apps.firewall.errors import FirewallError

State: TypeAlias = Literal["registered", "initialised", "active", "deprecated", "disabled", "unregistered"]
Step: TypeAlias = Literal["initialise", "call", "disable", "enable", "deprecate", "unregister"]

STEPS: Final[Mapping[Step, Mapping[State, State]]] = {
    "initialise": {"registered": "initialised", "initialised": "initialised", "active": "active"},
    "call": {"initialised": "active", "active": "active", "deprecated": "deprecated"},
    "disable": {
        "registered": "disabled",
        "initialised": "disabled",
        "active": "disabled",
        "deprecated": "disabled",
        "disabled": "disabled",
    },
    "enable": {"disabled": "registered"},
    "deprecate": {
        "registered": "deprecated",
        "initialised": "deprecated",
        "active": "deprecated",
        "deprecated": "deprecated",
    },
    "unregister": {
        "registered": "unregistered",
        "initialised": "unregistered",
        "active": "unregistered",
        "deprecated": "unregistered",
        "disabled": "unregistered",
    },
}
"""Step -> state before -> state after. What is not listed is refused."""

DURATIONS_KEPT: Final = 1000


class StepRefusedError(FirewallError):
    """A tool that cannot go where it is told to from where it stands."""

    code = "step_refused"


@dataclass(slots=True)
class Standing:
    """Where one tool stands and how its calls went.

    Args:
        reason: why it is disabled.
        successor: what takes its place when it is deprecated.
        durations_ms: of its last calls.
    """

    state: State = "registered"
    reason: str = ""
    successor: str = ""
    calls: int = 0
    failures: int = 0
    durations_ms: deque[float] = field(default_factory=lambda: deque(maxlen=DURATIONS_KEPT))

    @property
    def success_rate(self) -> float | None:
        """The share of calls that did not fail, from 0 to 1; None before the first."""
        return None if not self.calls else 1 - self.failures / self.calls

    @property
    def p95_ms(self) -> float | None:
        """What 95 of 100 calls did not take longer than; None before the first."""
        ordered = sorted(self.durations_ms)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))] if ordered else None

    def take(self, step: Step, name: str) -> None:
        """Go one step.

        Raises:
            StepRefusedError: it does not lead on from here.
        """
        after = STEPS[step].get(self.state)
        if after is None:
            raise StepRefusedError(f"the tool `{name}` is {self.state}: it cannot {step}")
        self.state = after

    def count(self, duration_ms: float, *, is_failure: bool) -> None:
        self.calls += 1
        self.failures += is_failure
        self.durations_ms.append(duration_ms)
