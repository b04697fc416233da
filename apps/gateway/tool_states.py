"""How published tools stand now, in memory: what was withdrawn since the publication is refused at once."""

import asyncio
from collections.abc import Callable, Mapping

from apps.firewall.runtime.ports import Standing
from apps.gateway.database import in_database

Standings = Mapping[str, Mapping[str, Standing]]
"""Environment -> name of a tool -> how it stands; tools that are as they were published have no line."""


class LiveToolStates:
    """Fills the port `ToolStates`.

    Args:
        load: reads the standings of every environment.
    """

    def __init__(self, load: Callable[[], Standings]) -> None:
        self._load = load
        self._standings: Standings = {}
        self._reloading = asyncio.Lock()

    def standing(self, environment: str, tool: str) -> Standing | None:
        return self._standings.get(environment, {}).get(tool)

    def withdrawn(self, environment: str) -> frozenset[str]:
        """Name the tools of an environment whose calls are refused."""
        return frozenset(name for name, each in self._standings.get(environment, {}).items() if each.code)

    async def reload(self) -> None:
        """Read how tools stand now. A database that does not answer changes nothing."""
        async with self._reloading:
            self._standings = await in_database(self._load)
