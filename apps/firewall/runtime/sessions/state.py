"""What is remembered of a session between two of its calls."""

from dataclasses import dataclass, field
from datetime import datetime

from apps.firewall.runtime.loops import LoopHistory


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """How much a session may do in all; None where it has no bound.

    Args:
        max_calls: calls that it may make, refused ones counted.
        max_denied: calls that may be refused before everything is.
        max_duration_s: seconds from its first call to its last.
    """

    max_calls: int | None = None
    max_denied: int | None = None
    max_duration_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """A session as its next call finds it.

    Args:
        calls: made so far, refused ones counted.
        denied: of these, refused by a rule. What a person denies is not among them.
        end_reason: why it was ended, in words for whoever calls; None while it is open.
    """

    started_at: datetime
    calls: int = 0
    denied: int = 0
    end_reason: str | None = None
    budgets: Budgets = field(default_factory=Budgets)
    history: LoopHistory = field(default_factory=LoopHistory)
