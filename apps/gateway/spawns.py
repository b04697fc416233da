"""Who spawned whom, in memory: read once for each session, and again when a notice tells of a new record."""

import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from apps.firewall.runtime.sessions import SessionName
from apps.gateway.database import in_database
from apps.sessions.spawns import CHILD_KEYS, last_context_of, other_children, spawn_of, spawned_session

KEPT: Final = 50_000
_CHILD_KEY: Final = re.compile(CHILD_KEYS)


class LiveSpawns:
    """Fills the part `Spawns` of the port `Sessions`.

    A key that looks like a child's is asked for once. Of other keys those that have a parent are all known, so that
    decisions about any number of ordinary sessions ask the database nothing.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[SessionName, Mapping[str, Any] | None] = OrderedDict()
        self._others: dict[SessionName, Mapping[str, Any]] = {}
        self._changes = 0

    async def spawn(self, name: SessionName) -> Mapping[str, Any] | None:
        if not _CHILD_KEY.search(name.key):
            return self._others.get(name)
        if name in self._known:
            return self._known[name]
        changes = self._changes
        record = await in_database(spawn_of, name)
        if changes == self._changes:  # else what was read may be older than what was told meanwhile
            self._keep(name, record)
        return record

    async def last_context(self, environment: str, key: str) -> tuple[str, Mapping[str, Any]] | None:
        return await in_database(last_context_of, environment, key)

    async def reload(self) -> None:
        """Forget what may have changed while no notice came, and read the children whose keys do not look like it."""
        self._forget()
        self._others = {each.name: each.record for each in await in_database(other_children)}

    async def hear(self, session_id: str) -> None:
        """Read a record that is new."""
        self._changes += 1
        found = await in_database(spawned_session, UUID(session_id))
        if found is None:
            return
        if _CHILD_KEY.search(found.name.key):
            self._keep(found.name, found.record)
        else:
            self._others[found.name] = found.record

    def told(self, name: SessionName, record: Mapping[str, Any]) -> None:
        """Know of a record that this process wrote, before its notice comes; an older one stays."""
        if _CHILD_KEY.search(name.key):
            if self._known.get(name) is None:
                self.forget(name)
        else:
            self._others.setdefault(name, record)

    def forget(self, name: SessionName) -> None:
        """Read a session again when it is asked for."""
        self._changes += 1
        self._known.pop(name, None)

    def _keep(self, name: SessionName, record: Mapping[str, Any] | None) -> None:
        self._known[name] = record
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    def _forget(self) -> None:
        self._changes += 1
        self._known.clear()
