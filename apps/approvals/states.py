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


TRANSITIONS: dict[State, frozenset[State]] = {
    State.REQUESTED: frozenset(
        {State.ALLOWED_ONCE, State.ALLOWED_ALWAYS, State.DENIED, State.EXPIRED, State.CANCELLED}
    ),
    State.ALLOWED_ONCE: frozenset(),
    State.ALLOWED_ALWAYS: frozenset(),
    State.DENIED: frozenset(),
    State.EXPIRED: frozenset(),
    State.CANCELLED: frozenset(),
}

STATE_OF: dict[Decision, State] = {
    Decision.ALLOW_ONCE: State.ALLOWED_ONCE,
    Decision.ALLOW_ALWAYS: State.ALLOWED_ALWAYS,
    Decision.DENY: State.DENIED,
}

ALLOWED = frozenset({State.ALLOWED_ONCE, State.ALLOWED_ALWAYS})
