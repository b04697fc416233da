"""The sandbox of this installation: what an admin allows by settings, on what the machine offers."""

from functools import lru_cache
from pathlib import Path

from django.conf import settings

from apps.firewall.sandbox.levels import level_named, offer
from apps.firewall.sandbox.limits import MEGABYTE, Limits
from apps.firewall.sandbox.space import Quota, Space, Used
from apps.firewall.tools.sandboxing import Allowance, Sandbox


def installation_sandbox() -> Sandbox:
    """Give what tools are held to here; trying what the machine offers takes some hundredths of a second once."""
    limits = Limits(
        cpu_s=settings.SANDBOX_CPU_S,
        memory_bytes=settings.SANDBOX_MEMORY_MB * MEGABYTE,
        file_bytes=settings.SANDBOX_FILE_MB * MEGABYTE,
        open_files=settings.SANDBOX_OPEN_FILES,
        processes=settings.SANDBOX_PROCESSES,
        written_bytes=settings.SANDBOX_WRITTEN_MB * MEGABYTE,
    )
    allowance = Allowance(
        level=level_named(settings.SANDBOX_LEVEL),
        limits=limits,
        wall_s=settings.SANDBOX_WALL_S,
        network=settings.SANDBOX_NETWORK,
        paths=tuple(settings.SANDBOX_PATHS),
    )
    return Sandbox(allowance, offer(), installation_space())


def installation_space() -> Space:
    """Give what watches over the workspaces of agents here, and over the disk that records are written to."""
    quota = Quota(
        workspace=Used(settings.WORKSPACE_QUOTA_MB * MEGABYTE, settings.WORKSPACE_QUOTA_FILES),
        installation=Used(settings.WORKSPACES_QUOTA_MB * MEGABYTE, settings.WORKSPACES_QUOTA_FILES),
        free_bytes=settings.DISK_RESERVE_MB * MEGABYTE,
    )
    return _space(Path(settings.VAR_DIR) / "workspaces", quota, tuple(settings.RECORDS_FOLDERS))


@lru_cache(maxsize=1)
def _space(folder: Path, quota: Quota, disks: tuple[Path, ...]) -> Space:
    """Keep the one that remembers what it has measured."""
    return Space(folder, quota, disks=disks)
