"""Tools in folders: every file whose name fits a pattern is a module of its own."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.described import found_in
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.firewall.tools.python_tools import FolderRefusedError, HostError, Place, PythonTools

PATTERNS: Final = ("tool_*.py", "*_tool.py")
FILES_LIMIT: Final = 5000


class PatternRefusedError(FirewallError):
    """A pattern that does not stay in its folder."""

    code = "pattern_refused"


async def look_folder(connection: Connection, *, python: PythonTools, is_eager: bool = True) -> Look:
    """Look through folders.

    Args:
        connection: its settings hold `scan_directories`, absolute paths, and `patterns` of names, `tool_*.py` and
            `*_tool.py` when absent; `**/*_tool.py` looks into folders below, too.
        is_eager: also initialise each tool.
    """
    settings = connection.settings
    try:
        places = await asyncio.to_thread(
            places_in, settings.get("scan_directories") or (), settings.get("patterns") or PATTERNS, python
        )
        found = await found_in(
            python.describe(places, is_eager=is_eager),
            source=connection.source,
            trusts_code=bool(settings.get("trust_code")),
        )
    except (FolderRefusedError, PatternRefusedError, HostError) as exc:
        return Look(failure=Failure(stage="discover", code=exc.code, message=exc.message))
    return Look(found=found)


def places_in(folders: Sequence[str], patterns: Sequence[str], python: PythonTools) -> list[Place]:
    """List the files of folders, each once, in the order of their names; links that lead out are left out.

    Raises:
        FolderRefusedError: a folder may not be read, or holds too much.
        PatternRefusedError: a pattern is absolute or climbs.
    """
    places: dict[str, Place] = {}
    for folder in folders:
        root = Path(python.check_folder(folder))
        try:
            files = sorted({file for pattern in patterns for file in root.glob(_checked(pattern))})
        except OSError as exc:
            raise FolderRefusedError(f"`{folder}` cannot be read: {(exc.strerror or 'unknown').lower()}") from exc
        for file in files:
            real = os.path.realpath(file)
            if (
                file.name != "__init__.py"
                and str(file).isprintable()
                and real.startswith(f"{root}/")
                and Path(real).is_file()
            ):
                key = str(file.relative_to(root))
                shown = key if len(folders) == 1 else str(file)
                places.setdefault(real, Place(key=shown, file=real, folder=str(root), facts={"file": str(file)}))
        if len(places) > FILES_LIMIT:
            raise FolderRefusedError(f"`{folder}` holds more than {FILES_LIMIT} files of tools")
    return list(places.values())


def unloaded(places: Sequence[Place], failure: Failure) -> tuple[Found, ...]:
    """Show files that were found and are not to be loaded."""
    return tuple(Found(key=place.key, failure=failure, facts=place.facts) for place in places)


def _checked(pattern: Any) -> str:
    if not isinstance(pattern, str) or not pattern or pattern.startswith("/") or ".." in pattern.split("/"):
        raise PatternRefusedError(f"`{pattern}` does not stay in its folder")
    return pattern
