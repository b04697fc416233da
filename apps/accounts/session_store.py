"""Sessions as rows that a person can list and end. Django's SESSION_ENGINE.

Where and with what a person signed in is put into the session by the adapter after sign-in (`ORIGIN_KEY`).
"""

from datetime import timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as RowStore
from django.utils import timezone

from apps.accounts.models import Session, User

ORIGIN_KEY = "_origin"
SEEN_EVERY = timedelta(minutes=1)


class SessionStore(RowStore):
    """Django's row store, which also keeps whose the session is and when it was last seen."""

    cache_key_prefix = "apps.accounts.session"

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        row = super().create_model_instance(data)
        assert isinstance(row, Session)  # noqa: S101 - get_model_class says so
        user_id = data.get(SESSION_KEY)
        row.user_id = User._meta.pk.to_python(user_id) if user_id else None
        row.last_seen_at = timezone.now()
        # Django writes a session as a whole row; without this the first day would be rewritten each time.
        known = Session.objects.filter(pk=row.session_key).values_list("created_at", flat=True).first()
        row.created_at = known or row.last_seen_at
        origin = data.get(ORIGIN_KEY) or {}
        row.user_agent = str(origin.get("user_agent", ""))[:300]
        row.ip = origin.get("ip") or None
        return row

    async def acreate_model_instance(self, data: dict[str, Any]) -> Session:
        return await sync_to_async(self.create_model_instance)(data)

    def _get_session_from_db(self) -> Session | None:
        row: Session | None = super()._get_session_from_db()  # type: ignore[misc] # private, and older than the stubs
        if row is not None and timezone.now() - row.last_seen_at >= SEEN_EVERY:
            row.last_seen_at = timezone.now()
            Session.objects.filter(pk=row.pk).update(last_seen_at=row.last_seen_at)
        return row
