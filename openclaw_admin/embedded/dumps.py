"""PostgreSQL's own tools for a copy of a database: found in the version of the server, run with the address unseen."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from openclaw_admin.embedded.binaries import SYSTEM, SYSTEM_FOLDERS, WHEEL, WHEEL_PACKAGE, Binaries
from openclaw_admin.embedded.children import SAFE_PATH, Account, start_child, stop_child
from openclaw_admin.embedded.errors import EmbeddedError

OURSELVES: Final = Account(str(os.geteuid()))
STEPS: Final = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0))
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")
_TABLE = re.compile(r"(?:dumping contents of|processing data for) table \"(?:\w+\.)?(\w+)")


def tools_of(version: int) -> Binaries:
    """Find `pg_dump` and `pg_restore` of a major version: on the path, the system's, or the wheel's.

    Raises:
        EmbeddedError: there are none of this version.
    """
    for folder, kind in _folders():
        found = Binaries(folder, version, kind)
        if (folder / "pg_restore").exists() and _version_of(found) == version:
            return found
    raise EmbeddedError(f"no pg_dump of PostgreSQL {version} found: install postgresql-client-{version}")


def tool_run(
    tools: Binaries,
    program: str,
    arguments: Sequence[str],
    *,
    address: Mapping[str, str],
    tell: Callable[[str], object] = lambda _table: None,
) -> None:
    """Run one of the tools to its end; it ends with us, however we end.

    Args:
        address: PGHOST and so on; they travel as variables, so that no list of processes shows a password.
        tell: told the name of each table that is begun.
    Raises:
        EmbeddedError: it failed; with what it said.
    """
    process = start_child(
        [tools.folder / program, "--verbose", "--no-password", *arguments],
        account=OURSELVES,
        folder=Path("/"),
        output=subprocess.PIPE,
        environment={**tools.environment, **address},
        death_signal=signal.SIGTERM,
    )
    try:
        said = _read(process, tell)
        if process.wait() != 0:
            raise EmbeddedError(f"{program} failed: {said or f'it ended with {process.returncode}'}")
    finally:
        stop_child(process, STEPS)


def _read(process: "subprocess.Popen[bytes]", tell: Callable[[str], object]) -> str:
    """Follow what it says, to the end of it; give its error, or its last line."""
    last = error = ""
    for line in process.stdout or ():
        last = line.decode(errors="replace").strip() or last
        if "error:" in last and not error:
            error = last.partition("error:")[2].strip()
        if table := _TABLE.search(last):
            tell(table[1])
    return error or last


def _folders() -> Iterator[tuple[Path, str]]:
    on_path = shutil.which("pg_dump")
    if on_path:
        yield Path(on_path).resolve().parent, SYSTEM
        yield Path(on_path).parent, SYSTEM
    for path in sorted(SYSTEM_FOLDERS.glob("*"), reverse=True) if SYSTEM_FOLDERS.is_dir() else []:
        yield path / "bin", SYSTEM
    package = find_spec(WHEEL_PACKAGE)
    if package is not None and package.origin is not None:
        for install in sorted(Path(package.origin).parent.glob("pginstall*"), reverse=True):
            yield install / "bin", WHEEL


def _version_of(found: Binaries) -> int | None:
    program = found.folder / "pg_dump"
    if not os.access(program, os.X_OK):
        return None
    environment: dict[str, Any] = {"PATH": SAFE_PATH, **found.environment}
    done = subprocess.run([str(program), "--version"], env=environment, capture_output=True, check=False)
    match = _VERSION.search(done.stdout.decode(errors="replace"))
    return int(match[1]) if match is not None and done.returncode == 0 else None
