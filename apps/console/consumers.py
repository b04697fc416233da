"""The one socket of a tab. It carries events (`type`, `id`, `version`, `server_time`), never HTML."""

import asyncio
import json
import time
from contextlib import suppress
from functools import partial
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone

from apps.accounts.access import Permission, permissions_of
from apps.accounts.selectors import user_get
from apps.approvals.access import approval_access
from apps.approvals.errors import ApprovalNotFoundError
from apps.approvals.looking import approval_looked_at
from apps.console import presence, watching
from apps.console.environments import slug_of_session
from apps.console.tabs import event_text, tabs
from apps.console.tail import newest_entry
from apps.events.notices import announce
from apps.events.outbox import Outbox
from apps.firewall.identifiers import new_id, read_id

SIGNED_OUT = 4401
NOT_ALLOWED = 4403
LAGGING = 1013
MESSAGE_LIMIT = 200  # letters; a tab says "ping", "watch", or what request it looks at
LOOK_PAUSE_S = 0.1
CHECK_EVERY_S = 60
TAIL_EVERY_S = 2


class ConsoleConsumer(AsyncWebsocketConsumer):
    """Tells one tab what changed. Sign-in, role and session are checked at the start and while it lives."""

    environment = ""
    person_id = ""
    permissions: frozenset[Permission] = frozenset()
    is_joined = False
    watcher: asyncio.Task[None] | None = None
    checked_at = 0.0
    looks_next_at = 0.0

    async def connect(self) -> None:
        await self.accept()  # a close before it would reach the browser without its code
        user = self.scope["user"]
        if not user.is_authenticated:
            await self.close(code=SIGNED_OUT)
            return
        self.user, self.person_id, self.tab = user, str(user.pk), str(new_id())
        self.permissions = permissions_of(user)
        self.outbox = Outbox(self._tell, partial(self.close, code=LAGGING))
        if Permission.APPROVALS_READ not in self.permissions:
            await self.close(code=NOT_ALLOWED)
            return
        self.checked_at = time.monotonic()
        self.environment = await database_sync_to_async(slug_of_session)(self.scope["session"])
        tabs.join(self)
        self.is_joined = True
        await self._seen()
        self._say("hello")

    async def disconnect(self, code: int) -> None:  # noqa: ARG002 - the signature of channels
        if self.watcher is not None:
            self.watcher.cancel()
        if self.is_joined:
            tabs.leave(self)
            self.outbox.close()
            await database_sync_to_async(self._leave)()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if bytes_data is not None or text_data is None or len(text_data) > MESSAGE_LIMIT:
            await self.close(code=1009)
            return
        with suppress(ValueError):
            await self._heard(json.loads(text_data))

    async def _heard(self, message: Any) -> None:
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "ping":
            if time.monotonic() - self.checked_at > CHECK_EVERY_S and not await self._is_still_allowed():
                return
            await self._seen()
            self._say("pong")
        elif kind == "look":
            await self._look(message)
        elif kind == "unlook":
            await database_sync_to_async(self._look_away)()
        elif kind == "watch" and Permission.AUDIT_READ in self.permissions and self.watcher is None:
            self.watcher = asyncio.create_task(self._watch_audit())

    async def _look(self, message: dict[str, Any]) -> None:
        """Note what the person does with a request; a tab that says so in a flood is not heard."""
        doing, shown_id = message.get("doing"), message.get("id")
        if not isinstance(doing, str) or not isinstance(shown_id, str) or doing not in watching.DOINGS:
            return
        if time.monotonic() < self.looks_next_at:
            return
        self.looks_next_at = time.monotonic() + LOOK_PAUSE_S
        await database_sync_to_async(self._look_at)(shown_id, doing)

    def _look_at(self, shown_id: str, doing: str) -> None:
        try:
            approval = approval_access(self.user, read_id("ap", shown_id))
        except (ValueError, ApprovalNotFoundError):
            return
        if approval.environment.slug != self.environment or not approval.is_pending:
            return
        if Permission.APPROVALS_RESOLVE not in self.permissions:
            doing = watching.LOOKING if doing != watching.STILL else doing
        elif doing != watching.STILL:
            approval_looked_at(approval, by=self.user, at=timezone.now())
        names = {"username": self.user.username, "name": str(self.user)}
        self._tell_watched(watching.watch(self.environment, self.tab, approval=approval.shown_id, doing=doing, **names))

    def _look_away(self) -> None:
        self._tell_watched(watching.unwatch(self.environment, self.tab))

    def _tell_watched(self, changed: set[str]) -> None:
        for shown_id in changed:
            announce("approval.watched", id=read_id("ap", shown_id), environment=self.environment)

    async def check(self) -> None:
        """Look whether the tab may stay: its person's session or rights have changed."""
        await self._is_still_allowed()

    async def _tell(self, text: str) -> None:
        """Send past the session, which looks at itself with every text: it is kept by requests, not by sockets."""
        await self.scope.get("send_plainly", self.base_send)({"type": "websocket.send", "text": text})

    def _say(self, kind: str) -> None:
        self.outbox.put(event_text(kind))

    async def _seen(self) -> None:
        await database_sync_to_async(self._arrive)()

    def _arrive(self) -> None:
        names = {"username": self.user.username, "name": str(self.user)}
        if presence.tab_seen(self.environment, self.tab, **names):
            announce("presence.changed", id=self.user.pk, environment=self.environment)

    def _leave(self) -> None:
        self._look_away()
        presence.tab_gone(self.environment, self.tab)
        announce("presence.changed", id=self.user.pk, environment=self.environment)

    async def _is_still_allowed(self) -> bool:
        self.checked_at = time.monotonic()
        code = await database_sync_to_async(self._reason_to_close)()
        if code is not None:
            await self.close(code=code)
        return code is None

    def _reason_to_close(self) -> int | None:
        if not self.scope["session"].exists(self.scope["session"].session_key):
            return SIGNED_OUT
        user = user_get(self.user.pk)
        if user is None or not user.is_active:
            return SIGNED_OUT
        self.user, self.permissions = user, permissions_of(user)
        return None if Permission.APPROVALS_READ in self.permissions else NOT_ALLOWED

    async def _watch_audit(self) -> None:
        """Tell the audit page that there are newer entries; a look at the head of the ledger every 2 s."""
        known = await newest_entry(self.environment)
        while True:
            await asyncio.sleep(TAIL_EVERY_S)
            newest = await newest_entry(self.environment)
            if newest != known:
                known = newest
                self._say("audit.recorded")
