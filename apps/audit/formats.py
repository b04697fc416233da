"""Entries as lines of a file, put together by the database itself: CSV for a spreadsheet, whole records as JSON lines.

A line's first columns are `at`, `chain_id` and `seq`, its last one is `hash`, at places that never move: whoever passes
lines on can read from them where in its chain an entry stands, without parsing the rest.
"""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

from dataclasses import dataclass
from typing import Final

from apps.audit.rows import BYTES_COLUMNS, CONTENT_PARTS, JSON_COLUMNS, MOVED

COLUMNS: Final = (
    "at",
    "chain_id",
    "seq",
    "id",
    "format",
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
    "salt",
    "content_commitment",
    "prev_hash",
    "hash",
)
INTEGERS: Final = frozenset({"seq", "format", "duration_ms"})
IDENTIFIERS: Final = frozenset({"chain_id", "id", "call_id", "approval_id"})
PREFIXES: Final = {"call_id": "call", "approval_id": "ap"}
"""Identifiers that a file has as pages and the API show them: `call_01j9…`."""
NEVER_NULL: Final = frozenset({"chain_id", "id", "prev_hash", "hash"})
AT: Final = """to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')"""
# A spreadsheet runs a cell that begins like a formula; a leading apostrophe makes it text. What begins with
# apostrophes before such a sign gets one more, so that a reader who takes one away has the value again.
# Source: OWASP, "CSV Injection".
FORMULA: Final = r"^''*[=+@\t\r\n ＝＋－＠-]"
# Neither letter occurs in JSON, so that COPY passes each line on as it is.
AS_IT_IS: Final = r"(FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')"


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file.

    Args:
        selected: what COPY selects; `options` is how it writes it.
        head: what stands before the first line.
        chain, hash: where in each line they lie; the number begins at `seq` and ends before a comma.
    """

    name: str
    selected: str
    options: str
    head: bytes
    chain: slice
    seq: int
    hash: slice
    media_type: str

    def copy(self, *, content: str, entries: str) -> str:
        """Write the statement that gives entries, oldest first.

        Entries are put in order before their content is looked up and their lines are made, so that the first line
        comes early and whoever reads works while the database does; nothing large is sorted.

        Args:
            content: condition on their content `c`, so that only its partitions of that time are looked at.
            entries: condition on the entries `e`; its values come before those of `content`.
        """
        ordered = f"SELECT * FROM audit_entry AS e WHERE {entries} ORDER BY e.at, e.id OFFSET 0"
        chosen = (
            f"SELECT {self.selected} FROM ({ordered}) AS e LEFT JOIN audit_content AS c"
            f" ON c.at = e.at AND c.entry_id = e.id AND {content} ORDER BY e.at, e.id"
        )
        return f"COPY ({chosen}) TO STDOUT {self.options}"


def _place(name: str) -> str:
    return MOVED.get(name, f"{'c' if name in CONTENT_PARTS else 'e'}.{name}")


def _each_byte(byte: int) -> int:
    return int.from_bytes(bytes([byte]) * 8, "big")


# Steps that spread 40 bits over eight bytes, five bits in each: what stays, what moves, how far.
SPREADING: Final = (
    (0xFFFFF, 0xFFFFF << 20, 12),
    (0x3FF << 32 | 0x3FF, 0x3FF << 42 | 0x3FF << 10, 6),
    (0x001F001F001F001F, 0x001F001F001F001F << 5, 3),
)
# Where the alphabet of identifiers leaves letters out of ASCII: from which value on, and how many.
GAPS: Final = ((10, 39), (18, 1), (20, 1), (22, 1), (27, 1))


def shown_id(prefix: str, place: str) -> str:
    """Write an expression that shows an identifier as `show_id` does; NULL stays NULL.

    All letters of eight bytes are made at once by arithmetic: a lookup for each letter takes the database several
    times as long, and an export is as fast as its lines.
    """
    pieces = "get_byte(b, 0)::bigint AS p0, " + ", ".join(f"{_five_bytes(5 * n + 1)} AS p{n + 1}" for n in range(3))
    source = f"SELECT {pieces} FROM (SELECT uuid_send({place}) AS b OFFSET 0) AS bytes OFFSET 0"
    first = "(((p0 >> 5) << 8) | (p0 & 31))"
    for keep, move, bits in SPREADING:
        spread = ", ".join(f"((p{n} & {keep}) | ((p{n} & {move}) << {bits})) AS p{n}" for n in (1, 2, 3))
        source = f"SELECT {first} AS p0, {spread} FROM ({source}) AS pieces OFFSET 0"
        first = "p0"
    letters = f"substr({_letters('p0')}, 7) || " + " || ".join(_letters(f"p{n}") for n in (1, 2, 3))
    return f"(SELECT convert_from('{prefix}_'::bytea || {letters}, 'SQL_ASCII') FROM ({source}) AS spread)"


def _five_bytes(begin: int) -> str:
    rest = "".join(f" << 8 | get_byte(b, {begin + each})" for each in range(1, 5))
    return f"get_byte(b, {begin})::bigint{rest}"


def _letters(place: str) -> str:
    """Write eight values below 32, a byte each, as the letters of the alphabet of identifiers."""
    gaps = "".join(f" + {size} * (({place} + {_each_byte(32 - at)}) >> 5 & {_each_byte(1)})" for at, size in GAPS)
    return f"int8send({place} + {_each_byte(ord('0'))}{gaps})"


def _as_text(name: str) -> str:
    """Say a column as text; NULL stays NULL."""
    if name == "at":
        return AT
    if name in PREFIXES:
        return shown_id(PREFIXES[name], _place(name))
    return f"encode({_place(name)}, 'hex')" if name in BYTES_COLUMNS else f"({_place(name)})::text"


def _json_value(name: str) -> str:
    if name == "at" or name in NEVER_NULL:
        return _as_text(name)
    if name in IDENTIFIERS or name in BYTES_COLUMNS:
        return f"coalesce('\"' || {_as_text(name)} || '\"', 'null')"
    if name in INTEGERS or name in JSON_COLUMNS:
        return f"coalesce({_as_text(name)}, 'null')"
    return f"to_json({_place(name)})"


def _json_line() -> str:
    quoted = {name: name == "at" or name in NEVER_NULL for name in COLUMNS}
    members = ",".join(f'"{name}":"%%s"' if quoted[name] else f'"{name}":%%s' for name in COLUMNS)
    return f"format('{{{members}}}', {', '.join(map(_json_value, COLUMNS))})"


def _cell(name: str) -> str:
    text = _as_text(name)
    if name in {"at", *INTEGERS, *IDENTIFIERS, *BYTES_COLUMNS}:
        return text
    return f"CASE WHEN {text} ~ E'{FORMULA}' THEN '''' || {text} ELSE {text} END"


NAMES: Final = ",".join(COLUMNS).encode() + b"\n"
AT_LETTERS: Final = len("2026-11-20T12:00:00.000000Z")
ID_LETTERS: Final = 36
HASH_LETTERS: Final = 64
JSON_CHAIN: Final = len('{"at":"') + AT_LETTERS + len('","chain_id":"')
CSV_CHAIN: Final = AT_LETTERS + len(",")

JSONL: Final = Format(
    name="jsonl",
    selected=_json_line(),
    options=AS_IT_IS,
    head=b"",
    chain=slice(JSON_CHAIN, JSON_CHAIN + ID_LETTERS),
    seq=JSON_CHAIN + ID_LETTERS + len('","seq":'),
    hash=slice(-HASH_LETTERS - len('"}\n'), -len('"}\n')),
    media_type="application/x-ndjson",
)
CSV: Final = Format(
    name="csv",
    selected=", ".join(map(_cell, COLUMNS)),
    options="(FORMAT csv)",
    head="\ufeff".encode() + NAMES,  # a mark that spreadsheets need
    chain=slice(CSV_CHAIN, CSV_CHAIN + ID_LETTERS),
    seq=CSV_CHAIN + ID_LETTERS + len(","),
    hash=slice(-HASH_LETTERS - 1, -1),
    media_type="text/csv; charset=utf-8",
)
PARQUET: Final = Format(
    name="parquet",
    selected=", ".join(map(_as_text, COLUMNS)),
    options="(FORMAT csv)",
    head=b"",
    chain=CSV.chain,
    seq=CSV.seq,
    hash=CSV.hash,
    media_type="application/vnd.apache.parquet",
)
FORMATS: Final = {each.name: each for each in (CSV, JSONL, PARQUET)}
STREAMED: Final = {each.name: each for each in (CSV, JSONL)}
