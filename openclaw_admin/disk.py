"""What keeps the disk from being full when a refusal has to be recorded, and workspaces from staying for ever."""

import asyncio
import contextlib
import os
import time
from pathlib import Path

import structlog
from asgiref.sync import sync_to_async
from django.conf import settings
from django.utils import timezone

from apps.registry.services.workspaces import workspaces_unused_remove

log = structlog.get_logger("openclaw_admin.disk")

LOOK_S = 1.0
SWEEP_S = 3600.0
RESERVE_BYTES = 64 * 1024 * 1024
SHORT_BYTES = 32 * 1024 * 1024


class Reserve:
    """A file beside the embedded database that holds room for its records, and is given up when the disk is full.

    Args:
        wanted_free_bytes: it is made again only where so much stays free beside it.
    """

    def __init__(
        self,
        path: Path,
        *,
        wanted_free_bytes: int,
        size_bytes: int = RESERVE_BYTES,
        short_bytes: int = SHORT_BYTES,
    ) -> None:
        self._path = path
        self._size_bytes = size_bytes
        self._short_bytes = short_bytes
        self._wanted_free_bytes = wanted_free_bytes

    @property
    def is_there(self) -> bool:
        return self._path.exists() and self._path.stat().st_size == self._size_bytes

    def look(self) -> None:
        """Give it up where the disk is short, and make it where there is room."""
        found = os.statvfs(self._path.parent)
        free = found.f_bavail * found.f_frsize
        if free < self._short_bytes and self._path.exists():
            self._path.unlink()
            log.error("disk.reserve_released", path=str(self._path), free_bytes=free)
        elif not self.is_there and free > self._wanted_free_bytes + self._size_bytes:
            self._make()

    def _make(self) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(descriptor, 0, self._size_bytes)
        except OSError:
            self._path.unlink()
        finally:
            os.close(descriptor)


class Disk:
    """Looks after the disk for as long as a server process lives."""

    def __init__(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._tasks = [asyncio.create_task(_sweep(), name="workspaces sweep")]
        if settings.RESERVE_FILE is not None:
            wanted = settings.DISK_RESERVE_MB * 1024 * 1024
            self._tasks.append(asyncio.create_task(_watch(Reserve(settings.RESERVE_FILE, wanted_free_bytes=wanted))))

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _watch(reserve: Reserve) -> None:
    while True:
        with contextlib.suppress(OSError):  # the next look comes soon
            await asyncio.to_thread(reserve.look)
        await asyncio.sleep(LOOK_S)


async def _sweep() -> None:
    while True:
        started = time.monotonic()
        try:
            removed = await sync_to_async(workspaces_unused_remove, thread_sensitive=False)(at=timezone.now())
        except Exception:
            log.exception("disk.sweep_failed")
        else:
            if removed:
                log.info("disk.workspaces_removed", count=removed, seconds=round(time.monotonic() - started, 1))
        await asyncio.sleep(SWEEP_S)
