"""The life of an approval as a table."""

from enum import StrEnum


class Decision(StrEnum):
    """What a person may answer; the words of OpenClaw."""

    ALLOW_ONCE = "allow-once"
    ALLOW_ALWAYS = "allow-always"
    DENY = "deny"


class State(StrEnum):
    """Where an approval stands. Every state but the first is final."""

    REQUESTED = "requested"
    ALLOWED_ONCE = "allowed_once"
    ALLOWED_ALWAYS = "allowed_always"
    DENIED = "denied"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


TRANSITIONS: dict[State, frozenset[State]] = {
    State.REQUESTED: frozenset(
        {
            State.ALLOWED_ONCE,
            State.ALLOWED_ALWAYS,
            State.DENIED,
            State.EXPIRED,
            State.CANCELLED,
            State.SUPERSEDED,
        }
    ),
    State.ALLOWED_ONCE: frozenset(),
    State.ALLOWED_ALWAYS: frozenset(),
    State.DENIED: frozenset(),
    State.EXPIRED: frozenset(),
    State.CANCELLED: frozenset(),
    State.SUPERSEDED: frozenset(),
}
"""Where each state may lead. The database holds the same table as a trigger, made from this one."""

STATE_OF: dict[Decision, State] = {
    Decision.ALLOW_ONCE: State.ALLOWED_ONCE,
    Decision.ALLOW_ALWAYS: State.ALLOWED_ALWAYS,
    Decision.DENY: State.DENIED,
}

ALLOWED = frozenset({State.ALLOWED_ONCE, State.ALLOWED_ALWAYS})

DECISION_OF: dict[State, Decision] = {state: decision for decision, state in STATE_OF.items()}
"""The answer that led to a state; a state that nobody's answer led to has none."""
