"""The live snapshot of each environment, in memory. Swapping one is a single assignment."""

import asyncio
import gc
from collections.abc import Callable, Iterable

import structlog

from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.gateway.database import in_database

log = structlog.get_logger(__name__)

Load = Callable[[str], Snapshot | None]


class LiveSnapshots:
    """Fills the port `SnapshotSource`.

    Args:
        load: reads, verifies and compiles the live snapshot of an environment; None when nothing was published.
        environments: slugs, the default one first.
    """

    def __init__(self, load: Load, environments: Callable[[], Iterable[str]]) -> None:
        self._load = load
        self._environments = environments
        self._live: dict[str, Snapshot | None] = {}
        self._reloading = asyncio.Lock()
        self.default = ""

    def live(self, environment: str) -> Snapshot | None:
        return self._live.get(environment)

    def knows(self, environment: str) -> bool:
        """Say whether the environment exists."""
        return environment in self._live

    async def reload(self) -> None:
        """Read what is live now, in a thread, while decisions go on with what they have.

        A snapshot that fails its check (signature, digest, format) is not used and neither is the one before it:
        every decision denies until a good one is there. A database that does not answer changes nothing.
        """
        async with self._reloading:
            found: dict[str, Snapshot | None] = {}
            for slug in await in_database(lambda: list(self._environments())):
                try:
                    found[slug] = await in_database(self._load_quietly, slug)
                except FirewallError as exc:
                    log.error("live_snapshot.refused", environment=slug, code=exc.code)
                    found[slug] = None
            self.default = next(iter(found), "")
            self._live = found

    def _load_quietly(self, slug: str) -> Snapshot | None:
        """Load without the garbage collector, which would stop all decisions while it looks at each new object.

        A new snapshot is then taken out of its sight: it lives until the next one, and is freed by its references.
        """
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            snapshot = self._load(slug)
            if snapshot is not None and snapshot is not self._live.get(slug):
                gc.freeze()
            return snapshot
        finally:
            if was_enabled:
                gc.enable()
