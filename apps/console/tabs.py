"""The open tabs of this process. A notice is written once, and the same text goes to every tab that may hear it."""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from typing import Protocol
from uuid import UUID

from apps.accounts.access import Permission
from apps.events.notices import Notice
from apps.events.outbox import Outbox
from apps.firewall.identifiers import show_id

# What a tab may hear, and the permission it takes.
FORWARDED: dict[str, Permission] = {
    "approval.requested": Permission.APPROVALS_READ,
    "approval.changed": Permission.APPROVALS_READ,
    "approval.resolved": Permission.APPROVALS_READ,
    "approval.watched": Permission.APPROVALS_READ,
    "call.changed": Permission.AUDIT_READ,
    "halt.placed": Permission.POLICY_READ,
    "halt.changed": Permission.POLICY_READ,
    "halts.heard": Permission.POLICY_READ,
    "notification.tried": Permission.APPROVALS_READ,
    "presence.changed": Permission.APPROVALS_READ,
    "publication.created": Permission.POLICY_READ,
    "snapshot.published": Permission.POLICY_READ,
    "draft.changed": Permission.POLICY_READ,
    "audit.recorded": Permission.AUDIT_READ,
    "listener.reconnected": Permission.APPROVALS_READ,
}
PREFIXES = {"approval": "ap", "halt": "halt", "call": "call", "publication": "pub"}
OF_PEOPLE = frozenset({"session.ended", "user.changed"})
# What only the tabs of one person hear; the notice names the person.
TO_PERSON = frozenset({"export.ended"})
SPACED_S = {"presence.changed": 0.5}
"""What comes in swarms, a thousand tabs opening at once: told at once, then no more often than this."""


class Tab(Protocol):
    """One open tab, as the ones who tell it something see it."""

    environment: str
    person_id: str
    permissions: frozenset[Permission]
    outbox: Outbox

    async def check(self) -> None:
        """Look whether it may stay."""


class Tabs:
    """Every tab of this process, by the environment that it looks at; belongs to the loop of the server."""

    def __init__(self) -> None:
        self._tabs: dict[str, set[Tab]] = defaultdict(set)
        self._told_next: dict[Notice, float] = {}
        self._planned: set[Notice] = set()
        self._checks: set[asyncio.Task[None]] = set()

    def join(self, tab: Tab) -> None:
        self._tabs[tab.environment].add(tab)

    def leave(self, tab: Tab) -> None:
        self._tabs[tab.environment].discard(tab)

    def hear(self, notice: Notice) -> None:
        """Tell the tabs that a notice is about, or look whether a person's tabs may stay."""
        if notice.kind in OF_PEOPLE:
            self._check(notice.id)
        elif notice.kind in TO_PERSON:
            self._tell_person(notice)
        elif notice.kind in FORWARDED and not self._is_held_back(notice):
            self._tell(notice)

    def _tell(self, notice: Notice) -> None:
        permission, text = FORWARDED[notice.kind], event_text(notice.kind, id=shown(notice.kind, notice.id))
        for tab in self._about(notice.environment):
            if permission in tab.permissions:
                tab.outbox.put(text)

    def _tell_person(self, notice: Notice) -> None:
        text = event_text(notice.kind)
        for tab in self._about(""):
            if tab.person_id == notice.id:
                tab.outbox.put(text)

    def _about(self, environment: str) -> Iterable[Tab]:
        if environment:
            return tuple(self._tabs[environment])
        return [tab for tabs in self._tabs.values() for tab in tabs]

    def _check(self, person_id: str) -> None:
        for tab in self._about(""):
            if tab.person_id == person_id:
                check = asyncio.create_task(tab.check())
                self._checks.add(check)
                check.add_done_callback(self._checks.discard)

    def _is_held_back(self, notice: Notice) -> bool:
        """Say whether the same kind was told a moment ago; then it is told once more when the moment is over."""
        wait_s = SPACED_S.get(notice.kind)
        if wait_s is None:
            return False
        kind, now = Notice(notice.kind, "", notice.environment), time.monotonic()
        next_at = self._told_next.get(kind, now)
        if now >= next_at:
            self._told_next[kind] = now + wait_s
            self._planned.discard(kind)
            return False
        if kind not in self._planned:
            self._planned.add(kind)
            asyncio.get_running_loop().call_later(next_at - now, self._tell_planned, kind)
        return True

    def _tell_planned(self, kind: Notice) -> None:
        self._planned.discard(kind)
        self.hear(kind)


def event_text(kind: str, **more: object) -> str:
    """Write an event as tabs hear it."""
    return json.dumps({"type": kind, "server_time": round(time.time() * 1000), **more})


def shown(kind: str, identifier: str) -> str:
    """Write a notice's id as pages do: `ap_…` for an approval."""
    prefix = PREFIXES.get(kind.partition(".")[0])
    if prefix is None:
        return identifier
    try:
        return show_id(prefix, UUID(identifier))
    except ValueError:
        return identifier


tabs = Tabs()
