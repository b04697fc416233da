"""The life of a tool: which state follows which, and who may move it there. One table.

People withdraw with the right to change policies. What brings a withdrawn tool back acts on calls at once and takes the
right to publish. Discovery withdraws what its source no longer brings, or brings changed, and brings back only what it
withdrew itself: a tool that a person withdrew waits for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from apps.accounts.access import Permission
from apps.registry.models import ToolState as S


@dataclass(frozen=True, slots=True)
class Move:
    """One way from a state to another.

    Args:
        permission: what a person or a token needs for it; None where only a look goes it.
        by_discovery: whether a look at the tool's source may do it by itself.
    """

    permission: Permission | None
    by_discovery: bool = False


_WITHDRAW: Final = Move(Permission.POLICY_WRITE)
_PREPARE: Final = Move(Permission.POLICY_WRITE, by_discovery=True)
_RETURN: Final = Move(Permission.PUBLISH)
_FOUND: Final = Move(Permission.PUBLISH, by_discovery=True)
_FOUND_AGAIN: Final = Move(None, by_discovery=True)
_LOST: Final = Move(Permission.POLICY_WRITE, by_discovery=True)

MOVES: Final[Mapping[str, Mapping[str, Move]]] = MappingProxyType(
    {
        S.REGISTERED: {
            S.INITIALISED: _PREPARE,
            S.ACTIVE: _PREPARE,
            S.QUARANTINED: _WITHDRAW,
            S.DISABLED: _WITHDRAW,
            S.UNREGISTERED: _LOST,
        },
        S.INITIALISED: {
            S.REGISTERED: _PREPARE,
            S.ACTIVE: _PREPARE,
            S.QUARANTINED: _WITHDRAW,
            S.DISABLED: _WITHDRAW,
            S.UNREGISTERED: _LOST,
        },
        S.ACTIVE: {
            S.QUARANTINED: _LOST,
            S.DEPRECATED: _WITHDRAW,
            S.DISABLED: _WITHDRAW,
            S.UNREGISTERED: _LOST,
        },
        S.DEPRECATED: {
            S.ACTIVE: _RETURN,
            S.QUARANTINED: _LOST,
            S.DISABLED: _WITHDRAW,
            S.UNREGISTERED: _LOST,
        },
        S.QUARANTINED: {
            S.ACTIVE: _FOUND,
            S.DEPRECATED: _FOUND,
            S.DISABLED: _WITHDRAW,
            S.UNREGISTERED: _WITHDRAW,
        },
        S.DISABLED: {
            S.ACTIVE: _RETURN,
            S.QUARANTINED: _WITHDRAW,
            S.UNREGISTERED: _WITHDRAW,
        },
        S.UNREGISTERED: {
            S.REGISTERED: _FOUND,
            S.INITIALISED: _FOUND_AGAIN,
            S.ACTIVE: _FOUND_AGAIN,
            S.QUARANTINED: _LOST,
        },
    }
)
"""From -> to -> who. What is not in the table nobody may do."""


def move_of(state: str, to: str) -> Move | None:
    """Give the way between two states; None when there is none."""
    return MOVES[state].get(to)


def moves_from(state: str, permissions: frozenset[Permission]) -> tuple[str, ...]:
    """List the states that somebody with these permissions may move a tool to."""
    return tuple(to for to, move in MOVES[state].items() if move.permission in permissions)
