"""The chain: what an entry's hash covers, and how entries are linked. Pure; the verifier and the writer share it.

An entry's body is canonical JSON over its columns (all but its place in the chain). Its hash is SHA-256 over canonical
JSON of {body digest, chain, format, prev, seq}. Content is bound by SHA-256 over a random salt and the content's
canonical JSON, so that it may be erased while the chain still verifies.

Formats: in 1, `changes` and `decision_reason` are columns of the body; from 2 on they are content, since they quote
what a call was given or answered.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from apps.firewall.identifiers import new_id

FORMAT = 2
SALT_BYTES = 16
SEED = b"openclaw-admin audit chain "
_SURROGATE = re.compile("[\ud800-\udfff]")
INTEGER_LIMIT = 2**53
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)

# Every column that an entry has for its readers, apart from its content proper; which of them are body, and which
# content, is a matter of its format.
TOLD_COLUMNS = (
    "at",
    "id",
    "format",
    "kind",
    "actor",
    "environment",
    "agent",
    "session_key",
    "channel",
    "sender",
    "tool",
    "call_id",
    "approval_id",
    "status",
    "duration_ms",
    "decision",
    "decision_layer",
    "decision_label",
    "decision_rule",
    "decision_reason",
    "snapshot_digest",
    "trace_id",
    "phases",
    "changes",
    "content_commitment",
)
LINK_COLUMNS = ("chain_id", "seq", "prev_hash", "hash")
_CONTENT_1 = ("params", "result", "error", "masked")
_MOVED_2 = ("changes", "decision_reason")
_BODY_COLUMNS = {1: TOLD_COLUMNS, 2: tuple(name for name in TOLD_COLUMNS if name not in _MOVED_2)}
_CONTENT_COLUMNS = {1: _CONTENT_1, 2: (*_CONTENT_1, *_MOVED_2)}
FORMATS = frozenset(_BODY_COLUMNS)


def body_columns(version: int = FORMAT) -> tuple[str, ...]:
    """Name the columns that an entry's hash covers directly.

    Raises:
        ValueError: no such format.
    """
    return _of_format(_BODY_COLUMNS, version)


def content_columns(version: int = FORMAT) -> tuple[str, ...]:
    """Name the parts of an entry that are bound by the salted commitment, and may be erased.

    Raises:
        ValueError: no such format.
    """
    return _of_format(_CONTENT_COLUMNS, version)


def _of_format(columns: Mapping[int, tuple[str, ...]], version: int) -> tuple[str, ...]:
    try:
        return columns[version]
    except KeyError:
        raise ValueError(f"entries of format {version} are not known to this version") from None


def canonical(value: object) -> bytes:
    """Write a storable JSON value in its one form: keys sorted by code point, no blanks, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def storable(value: Any) -> Any:
    """Bring a JSON value into the form that PostgreSQL's jsonb gives back unchanged.

    jsonb knows neither NUL nor lone surrogates nor numbers that are none, and writes 1e3 as 1000: each is replaced
    by something visible, and whole floats become integers, before anything is hashed.
    """
    if isinstance(value, str):
        return storable_text(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            return str(value)
        return int(value) if value.is_integer() or abs(value) >= INTEGER_LIMIT else value
    if isinstance(value, Mapping):
        return {storable_text(str(key)): storable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [storable(item) for item in value]
    return storable_text(str(value))


def storable_text(text: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL becomes its picture, lone surrogates the replacement sign."""
    if "\x00" in text:
        text = text.replace("\x00", "␀")
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def instant_text(at: datetime) -> str:
    """Write an instant in its one form: UTC with six digits of microseconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def entry_id_at(at: datetime) -> UUID:
    """Make an id for an entry: UUIDv7 of the entry's own instant, so that the id alone finds it in a large table."""
    milliseconds = (at - EPOCH) // MILLISECOND
    return UUID(int=new_id().int & (2**80 - 1) | milliseconds << 80)


def entry_id_instant(entry_id: UUID) -> datetime | None:
    """Read the millisecond that an entry's id carries; None when the id is not one of ours."""
    if entry_id.version != 7:
        return None
    try:
        return EPOCH + (entry_id.int >> 80) * MILLISECOND
    except OverflowError:
        return None


def body_digest(columns: Mapping[str, Any]) -> bytes:
    """Digest an entry's own columns, as its format has them; instants, ids and bytes are written as text."""
    named = body_columns(columns["format"])
    return hashlib.sha256(canonical({name: _as_json(columns[name]) for name in named})).digest()


def entry_hash(*, chain_id: UUID, seq: int, prev: bytes, body: bytes, version: int = FORMAT) -> bytes:
    """Link an entry to the one before it."""
    link = {"body": body.hex(), "chain": str(chain_id), "format": version, "prev": prev.hex(), "seq": seq}
    return hashlib.sha256(canonical(link)).digest()


def genesis(chain_id: UUID) -> bytes:
    """Give the hash that stands before a chain's first entry."""
    return hashlib.sha256(SEED + str(chain_id).encode()).digest()


def content_commitment(salt: bytes, content: Mapping[str, Any], *, version: int = FORMAT) -> bytes:
    """Bind content to its entry without telling it.

    Args:
        content: values of `content_columns`; what is missing is null, a reason that is missing the empty text.
    """
    named = content_columns(version)
    values = {name: content.get(name) for name in named}
    if "decision_reason" in values:
        values["decision_reason"] = values["decision_reason"] or ""
    return hashlib.sha256(salt + canonical(values)).digest()


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return instant_text(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    return value
