"""Results that answer equal calls, sealed while they are kept."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from apps.keys.errors import UnsealError
from apps.keys.seal import seal, unseal
from apps.limits.models import KeptResult
from apps.registry.models import Environment

PURPOSE: Final = "limits.result"
TTL_CEILING: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Kept:
    """A result, and the call that it was the answer to."""

    result: dict[str, Any]
    call_id: UUID
    kept_at: datetime


def result_recall(key: str, *, at: datetime) -> Kept | None:
    """Give the result of an equal call that has not expired; one that cannot be opened counts as none."""
    row = KeptResult.objects.filter(key=key, expires_at__gt=at).first()
    if row is None:
        return None
    try:
        return Kept(json.loads(unseal(bytes(row.sealed), purpose=PURPOSE)), row.call_id, row.kept_at)
    except UnsealError:  # sealed with a key that is gone
        return None


def result_keep(
    environment: Environment, key: str, *, tool: str, result: Any, call_id: UUID, ttl_ms: int, at: datetime
) -> None:
    """Keep a result for equal calls, in place of an older one."""
    sealed = seal(json.dumps(result).encode("utf-8", "surrogatepass"), purpose=PURPOSE)
    until = at + min(timedelta(milliseconds=ttl_ms), TTL_CEILING)
    fields = {
        "environment": environment,
        "tool": tool[:512],
        "call_id": call_id,
        "sealed": sealed,
        "kept_at": at,
        "expires_at": until,
    }
    KeptResult.objects.update_or_create(key=key, defaults=fields)


def results_forget(at: datetime) -> int:
    """Remove what has expired; harmless to repeat."""
    return KeptResult.objects.filter(expires_at__lte=at).delete()[0]
