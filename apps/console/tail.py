"""The head of the ledger, looked at once a second for all tabs of a process."""

import time
from uuid import UUID

from channels.db import database_sync_to_async

from apps.audit.models import Entry

FRESH_S = 1.0
_heads: dict[str, tuple[float, UUID | None]] = {}


def _read(environment: str) -> UUID | None:
    newest = Entry.objects.filter(environment=environment).order_by("-at", "-id")
    return newest.values_list("id", flat=True).first()


async def newest_entry(environment: str) -> UUID | None:
    """Give the id of an environment's newest entry; None in an empty ledger."""
    known = _heads.get(environment)
    if known is not None and time.monotonic() - known[0] < FRESH_S:
        return known[1]
    head: UUID | None = await database_sync_to_async(_read)(environment)
    _heads[environment] = (time.monotonic(), head)
    return head
