"""Entries as lines of a file: flat CSV for a spreadsheet, whole records as JSON lines."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

from apps.audit.chain import instant_text
from apps.audit.rows import MOVED
from apps.firewall.identifiers import show_id

# A spreadsheet runs a cell that begins like a formula; a leading apostrophe makes it text.
# Source: OWASP, "CSV Injection".
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", " ")
SHOWN_IDS = {"id": "aud", "call_id": "call", "approval_id": "ap", "chain_id": "chain"}
# jsonb arrives as text and goes into the line as it is: parsing and writing it again costs two thirds of the speed.
BYTES = frozenset({"content_commitment", "prev_hash", "hash", "salt"})
JSON_PARTS = frozenset({"phases", "changes", "params", "result", "error", "masked"})

COLUMNS = (
    "at",
    "id",
    "kind",
    "status",
    "environment",
    "actor",
    "agent",
    "session_key",
    "channel",
    "sender",
    "tool",
    "call_id",
    "approval_id",
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
    "params",
    "result",
    "error",
    "masked",
    "chain_id",
    "seq",
    "content_commitment",
    "prev_hash",
    "hash",
    "salt",
    "format",
)
CONTENT = frozenset({"params", "result", "error", "masked", "salt"})


def _selected(name: str) -> str:
    place = MOVED.get(name, f"{'c' if name in CONTENT else 'e'}.{name}")
    return f"({place})::text" if name in JSON_PARTS else place


SELECTED = ", ".join(map(_selected, COLUMNS))


def csv_lines(rows: Iterator[Sequence[Any]]) -> Iterator[bytes]:
    """Write a header and one line per row, in UTF-8 with a mark that spreadsheets need."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    yield "\ufeff".encode() + _taken(buffer)
    for row in rows:
        writer.writerow(
            [_cell(value if write is None else write(value)) for write, value in zip(PLAIN, row, strict=True)]
        )
        yield _taken(buffer)


def jsonl_lines(rows: Iterator[Sequence[Any]]) -> Iterator[bytes]:
    """Write one JSON object per row, with every column, hashes and salts included: enough to check the chain."""
    for row in rows:
        values = {
            name: value if write is None or value is None else write(value)
            for name, write, value in zip(COLUMNS, JSON, row, strict=True)
        }
        yield orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE)


def _taken(buffer: io.StringIO) -> bytes:
    line = buffer.getvalue().encode()
    buffer.seek(0)
    buffer.truncate()
    return line


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value


@lru_cache(maxsize=4096)
def _shown(prefix: str, identifier: UUID) -> str:
    return show_id(prefix, identifier)


def _writer_of(name: str) -> Callable[[Any], Any] | None:
    """Say how a column's values become plain ones; None when they are."""
    if name in SHOWN_IDS:
        prefix = SHOWN_IDS[name]
        return lambda value: None if value is None else _shown(prefix, value)
    if name in BYTES:
        return lambda value: None if value is None else bytes(value).hex()
    return instant_text if name == "at" else None


PLAIN = tuple(map(_writer_of, COLUMNS))
JSON = tuple(orjson.Fragment if name in JSON_PARTS else _writer_of(name) for name in COLUMNS)
FORMATS = {"csv": csv_lines, "jsonl": jsonl_lines}
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
