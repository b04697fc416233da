"""A backup: the database as of one moment, and a signed manifest of what it holds.

Keys, exports and workspaces are not in it: whoever has a backup cannot sign, nor open what is sealed. The manifest
names the public key of the ledger, and a restore wants the installation to have it.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import psycopg
from django.conf import settings
from django.utils import timezone
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from apps.audit.chain import canonical, instant_text
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.audit.signing import audit_key, signature_fits
from openclaw_admin.embedded.dumps import tool_run, tools_of
from openclaw_admin.embedded.errors import EmbeddedError, of_os_error

FORMAT: Final = 1
DOMAIN: Final = b"openclaw-admin backup\n"
DATABASE, MANIFEST = "database.dump", "manifest.json"
NOT_INCLUDED: Final = ("keys", "exports", "workspaces")
NAMES: Final = {"HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password", "NAME": "dbname"}
HEADS: Final = "SELECT id::text, seq, encode(head, 'hex') FROM audit_boot WHERE seq > 0 ORDER BY id"
STATEMENTS: Final = "SELECT coalesce(max(number), 0) FROM audit_statement"


def backup(folder: Path, *, write: Callable[[str], object]) -> dict[str, Any]:
    """Write the database and its manifest into a folder that is new or empty; while everything runs.

    It is on record in what it holds. Interrupted, it leaves nothing, or at most a dump without a manifest, which no
    restore takes.

    Returns:
        What the manifest says.
    Raises:
        EmbeddedError: the folder holds something, no tools of the server's version, or they failed.
        AuditUnavailableError: it cannot be recorded.
        AuditKeyError: the manifest cannot be signed.
    """
    key = audit_key()
    with _new(folder) as dump:
        entry_record(EntryDraft(kind=EntryKind.BACKUP, actor="system", status="made"))
        said = _dumped(dump, write) | {"public_key": key.public.hex()}
        write("reading what was written")
        said["files"] = {DATABASE: {"size_bytes": dump.stat().st_size, "sha256": digest_of(dump)}}
        signed = said | {"signature": key.sign(DOMAIN + canonical(said)).hex()}
        with _closed_file(folder / MANIFEST) as output:
            output.write(json.dumps(signed, indent=2).encode() + b"\n")
            output.flush()
            os.fsync(output.fileno())
    return signed


def manifest_read(folder: Path) -> dict[str, Any]:
    """Read the manifest of a backup, and the whole of its dump.

    Raises:
        EmbeddedError: it is none, or one of them is not what was signed.
    """
    try:
        said: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        signature = bytes.fromhex(said.pop("signature"))
        public, wanted = bytes.fromhex(said["public_key"]), said["files"][DATABASE]["sha256"]
        is_known = said["format"] == FORMAT
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as exc:
        raise EmbeddedError(f"{folder} holds no backup with a manifest that can be read") from exc
    if not is_known:
        raise EmbeddedError(f"the backup is of format {said['format']}, which this version does not know")
    if not signature_fits(public, signature, DOMAIN + canonical(said)):
        raise EmbeddedError("the manifest of the backup is not what was signed")
    if not (folder / DATABASE).is_file() or digest_of(folder / DATABASE) != wanted:
        raise EmbeddedError(f"the file {DATABASE} is not the one of the manifest")
    return said


def owner_connection() -> psycopg.Connection[Any]:
    """Connect as the owner of the tables.

    Raises:
        EmbeddedError: it cannot be reached; one sentence.
    """
    try:
        return psycopg.connect(make_conninfo(**_parameters()), autocommit=True)
    except psycopg.OperationalError as exc:
        reason = str(exc).strip().splitlines()[0].rpartition("failed: ")[2]
        raise EmbeddedError(f"cannot use the database `{settings.DATABASES['owner']['NAME']}`: {reason}") from exc


def tool_address() -> dict[str, str]:
    """Give the owner's address as the variables that PostgreSQL's tools read, with what follows `?` in it."""
    variables = {option.keyword.decode(): (option.envvar or b"").decode() for option in Conninfo.get_defaults()}
    return {variables[name]: value for name, value in _parameters().items() if variables.get(name)}


def value_of(connection: psycopg.Connection[Any], statement: str) -> Any:
    """Give the one value that a statement of ours asks for."""
    row = connection.execute(statement.encode()).fetchone()
    return None if row is None else row[0]


def digest_of(path: Path) -> str:
    """Give the SHA-256 of a file, in constant memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _dumped(dump: Path, write: Callable[[str], object]) -> dict[str, Any]:
    with owner_connection() as connection:
        tools = tools_of(connection.info.server_version // 10_000)
        size = value_of(connection, "SELECT pg_size_pretty(pg_database_size(current_database()))")
        write(f"the database has {size}; what is written is compressed")
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            # The heads and the dump are of one snapshot: what arrives meanwhile is in neither.
            snapshot = value_of(connection, "SELECT pg_export_snapshot()")
            heads = connection.execute(HEADS).fetchall()
            statements = value_of(connection, STATEMENTS)
            options = ["--format=custom", "--no-owner", "--no-privileges", f"--snapshot={snapshot}", f"--file={dump}"]
            tool_run(tools, "pg_dump", options, address=tool_address(), tell=lambda table: write(f"  {table}"))
    return {
        "format": FORMAT,
        "made_at": instant_text(timezone.now()),
        "version": settings.VERSION,
        "server_version": tools.version,
        "chains": [{"chain": chain, "seq": seq, "head": head} for chain, seq, head in heads],
        "statements": statements,
        "not_included": list(NOT_INCLUDED),
    }


@contextmanager
def _new(folder: Path) -> Iterator[Path]:
    """Take a folder, and leave it as it was when something goes wrong."""
    folder = folder.absolute()
    try:
        was_there = folder.exists()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if any(folder.iterdir()):
            raise EmbeddedError(f"the folder {folder} holds something: name a new one")
        _closed_file(folder / DATABASE).close()
    except OSError as exc:
        raise of_os_error(exc, folder) from exc
    try:
        yield folder / DATABASE
    except BaseException as exc:
        for name in (DATABASE, MANIFEST):
            (folder / name).unlink(missing_ok=True)
        if not was_there:
            folder.rmdir()
        if isinstance(exc, OSError):
            raise of_os_error(exc, folder) from exc
        raise


def _closed_file(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


def _parameters() -> dict[str, str]:
    named: dict[str, Any] = settings.DATABASES["owner"]
    own = {parameter: str(named[name]) for name, parameter in NAMES.items() if named.get(name)}
    return {name: str(value) for name, value in named.get("OPTIONS", {}).items()} | own
