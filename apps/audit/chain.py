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
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

import orjson

from apps.firewall.identifiers import new_id

T = TypeVar("T")

FORMAT = 2
SALT_BYTES = 16
SEED = b"openclaw-admin audit chain "
_SURROGATE = re.compile("[\ud800-\udfff]")
INTEGER_LIMIT = 2**53
# Where orjson may write a number in other letters than the form asks for: one below 0.0001.
_ODD_NUMBER = re.compile(rb"(?:^|[:\[,])-?(?:0\.0000|[0-9]+(?:\.[0-9]+)?e-)")
_JSON_IN_BODY = ("phases", "changes")
_ORJSON_IN_ORDER = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_ORJSON = orjson.OPT_SORT_KEYS | _ORJSON_IN_ORDER
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
# The canonical form has its keys in order; these are, so that nothing sorts them again for each entry.
_BODY_IN_ORDER = {version: tuple(sorted(names)) for version, names in _BODY_COLUMNS.items()}
_BODY_VALUES = {version: itemgetter(*names) for version, names in _BODY_IN_ORDER.items()}
_CONTENT_VALUES = {version: itemgetter(*sorted(names)) for version, names in _CONTENT_COLUMNS.items()}
_CONTENT_FORM = {
    version: b"{%b}" % b",".join(b'"%b":%%b' % name.encode() for name in sorted(names))
    for version, names in _CONTENT_COLUMNS.items()
}


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


def _of_format(columns: Mapping[int, T], version: int) -> T:
    try:
        return columns[version]
    except KeyError:
        raise ValueError(f"entries of format {version} are not known to this version") from None


def canonical(value: object) -> bytes:
    """Write a storable JSON value in its one form: keys sorted by code point, no blanks, UTF-8.

    The form is that of the standard library's `json`; orjson writes the same bytes in a tenth of the time, but for very
    small numbers, and refuses what is too large or too deep for it.
    """
    if value is None:
        return b"null"
    try:
        written = orjson.dumps(value, option=_ORJSON)
    except orjson.JSONEncodeError:
        return _canonical(value)
    may_be_odd = b"e-" in written or b"0.0000" in written  # found in no time; the expression takes its time
    return _canonical(value) if may_be_odd and _ODD_NUMBER.search(written) else written


def _canonical(value: object) -> bytes:
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_id_text
    ).encode()


def _id_text(value: object) -> str:
    if isinstance(value, UUID):  # orjson writes them by itself
        return str(value)
    raise TypeError(f"no JSON value: {type(value).__name__}")


def storable(value: Any) -> Any:
    """Bring a JSON value into the form that PostgreSQL's jsonb gives back unchanged.

    jsonb knows neither NUL nor lone surrogates nor numbers that are none, and writes 1e3 as 1000: each is replaced
    by something visible, and whole floats become integers, before anything is hashed.
    """
    kind = type(value)
    if kind is str or isinstance(value, str):
        return storable_text(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if kind is dict:
        return {storable_text(str(key)): storable(item) for key, item in value.items()}
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
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def entry_id_at(at: datetime) -> UUID:
    """Make an id for an entry: UUIDv7 of the entry's own instant, so that the id alone finds it in a large table."""
    return new_id((at - EPOCH) // MILLISECOND)


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
    version = columns["format"]
    names = _of_format(_BODY_IN_ORDER, version)
    body = dict(zip(names, _BODY_VALUES[version](columns), strict=True))
    body["at"] = instant_text(body["at"])
    if body["content_commitment"] is not None:
        body["content_commitment"] = bytes(body["content_commitment"]).hex()
    return hashlib.sha256(_body_text(body)).digest()


def _body_text(body: dict[str, Any]) -> bytes:
    """Write a body, whose keys are in order, as `canonical` does; numbers may be odd in its JSON parts only."""
    parts = {name: orjson.Fragment(canonical(body[name])) for name in _JSON_IN_BODY if body.get(name) is not None}
    try:
        return orjson.dumps({**body, **parts} if parts else body, option=_ORJSON_IN_ORDER)
    except orjson.JSONEncodeError:
        return _canonical(body)


def entry_hash(*, chain_id: UUID, seq: int, prev: bytes, body: bytes, version: int = FORMAT) -> bytes:
    """Link an entry to the one before it: canonical JSON of five values that need no care."""
    link = f'{{"body":"{body.hex()}","chain":"{chain_id}","format":{version},"prev":"{prev.hex()}","seq":{seq}}}'
    return hashlib.sha256(link.encode()).digest()


def genesis(chain_id: UUID) -> bytes:
    """Give the hash that stands before a chain's first entry."""
    return hashlib.sha256(SEED + str(chain_id).encode()).digest()


def content_commitment(salt: bytes, content: Mapping[str, Any], *, version: int = FORMAT) -> bytes:
    """Bind content to its entry without telling it.

    Args:
        content: values of `content_columns`; what is missing is null, a reason that is missing the empty text.
    """
    return commitment_of_texts(salt, content_texts(content, version=version), version=version)


def content_texts(content: Mapping[str, Any], *, version: int = FORMAT) -> dict[str, bytes]:
    """Write each part of a content in its one form."""
    texts = {name: canonical(content.get(name)) for name in content_columns(version)}
    if "decision_reason" in texts and not content.get("decision_reason"):
        texts["decision_reason"] = b'""'
    return texts


def commitment_of_texts(salt: bytes, texts: Mapping[str, bytes], *, version: int = FORMAT) -> bytes:
    """Commit to parts that are written already: canonical JSON of the whole is made of that of its parts."""
    written = _of_format(_CONTENT_FORM, version) % _CONTENT_VALUES[version](texts)
    return hashlib.sha256(salt + written).digest()
