"""Notices: what changed, as kind and id. They travel through PostgreSQL and commit with the row they speak of."""

import json
from contextvars import ContextVar
from dataclasses import dataclass

from django.db import connection

CHANNEL = "openclaw_admin"
PAYLOAD_LIMIT_BYTES = 8000  # PostgreSQL refuses more
RECONNECTED = "listener.reconnected"

NOTICED: ContextVar[dict[str, set[str]] | None] = ContextVar("NOTICED", default=None)
"""Where a request gathers what it announced: kind -> the environments; None where nobody gathers it."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One change. `kind` is `entity.past_tense`, `id` names the row, `environment` is a slug or empty."""

    kind: str
    id: str
    environment: str = ""

    def to_text(self) -> str:
        return json.dumps({"kind": self.kind, "id": self.id, "environment": self.environment})

    @classmethod
    def from_text(cls, text: str) -> "Notice | None":
        """Read a payload; None when it is not one of ours."""
        try:
            payload = json.loads(text)
        except ValueError:
            return None
        if not isinstance(payload, dict):
            return None
        values = [payload.get(key, "") for key in ("kind", "id", "environment")]
        if not all(isinstance(value, str) for value in values) or not values[0]:
            return None
        return cls(*values)


def announce(kind: str, *, id: object, environment: str = "") -> None:  # noqa: A002 - the word of the contract
    """Tell every process that a row changed, when and only when the current transaction commits.

    Args:
        kind: `entity.past_tense`, for example `approval.requested`.
        id: identifier of the row, written as text.
        environment: slug; empty when the row belongs to none.
    Raises:
        ValueError: the notice does not fit a payload; ids and slugs always do.
    Source: PostgreSQL manual, NOTIFY.
    """
    payload = Notice(kind, str(id), environment).to_text()
    if len(payload.encode()) >= PAYLOAD_LIMIT_BYTES:
        raise ValueError("the notice is too long for a payload")
    noticed = NOTICED.get()
    if noticed is not None:
        noticed.setdefault(kind, set()).add(environment)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, payload])
