"""Rewritten params on their way from the hooks to the tool, by the id of their call."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.errors import FirewallError

REWRITES_KEPT: Final = 1024
ABSENT: Final[Any] = object()


class RewriteLostError(FirewallError):
    """The params that hooks made for a call are not there any more; the call must not run with others."""

    code = "rewrite_lost"


class Rewrites:
    """The params that hooks made, until the call takes them; the oldest are lost beyond the limit."""

    def __init__(self, kept: int = REWRITES_KEPT) -> None:
        self._kept = kept
        self._params: OrderedDict[str, Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._params)

    def put(self, call_id: str, params: Any) -> None:
        """Keep the params of a call."""
        self._params[call_id] = params
        self._params.move_to_end(call_id)
        while len(self._params) > self._kept:
            self._params.popitem(last=False)

    def take(self, call_id: str) -> Any:
        """Give the params of a call whose hooks rewrote them, once.

        Raises:
            RewriteLostError: there are none.
        """
        try:
            return self._params.pop(call_id)
        except KeyError:
            raise RewriteLostError("the params that hooks rewrote were lost") from None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One member that hooks changed; a side is `ABSENT` where the member was not there."""

    member: str
    before: Any
    after: Any

    @property
    def kind(self) -> str:
        """Name the change: `added`, `removed` or `changed`."""
        if self.before is ABSENT:
            return "added"
        return "removed" if self.after is ABSENT else "changed"


def rewrites_between(before: Any, after: Any) -> tuple[Rewrite, ...]:
    """List the members in which params differ, in the order of the older ones; not masked."""
    old = before if isinstance(before, Mapping) else {}
    new = after if isinstance(after, Mapping) else {}
    members = dict.fromkeys([*old, *new])
    sides = ((member, old.get(member, ABSENT), new.get(member, ABSENT)) for member in members)
    return tuple(Rewrite(*side) for side in sides if not _same(side[1], side[2]))


def _same(one: Any, other: Any) -> bool:
    """Compare JSON values; unlike Python, a boolean is no number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)
