"""Tools of installed packages: what they name as entry points of `openclaw.tools`.

Each look starts a process of its own, so a package that was installed meanwhile is there, and one that was removed
is gone, without a restart.
"""

from typing import Final

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.described import found_in
from apps.firewall.tools.discovery.found import Failure, Look
from apps.firewall.tools.python_tools import FolderRefusedError, HostError, PythonTools

GROUP: Final = "openclaw.tools"


async def look_entry_points(connection: Connection, *, python: PythonTools, is_eager: bool = True) -> Look:
    """Look through installed packages.

    Args:
        connection: its settings may hold `group`, and `scan_directories`: folders that `pip install --target` filled,
            searched after the interpreter's own packages.
    """
    settings = connection.settings
    described = python.describe_installed(
        settings.get("group") or GROUP, settings.get("scan_directories") or (), is_eager=is_eager
    )
    try:
        found = await found_in(described, source=connection.source, trusts_code=bool(settings.get("trust_code")))
    except (FolderRefusedError, HostError) as exc:
        return Look(failure=Failure(stage="discover", code=exc.code, message=exc.message))
    return Look(found=found)
