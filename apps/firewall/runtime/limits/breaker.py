"""Circuit breakers: a tool whose server keeps failing is left alone for a while, then tried with one call."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from apps.firewall.tools.executors import HttpExecutor, McpExecutor
from apps.firewall.tools.running import ToolOutcome

State: TypeAlias = Literal["closed", "open", "trying"]

PASSING: Final = frozenset(
    {
        "answer_broken",
        "command_timed_out",
        "connection_failed",
        "mcp_busy",
        "mcp_ended",
        "mcp_flooded",
        "mcp_not_started",
        "mcp_timed_out",
        "mcp_unreachable",
        "name_unresolved",
        "time_limit",
        "tls_failed",
        "tool_crashed",
        "tool_server_busy",
        "tool_server_failed",
        "tool_timed_out",
    }
)
"""Codes of failures that lie in what a tool needs, not in its params."""

REMOTE: Final = frozenset({HttpExecutor.kind, McpExecutor.kind})
"""Executors whose tools have a breaker: others fail by themselves alone."""


@dataclass(frozen=True, slots=True)
class BreakerRule:
    """After how many failures in a row a tool is left alone, and for how long."""

    failures: int = 5
    pause_s: int = 30

    @property
    def pause(self) -> timedelta:
        return timedelta(seconds=self.pause_s)


@dataclass(frozen=True, slots=True)
class Breaker:
    """How a tool stands: failures in a row, since when it is left alone, when it was last tried again."""

    failures: int = 0
    opened_at: datetime | None = None
    tried_at: datetime | None = None

    def state(self, rule: BreakerRule, at: datetime) -> State:
        if self.opened_at is None:
            return "closed"
        return "open" if at < self.next_try(rule) else "trying"

    def next_try(self, rule: BreakerRule) -> datetime:
        """Tell when the next call may try a tool that is left alone.

        Raises:
            ValueError: it is not left alone.
        """
        if self.opened_at is None:
            raise ValueError("the breaker is closed")
        return max(self.opened_at, self.tried_at or self.opened_at) + rule.pause

    def tried(self, at: datetime) -> "Breaker":
        """Let one call through; the others wait for another pause, or until that one succeeds."""
        return replace(self, tried_at=at)

    def after(self, *, is_failure: bool, rule: BreakerRule, at: datetime) -> "Breaker":
        """Count how a call ended."""
        if not is_failure:
            return Breaker()
        failures = self.failures + 1
        is_open = self.opened_at is not None or failures >= rule.failures
        return Breaker(failures, at if is_open else None)


def may_pass(outcome: ToolOutcome) -> bool:
    """Say whether a call failed for a reason that may be gone the next time; what nobody knows counts as such."""
    return outcome.ended == "unknown" or (outcome.error is not None and outcome.error["code"] in PASSING)
