"""What a queued call needs to run, and where its end is told: sealed, and bound to its call."""

import json
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from apps.firewall.runtime.call import Action, Deferral
from apps.keys.seal import seal, unseal


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An action in the queue.

    Args:
        sensitive: names of params that the tool declares secret.
    """

    action: Action
    sensitive: tuple[str, ...] = ()


def sealed_action(waiting: Waiting) -> bytes:
    kept = {"action": waiting.action.to_json(), "sensitive": list(waiting.sensitive)}
    return seal(json.dumps(kept).encode(), purpose=f"async.action {waiting.action.call_id}")


def unsealed_action(call_id: UUID, sealed: bytes) -> Waiting:
    """Open the action of a call.

    Raises:
        UnsealError: it was sealed with another key, or belongs to another call.
    """
    kept = _opened(sealed, f"async.action {call_id}")
    return Waiting(action=Action.from_json(kept["action"]), sensitive=tuple(kept["sensitive"]))


def sealed_callback(call_id: UUID, deferral: Deferral) -> bytes:
    return seal(json.dumps(asdict(deferral)).encode(), purpose=f"async.callback {call_id}")


def unsealed_callback(call_id: UUID, sealed: bytes) -> Deferral:
    """Open where a call's end is told.

    Raises:
        UnsealError: it was sealed with another key, or belongs to another call.
    """
    return Deferral(**_opened(sealed, f"async.callback {call_id}"))


def _opened(sealed: bytes, purpose: str) -> dict[str, Any]:
    opened: dict[str, Any] = json.loads(unseal(bytes(sealed), purpose=purpose))
    return opened
