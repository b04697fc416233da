"""What happens to accounts and belongs on record: the ledger stands above this room, and hears of it here.

The console tells of what people do there itself; here tell the doors without a person: the command line, and tokens
that are refused.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.accounts.models import ApiToken

SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One thing that happened. `kind` is "token" or "user_change", `status` a word for what became of it."""

    kind: str
    status: str
    actor: str = SYSTEM
    environment: str = ""
    changes: Mapping[str, Any] = field(default_factory=dict)


_hearers: list[Callable[[Told], None]] = []


def hear(hearer: Callable[[Told], None]) -> None:
    """Be told from now on; the room above calls this once, when it is ready."""
    _hearers.append(hearer)


def tell(told: Told) -> None:
    """Tell the rooms above, last in a transaction: when it raises, nothing else may have happened."""
    for hearer in _hearers:
        hearer(told)


def token_told(token: "ApiToken") -> dict[str, Any]:
    """Say of a token what the ledger keeps: all but its secret. A member named `token` would be masked as one."""
    return {"id": token.shown_id, "name": token.name, "scopes": token.scopes, "agents": token.agents}
