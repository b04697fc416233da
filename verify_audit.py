#!/usr/bin/env python3
"""Check, offline and alone, what OpenClaw Admin gave away of its audit ledger: an export or a dump of the database.

    python3 -I verify_audit.py export rows.jsonl rows.jsonl.manifest.json --key FINGERPRINT
    python3 -I verify_audit.py dump openclaw.sql --key FINGERPRINT [--witness witness.jsonl]

One file, Python 3.9 or later, nothing but the standard library. FINGERPRINT is the SHA-256 of the installation's public
key (`manage.py audit_key`), or the key itself in hex; you must have it from elsewhere than the file you check. The
formats are described in docs/audit.md; nothing here is shared with the program that wrote the ledger.

Exit codes: 0 everything holds, 1 something does not, 2 it could not be judged.
"""

from __future__ import annotations

import argparse
import base64
import csv
import gzip
import hashlib
import json
import re
import sqlite3
import sys
import tempfile
import zlib
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, Callable, Iterable, Iterator, Optional

NOT_PROVEN = """What this does not prove:
- that what was recorded is true, or that a call was recorded at all: only that the record did not change afterwards;
- anything about entries after the last checkpoint: {open} of those read here could have been cut off unseen;
- that nothing was signed later: {newest}; what came after it could have been left out as a whole;
- that whoever holds the signing key did not rewrite everything: compare with a witness that they do not control;
- for an export: that the filter named in the manifest is the one you asked for."""

BODY_1 = (
    "at id format kind actor environment agent session_key channel sender tool call_id approval_id status duration_ms"
    " decision decision_layer decision_label decision_rule decision_reason snapshot_digest trace_id phases changes"
    " content_commitment"
).split()
CONTENT = {
    1: ["params", "result", "error", "masked"],
    2: ["params", "result", "error", "masked", "changes", "decision_reason"],
}
MOVED = ("changes", "decision_reason")  # columns of an entry in format 1, of its content in format 2
BODY = {1: BODY_1, 2: [name for name in BODY_1 if name not in MOVED]}
JSON_COLUMNS = frozenset("phases changes params result error masked".split())
NULLABLE = frozenset("call_id approval_id duration_ms content_commitment salt".split()) | JSON_COLUMNS
NEEDED = (*BODY_1, *CONTENT[1], "chain_id", "seq", "prev_hash", "hash", "salt")
IDS = {"id": "aud", "call_id": "call", "approval_id": "ap", "chain_id": "chain"}
UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BASE32 = {letter: value for value, letter in enumerate("0123456789abcdefghjkmnpqrstvwxyz")}
STATEMENT_DOMAIN = b"openclaw-admin audit statement\n"
MANIFEST_DOMAIN = b"openclaw-admin audit manifest\n"
SHOWN_PROBLEMS = 50
BATCH_ROWS = 2000
KEPT_MULTIPLES = 4  # some megabytes each; a ledger has one key at a time
LONGEST_LINE = 1 << 26
LARGEST_NUMBER = 2**63 - 1
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError)


class UnreadableError(Exception):
    """The input cannot be judged."""


# ---------------------------------------------------------------------------------------------- Ed25519, RFC 8032

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT = pow(2, (P - 1) // 4, P)
NEUTRAL = (0, 1, 1, 0)
Point = tuple[int, int, int, int]


def point_add(a: Point, b: Point) -> Point:
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g = 2 * a[3] * b[3] * D % P
    h = 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_of(text: bytes) -> Optional[Point]:
    """Read 32 bytes; None when they are no point."""
    if len(text) != 32:
        return None
    y = int.from_bytes(text, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


def is_weak(point: Point) -> bool:
    """Say whether eight times a point is nothing: signatures by such a key fit to more than one message."""
    for _ in range(3):
        point = point_add(point, point)
    return point[0] % P == 0


class Multiples:
    """The multiples of one point, by byte and place: a product is then 32 additions."""

    def __init__(self, point: Point) -> None:
        self.rows: list[list[Point]] = []
        for _ in range(32):
            row = [NEUTRAL]
            for _ in range(255):
                row.append(point_add(row[-1], point))
            self.rows.append(row)
            point = point_add(row[-1], point)

    def times(self, number: int) -> Point:
        total = NEUTRAL
        for row, digit in zip(self.rows, number.to_bytes(32, "little")):
            if digit:
                total = point_add(total, row[digit])
        return total


_base_y = 4 * pow(5, P - 2, P) % P
BASE = point_of(_base_y.to_bytes(32, "little"))
_multiples: dict[bytes, Optional[Multiples]] = {}


def multiples_of(key: bytes, point: Optional[Point]) -> Optional[Multiples]:
    if key not in _multiples:
        if len(_multiples) > KEPT_MULTIPLES:
            del _multiples[next(other for other in _multiples if other)]
        _multiples[key] = None if point is None else Multiples(point)
    return _multiples[key]


def signature_fits(public: bytes, signature: bytes, payload: bytes) -> bool:
    """Verify an Ed25519 signature: [S]B - [k]A must be R."""
    point = point_of(public)
    if point is None or is_weak(point):
        return False
    minus = (P - point[0], point[1], 1, P - point[3])
    base, key = multiples_of(b"", BASE), multiples_of(public, minus)
    if base is None or key is None or len(signature) != 64:
        return False
    scalar = int.from_bytes(signature[32:], "little")
    if scalar >= ORDER:
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + public + payload).digest(), "little") % ORDER
    x, y, z, _ = point_add(base.times(scalar), key.times(k))
    inverse = pow(z, P - 2, P)
    found = (y * inverse % P) | ((x * inverse % P) & 1) << 255
    return found.to_bytes(32, "little") == signature[:32]


# ------------------------------------------------------------------------------------------------ formats, hashes


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def sha256(payload: bytes) -> bytes:
    return hashlib.sha256(payload).digest()


def genesis(chain: str) -> bytes:
    return sha256(b"openclaw-admin audit chain " + chain.encode())


STATEMENT_GENESIS = sha256(b"openclaw-admin audit statements")
ROWS_SEED = sha256(b"openclaw-admin audit export")


def entry_hash(row: dict[str, Any]) -> bytes:
    """Hash an entry: its columns as JSON values, its place in the chain."""
    version = row["format"]
    if version not in BODY:
        raise ValueError(f"entries of format {version} are not known to this program")
    body = sha256(canonical({name: row[name] for name in BODY[version]}))
    place = {
        "body": body.hex(),
        "chain": row["chain_id"],
        "format": version,
        "prev": row["prev_hash"],
        "seq": row["seq"],
    }
    return sha256(canonical(place))


def commitment(row: dict[str, Any], version: int) -> bytes:
    """Bind content: its salt and its parts."""
    parts = {name: row.get(name) for name in CONTENT[version]}
    if "decision_reason" in parts:
        parts["decision_reason"] = parts["decision_reason"] or ""
    return sha256(bytes.fromhex(row["salt"]) + canonical(parts))


def statement_hash(said: dict[str, Any]) -> bytes:
    body = sha256(said["body"].encode()).hex()
    told = {"at": said["at"], "body": body, "format": 1, "kind": said["kind"], "number": said["number"]}
    return sha256(canonical({**told, "prev": said["prev_hash"], "public_key": said["public_key"]}))


def shown_uuid(shown: str, prefix: str) -> str:
    """Read an identifier, also as people see it (`aud_01j9…`)."""
    if UUID.fullmatch(shown):
        return shown
    kind, _, letters = shown.partition("_")
    if kind != prefix or len(letters) != 26:
        raise ValueError(f"`{shown}` is no identifier of kind `{prefix}`")
    number = 0
    for letter in letters:
        number = number << 5 | BASE32[letter]
    text = f"{number:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def fingerprint(public: bytes) -> str:
    return sha256(public).hex()


# ------------------------------------------------------------------------------------------------------- findings


def visible(text: str) -> str:
    """Show what a hostile file says as letters: no line of it may pass for one of ours, no sign move the cursor."""
    shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text[:400])
    return shown if len(text) <= 400 else f"{shown}…"


class Findings:
    """What was read, and what does not hold."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.problems: list[dict[str, Any]] = []
        self.problem_count = 0
        self.notes: list[str] = []
        self.open_entries = 0
        self.newest = "no signed statement was read"

    def count(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    def problem(self, code: str, message: str, chain: str = "", seq: Optional[int] = None) -> None:
        self.problem_count += 1
        if len(self.problems) < SHOWN_PROBLEMS:
            told = {"code": code, "chain": visible(chain), "seq": seq, "message": visible(message)}
            self.problems.append(told)


# ------------------------------------------------------------------------------------------------ where rows are kept

TABLES = """
CREATE TABLE entry (
    chain TEXT, seq INTEGER, at TEXT, id TEXT, prev BLOB, hash BLOB, format INTEGER, bound BLOB, fits INTEGER
);
CREATE TABLE content (at TEXT, id TEXT, bound_1 BLOB, bound_2 BLOB);
CREATE TABLE head (chain TEXT, seq INTEGER, hash BLOB, number INTEGER);
CREATE TABLE gone (chain TEXT, first INTEGER, last INTEGER, prev BLOB, hash BLOB);
CREATE TABLE erased (chain TEXT, first INTEGER, last INTEGER);
CREATE TABLE boot (chain TEXT PRIMARY KEY, seq INTEGER, head BLOB);
CREATE TABLE statement (number INTEGER, document TEXT);
"""
INDEXES = """
CREATE INDEX content_key ON content (id, at);
CREATE INDEX entry_key ON entry (id, at);
CREATE INDEX entry_place ON entry (chain, seq);
CREATE INDEX head_place ON head (chain, seq);
CREATE INDEX gone_place ON gone (chain, first);
CREATE INDEX erased_place ON erased (chain, first);
CREATE INDEX statement_number ON statement (number);
"""


class Shelf:
    """A temporary SQLite file: rows are joined on disk, so that memory stays flat."""

    def __init__(self, folder: str) -> None:
        self.rows = sqlite3.connect(Path(folder) / "rows", isolation_level=None)
        for pragma in ("journal_mode=OFF", "synchronous=OFF", "temp_store=FILE", "cache_size=-32768"):
            self.rows.execute(f"PRAGMA {pragma}")
        self.rows.executescript(TABLES)
        self.rows.execute("BEGIN")
        self.waiting: dict[str, list[tuple[Any, ...]]] = {}

    def add(self, table: str, *values: Any) -> None:
        batch = self.waiting.setdefault(table, [])
        batch.append(values)
        if len(batch) >= BATCH_ROWS:
            self.flush(table)

    def flush(self, table: str) -> None:
        batch = self.waiting.pop(table, [])
        if batch:
            marks = ",".join("?" * len(batch[0]))
            self.rows.executemany(f"INSERT INTO {table} VALUES ({marks})", batch)

    def finish(self) -> None:
        for table in list(self.waiting):
            self.flush(table)
        self.rows.execute("COMMIT")

    def each(self, query: str, *values: Any) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows.execute(query, values))

    def one(self, query: str, *values: Any) -> Any:
        row = self.rows.execute(query, values).fetchone()
        return None if row is None else row[0]


def keep_entry(shelf: Shelf, findings: Findings, row: dict[str, Any]) -> None:
    """Hash an entry on its own and put its place aside."""
    findings.count("entries")
    try:
        fits = entry_hash(row).hex() == row["hash"] and not says_unbound(row)
    except MALFORMED as error:
        fits = False
        findings.problem("unreadable", f"it cannot be hashed: {error}", str(row.get("chain_id")), row.get("seq"))
    bound = row.get("content_commitment")
    if not 0 < row["seq"] <= LARGEST_NUMBER or not 0 <= row["format"] <= LARGEST_NUMBER:
        raise ValueError(f"`{str(row['seq'])[:30]}` is no number of an entry")
    place = (row["chain_id"], row["seq"], row["at"], row["id"])
    hashes = (bytes.fromhex(row["prev_hash"]), bytes.fromhex(row["hash"]), row["format"])
    shelf.add("entry", *place, *hashes, None if bound is None else bytes.fromhex(bound), int(fits))


def says_unbound(row: dict[str, Any]) -> bool:
    """Say whether an entry of format 2 holds, itself, what is content in it: nothing of it binds that."""
    return row["format"] == 2 and row.get("salt") is None and any(row.get(name) for name in MOVED)


def keep_content(shelf: Shelf, row: dict[str, Any], bound_1: bytes) -> None:
    shelf.add("content", row["at"], row["id"], bound_1, commitment(row, 2))


def keep_dumped_content(shelf: Shelf, row: dict[str, Any]) -> None:
    """Put a content aside; in one of format 1 nothing binds what became content in format 2."""
    keep_content(shelf, row, b"" if any(row[name] for name in MOVED) else commitment(row, 1))


# ------------------------------------------------------------------------------------------------------ statements


def check_statements(shelf: Shelf, findings: Findings, pinned: list[str], *, whole: bool) -> None:
    """Check every signature; with `whole` the links between them and the pinned key too. Takes in what they say.

    A statement that a pinned key signed vouches for all before it, through their links, and for the key it names. Those
    of an export lie inside its manifest, which a pinned key signed.
    """
    expected, before, signer, is_trusted = 1, STATEMENT_GENESIS.hex(), "", False
    for (text,) in shelf.each("SELECT document FROM statement ORDER BY number"):
        said = json.loads(text)
        number = said["number"]
        findings.count("statements")
        findings.newest = f"the newest signed statement here is number {number} of {visible(str(said['at']))}"
        if whole and number != expected:
            findings.problem("statement_missing", f"after statement {expected - 1} comes {number}")
        elif whole and said["prev_hash"] != before:
            findings.problem("statement_unlinked", f"statement {number} does not follow the one before it")
        if whole and signer and said["public_key"] != signer:
            findings.problem("key_unannounced", f"statement {number} is signed by a key that no statement names")
        expected, before, signer = number + 1, said["hash"], said["public_key"]
        try:
            if not statement_is_sound(said):
                findings.problem("statement_changed", f"statement {number} is not the one that was signed")
                continue
            told = json.loads(said["body"])
            take_statement(shelf, said, told)
            signer = told["public_key"] if said["kind"] == "key" else signer
            is_trusted = is_trusted or is_pinned(bytes.fromhex(said["public_key"]), pinned)
        except MALFORMED as error:
            findings.problem("statement_unreadable", f"statement {number} cannot be read: {error}")
    if whole and expected == 1:
        findings.problem("nothing_signed", "there is no signed statement: nothing vouches for these entries")
    elif whole and not is_trusted:
        findings.problem("key_unknown", "no statement is signed by a key that you pinned")


def statement_is_sound(said: dict[str, Any]) -> bool:
    own = statement_hash(said)
    signature = bytes.fromhex(said["signature"])
    return own.hex() == said["hash"] and signature_fits(
        bytes.fromhex(said["public_key"]), signature, STATEMENT_DOMAIN + own
    )


def take_statement(shelf: Shelf, said: dict[str, Any], body: dict[str, Any]) -> None:
    if said["kind"] == "checkpoint":
        for head in body["heads"]:
            shelf.add("head", head["chain"], head["seq"], bytes.fromhex(head["hash"]), said["number"])
    elif said["kind"] in ("purge", "erasure"):
        for span in body["ranges"]:
            place = (span["chain"], span["first"], span["last"])
            if said["kind"] == "purge":
                shelf.add("gone", *place, bytes.fromhex(span["prev"]), bytes.fromhex(span["hash"]))
            else:
                shelf.add("erased", *place)


def is_pinned(public: bytes, pinned: Iterable[str]) -> bool:
    return public.hex() in pinned or fingerprint(public) in pinned


# ------------------------------------------------------------------------------------------------------- the walk

WALK = """
SELECT e.chain, e.seq, e.prev, e.hash, e.format, e.bound, e.fits, c.bound_1, c.bound_2
FROM entry AS e LEFT JOIN content AS c ON c.id = e.id AND c.at = e.at ORDER BY e.chain, e.seq, e.hash
"""


def check_chains(shelf: Shelf, findings: Findings, *, whole: bool) -> None:
    """Walk each chain: every entry and content as committed, every link; with `whole` every number too."""
    chain, seq, before = "", 0, b""
    erased = purged = Spans(shelf, "erased", chain)
    for row in shelf.each(WALK):
        if row[0] != chain:
            if chain and whole:
                check_end(shelf, findings, chain, seq, before)
            chain, seq, before = row[0], 0, genesis(row[0])
            erased, purged = Spans(shelf, "erased", chain), Spans(shelf, "gone", chain)
            findings.count("chains")
        here, prev, own = row[1], row[2], row[3]
        if here <= seq:
            findings.problem("repeated", f"number {here} is there more than once", chain, here)
        elif here == seq + 1:
            if prev != before:
                findings.problem("unlinked", "it does not follow the entry before it", chain, here)
        elif whole and not explained(shelf, findings, chain, seq + 1, here - 1, before, prev):
            findings.problem("missing", f"after number {seq} comes number {here}", chain, here)
        if not row[6]:
            findings.problem("changed", "it does not hash to what it says", chain, here)
        if whole and purged.include(here):
            findings.problem("purged_back", "a signed statement says that it was purged", chain, here)
        check_content(findings, row, is_erased=erased.include(here), whole=whole)
        seq, before = here, own
    if chain and whole:
        check_end(shelf, findings, chain, seq, before)


def check_content(findings: Findings, row: tuple[Any, ...], *, is_erased: bool, whole: bool) -> None:
    chain, seq, version, bound, bounds = row[0], row[1], row[4], row[5], {1: row[7], 2: row[8]}
    if bound is None:
        if row[7] is not None:
            findings.problem("content_stray", "it has content that it did not commit to", chain, seq)
        return
    if row[7] is None:
        if is_erased:
            findings.count("erased")
        else:
            findings.problem("content_missing", "its content is gone, and no signed statement says why", chain, seq)
        return
    findings.count("contents")
    if bounds.get(version) != bound:
        findings.problem("content_changed", "its content is not the one that it committed to", chain, seq)
    if whole and is_erased:  # an export may have been written before
        findings.problem("content_back", "a signed statement says that its content was erased", chain, seq)


class Spans:
    """What was signed away of one chain, asked for in the order of its numbers."""

    def __init__(self, shelf: Shelf, table: str, chain: str) -> None:
        self.rows = shelf.each(f"SELECT first, last FROM {table} WHERE chain = ? ORDER BY first", chain)
        self.following = next(self.rows, None)
        self.reach = 0

    def include(self, seq: int) -> bool:
        while self.following is not None and self.following[0] <= seq:
            self.reach = max(self.reach, self.following[1])
            self.following = next(self.rows, None)
        return seq <= self.reach


def explained(
    shelf: Shelf, findings: Findings, chain: str, first: int, last: int, before: bytes, after: Optional[bytes]
) -> bool:
    """Say whether signed purges cover a gap, and fit to the entries around it."""
    reached = first
    while reached <= last:
        found = shelf.rows.execute(
            "SELECT last, hash FROM gone WHERE chain = ? AND first = ? AND prev = ? AND last <= ?",
            (chain, reached, before, last),
        ).fetchone()
        if found is None:
            return False
        reached, before = found[0] + 1, found[1]
    if after is not None and before != after:
        return False
    findings.count("purged", last - first + 1)
    return True


def check_end(shelf: Shelf, findings: Findings, chain: str, seq: int, before: bytes) -> None:
    """Compare where a chain ends with what its boot and the checkpoints say."""
    boot = shelf.rows.execute("SELECT seq, head FROM boot WHERE chain = ?", (chain,)).fetchone()
    if boot is None:
        findings.problem("unknown_chain", "no process is known to have written this chain", chain, seq)
        return
    length, head = boot
    if seq > length:
        findings.problem("beyond_head", "it stands after the last entry that its process wrote", chain, seq)
    elif seq < length and not explained(shelf, findings, chain, seq + 1, length, before, head):
        findings.problem("truncated", f"the chain ends at number {seq} of {length}", chain, seq)
    elif seq == length and before != head:
        findings.problem("head_differs", "its last entry is not the one that its process wrote last", chain, seq)


def check_heads(shelf: Shelf, findings: Findings, *, whole: bool) -> None:
    """Compare every signed head with the entry that stands there now."""
    query = "SELECT h.chain, h.seq, h.hash, h.number, e.hash FROM head AS h LEFT JOIN entry AS e USING (chain, seq)"
    for chain, seq, signed, number, found in shelf.each(query):
        findings.count("heads")
        if found == signed:
            continue
        if found is not None:
            findings.problem("rewritten", f"checkpoint {number} signed another entry in its place", chain, seq)
        elif whole and not is_purged(shelf, chain, seq, signed):
            findings.problem("truncated", f"checkpoint {number} signed an entry that is not there", chain, seq)
    signed_up_to = "SELECT chain, max(seq) AS seq FROM head GROUP BY chain"
    findings.open_entries = shelf.one(
        f"SELECT count(*) FROM entry AS e LEFT JOIN ({signed_up_to}) AS h USING (chain)"
        " WHERE e.seq > coalesce(h.seq, 0)"
    )


def is_purged(shelf: Shelf, chain: str, seq: int, signed: bytes) -> bool:
    span = shelf.rows.execute(
        "SELECT last, hash FROM gone WHERE chain = ? AND first <= ? AND last >= ? LIMIT 1", (chain, seq, seq)
    ).fetchone()
    return span is not None and (span[0] != seq or span[1] == signed)


def check_strays(shelf: Shelf, findings: Findings) -> None:
    """Contents that belong to no entry, and chains that are signed or known but have none."""
    repeated = shelf.one("SELECT count(*) FROM (SELECT 1 FROM content GROUP BY id, at HAVING count(*) > 1)")
    if repeated:
        findings.problem("content_repeated", f"{repeated} entries have more than one content")
    stray = shelf.one(
        "SELECT count(*) FROM content AS c"
        " WHERE NOT EXISTS (SELECT 1 FROM entry AS e WHERE e.id = c.id AND e.at = c.at)"
    )
    if stray:
        findings.problem("content_stray", f"{stray} contents belong to no entry")
    query = "SELECT chain, seq, head FROM boot WHERE seq > 0 AND chain NOT IN (SELECT DISTINCT chain FROM entry)"
    for chain, length, head in list(shelf.each(query)):
        if not explained(shelf, findings, chain, 1, length, genesis(chain), head):
            findings.problem("truncated", f"none of its {length} entries is there", chain, length)


# -------------------------------------------------------------------------------------------------------- a dump

LEDGER = r"(audit_(?:entry|content)(?:_default|_\d{4}_\d\d)?|audit_statement|audit_boot)"
COPY = re.compile(rf"COPY (?:\w+\.)?{LEDGER} \((.*)\) FROM stdin;")
ANY_COPY = re.compile(r"COPY .* FROM stdin", re.IGNORECASE)
OTHER_WRITE = re.compile(rf"\s*(?:COPY|INSERT|UPDATE|DELETE|TRUNCATE|MERGE)\b.*\b{LEDGER}\b", re.IGNORECASE)
# Within functions of the installation, which a whole dump defines. Anywhere else `said` is no column, and they fail.
OF_FUNCTIONS = frozenset(
    {
        "DELETE FROM audit_content AS c USING audit_ranges(said) AS r, audit_entry AS e",
        "DELETE FROM audit_entry AS e USING audit_ranges(said) AS r",
    }
)
ESCAPE = re.compile(r"\\(.)", re.DOTALL)
LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}


def dump_check(path: Path, pinned: list[str], witness: Optional[Path], findings: Findings, folder: str) -> None:
    shelf = Shelf(folder)
    try:
        read_dump(path, shelf, findings)
        shelf.finish()
        shelf.rows.executescript(INDEXES)
        check_statements(shelf, findings, pinned, whole=True)
        for table in ("head", "gone", "erased"):
            shelf.flush(table)
        check_chains(shelf, findings, whole=True)
        check_heads(shelf, findings, whole=True)
        check_strays(shelf, findings)
        if witness is not None:
            check_witness(shelf, findings, witness)
    finally:
        shelf.rows.close()


def read_dump(path: Path, shelf: Shelf, findings: Findings) -> None:
    """Read the COPY blocks of a plain dump (`pg_dump`, also gzipped)."""
    takers: dict[str, Callable[[dict[str, Optional[str]]], None]] = {
        "entry": lambda row: keep_entry(shelf, findings, dumped_entry(row)),
        "content": lambda row: keep_dumped_content(shelf, dumped_content(row)),
        "statement": lambda row: keep_dumped_statement(shelf, row),
        "boot": lambda row: keep_dumped_boot(shelf, row),
    }
    blocks = 0
    with open_text(path) as file:
        lines = bounded(file)
        for line in lines:
            block = COPY.match(line)
            if block is not None:
                blocks += 1
                columns = [name.strip().strip('"') for name in block.group(2).split(",")]
                take = takers[block.group(1).split("_")[1]]
                read_block(lines, block.group(1), columns, take, findings)
            elif OTHER_WRITE.match(line) and line.strip() not in OF_FUNCTIONS:
                findings.problem("written_otherwise", f"the dump writes to the ledger in another way: {line.strip()}")
            elif ANY_COPY.match(line):
                for row in lines:  # of another table; what its rows look like means nothing
                    if row.rstrip("\n") == "\\.":
                        break
    if not blocks:
        raise UnreadableError(
            "no table of the ledger is in it: make a plain dump (pg_dump, format p) of the whole database"
        )


def read_block(
    lines: Iterator[str],
    table: str,
    columns: list[str],
    take: Callable[[dict[str, Optional[str]]], None],
    findings: Findings,
) -> None:
    for line in lines:
        text = line.rstrip("\n")
        if text == "\\.":
            return
        try:
            values = [unescaped(value) for value in text.split("\t")]
            if len(values) != len(columns):
                raise ValueError(f"it has {len(values)} values, not {len(columns)}")
            take(dict(zip(columns, values)))
        except MALFORMED as error:
            findings.problem("unreadable", f"a row of {table} cannot be read: {error}")
    findings.problem("cut_off", f"the dump ends in the middle of {table}")


def bounded(file: IO[Any]) -> Iterator[Any]:
    """Give the lines of a file, none of them longer than memory should hold."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise UnreadableError(f"a line is longer than {LONGEST_LINE} letters")
        yield line


def open_text(path: Path) -> IO[str]:
    with path.open("rb") as file:
        start = file.read(5)
    if start == b"PGDMP":
        raise UnreadableError("this is a dump in the custom format: turn it into plain SQL with pg_restore -f FILE")
    if start[:2] == b"\x1f\x8b":
        return gzip.open(path, "rt", encoding="utf-8", newline="\n")
    return path.open(encoding="utf-8", newline="\n")


def unescaped(value: str) -> Optional[str]:
    if "\\" not in value:
        return value
    if value == "\\N":
        return None
    return ESCAPE.sub(_letter, value)


def _letter(match: re.Match[str]) -> str:
    """Undo what pg_dump writes; another way to write a letter is read differently by others, or not at all."""
    return LETTERS[match.group(1)]


def instant(text: str) -> str:
    """Bring an instant as PostgreSQL writes it into the one form that is hashed."""
    if text.endswith("+00") and text[10] == " ":
        seconds, _, fraction = text[:-3].partition(".")
        return f"{seconds[:10]}T{seconds[11:]}.{fraction:0<6}Z"
    moment = re.fullmatch(r"(\S{10}) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d)(?::?(\d\d))?", text)
    if moment is None:
        raise ValueError(f"`{text}` is no instant")
    day, clock, fraction, hours, minutes = moment.groups()
    whole = f"{day}T{clock}.{fraction or '0':0<6}{hours}:{minutes or '00'}"
    return datetime.fromisoformat(whole).astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def dumped_entry(row: dict[str, Optional[str]]) -> dict[str, Any]:
    entry: dict[str, Any] = dict(row)
    entry["at"] = instant(str(row["at"]))
    entry["format"], entry["seq"] = int(row["format"] or 0), int(row["seq"] or 0)
    entry["duration_ms"] = None if row["duration_ms"] is None else int(row["duration_ms"])
    for name in ("phases", "changes"):
        text = row.get(name)
        entry[name] = None if text is None else json.loads(text)
    for name in ("content_commitment", "prev_hash", "hash"):
        text = row[name]
        entry[name] = None if text is None else text[2:]
    return entry


def dumped_content(row: dict[str, Optional[str]]) -> dict[str, Any]:
    content: dict[str, Any] = {"at": instant(str(row["at"])), "id": row["entry_id"], "salt": (row["salt"] or "")[2:]}
    for name in CONTENT[2]:
        text = row.get(name)
        content[name] = text if name == "decision_reason" or text is None else json.loads(text)
    return content


def keep_dumped_statement(shelf: Shelf, row: dict[str, Optional[str]]) -> None:
    said: dict[str, Any] = {"format": 1, "number": int(row["number"] or 0), "at": instant(str(row["at"]))}
    said.update(kind=row["kind"], body=row["body"])
    said.update({name: (row[name] or "")[2:] for name in ("prev_hash", "hash", "signature", "public_key")})
    if not 0 < said["number"] <= LARGEST_NUMBER:
        raise ValueError("its number is none")
    shelf.add("statement", said["number"], json.dumps(said))


def keep_dumped_boot(shelf: Shelf, row: dict[str, Optional[str]]) -> None:
    length = int(row["seq"] or 0)
    if not 0 <= length <= LARGEST_NUMBER:
        raise ValueError("its length is none")
    shelf.add("boot", row["id"], length, bytes.fromhex((row["head"] or "")[2:]))


def check_witness(shelf: Shelf, findings: Findings, path: Path) -> None:
    """Compare with what a witness kept: each statement it saw must be here, unchanged."""
    with path.open(encoding="utf-8") as lines:
        for line in bounded(lines):
            if not line.strip():
                continue
            try:
                seen = json.loads(line)
                seen["number"], seen["hash"]
            except MALFORMED:
                raise UnreadableError(f"{path} is no file of a witness") from None
            findings.count("witnessed")
            here = shelf.one("SELECT document FROM statement WHERE number = ?", seen["number"])
            if here is None:
                findings.problem("witness_ahead", f"a witness has statement {seen['number']}, which is not here")
            elif json.loads(here)["hash"] != seen["hash"]:
                findings.problem("witness_differs", f"a witness has another statement {seen['number']}")


# ------------------------------------------------------------------------------------------------------ an export


def export_check(path: Path, manifest_path: Path, pinned: list[str], findings: Findings, folder: str) -> None:
    manifest = read_manifest(manifest_path)
    try:
        is_signed = check_manifest(manifest, pinned, findings)
    except MALFORMED as error:
        findings.problem("manifest_changed", f"the manifest cannot be read: {error}")
        return
    if not is_signed:
        return
    check_file(path, manifest, findings)
    form = manifest["export"].get("format")
    if form not in ("csv", "jsonl"):
        findings.notes.append(f"the rows of a {form} file are not read here: its digest was compared, which is signed")
        return
    told = manifest["export"].get("columns", ())
    missing = [name for name in NEEDED if name not in told]
    if missing:
        findings.notes.append(
            f"the file leaves out {', '.join(missing)}: only its digest was compared, which is signed"
        )
        return
    shelf = Shelf(folder)
    try:
        rows = csv_rows(path) if form == "csv" else jsonl_rows(path)
        check_rows(rows, manifest, shelf, findings)
        shelf.finish()
        shelf.rows.executescript(INDEXES)
        check_statements(shelf, findings, pinned, whole=False)
        for table in ("head", "gone", "erased"):
            shelf.flush(table)
        check_chains(shelf, findings, whole=False)
        check_heads(shelf, findings, whole=False)
        check_spans(shelf, manifest, findings)
    finally:
        shelf.rows.close()


def read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_bytes(), object_pairs_hook=once, parse_constant=no_number)
        if manifest["manifest"] != 1 or not isinstance(manifest["signature"], str):
            raise KeyError
    except MALFORMED:
        raise UnreadableError(f"{path} is no manifest of an export") from None
    return dict(manifest)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read an object: a name that is there twice means one thing to this program and another to the next."""
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a name is there twice")
    return found


def no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def check_manifest(manifest: dict[str, Any], pinned: list[str], findings: Findings) -> bool:
    said = {name: value for name, value in manifest.items() if name != "signature"}
    public = bytes.fromhex(manifest["public_key"])
    if not is_pinned(public, pinned):
        findings.problem("key_unknown", f"the manifest is signed by {fingerprint(public)}, which you did not pin")
        return False
    if not signature_fits(public, bytes.fromhex(manifest["signature"]), MANIFEST_DOMAIN + sha256(canonical(said))):
        findings.problem("manifest_changed", "the manifest is not the one that was signed")
        return False
    return True


def check_file(path: Path, manifest: dict[str, Any], findings: Findings) -> None:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
            size += len(chunk)
    findings.count("bytes", size)
    if size != manifest["file"]["bytes"]:
        findings.problem("file_size", f"the file has {size} bytes, {manifest['file']['bytes']} are signed")
    if digest.hexdigest() != manifest["file"]["sha256"]:
        findings.problem("file_changed", "the file is not the one that was signed")


def check_rows(rows: Iterator[dict[str, Any]], manifest: dict[str, Any], shelf: Shelf, findings: Findings) -> None:
    for said in manifest["statements"]:
        shelf.add("statement", said["number"], json.dumps(said))
    count, digest, row = 0, ROWS_SEED, None
    try:
        for row in rows:
            count += 1
            digest = sha256(digest + bytes.fromhex(row["hash"]))
            keep_entry(shelf, findings, row)
            if row["salt"] is not None:
                keep_content(shelf, row, commitment(row, 1))
    except (*MALFORMED, csv.Error) as error:
        findings.problem("unreadable", f"row {count + 1} cannot be read: {error}")
    signed = manifest["rows"]
    if count != signed["count"]:
        findings.problem("row_count", f"the file has {count} rows, {signed['count']} are signed")
    if digest.hex() != signed["digest"]:
        findings.problem("row_order", "these are not the rows that were signed, or not in their order")
    last = None if row is None else {"chain": row["chain_id"], "hash": row["hash"], "seq": row["seq"]}
    if last != manifest["trailer"]:
        findings.problem("trailer", "the last row is not the one that was signed as the last")


def check_spans(shelf: Shelf, manifest: dict[str, Any], findings: Findings) -> None:
    query = "SELECT chain, min(seq), max(seq), count(*) FROM entry GROUP BY chain ORDER BY chain"
    found = [dict(zip(("chain", "first", "last", "count"), row)) for row in shelf.each(query)]
    if found != sorted(manifest["rows"]["chains"], key=lambda span: str(span["chain"])):
        findings.problem("spans", "a chain does not begin, end or count as it was signed")


def jsonl_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for line in bounded(lines):
            row = json.loads(line)
            for name, prefix in IDS.items():
                if row[name] is not None:
                    row[name] = shown_uuid(row[name], prefix)
            yield row


GUARDED = re.compile("'+[=+@\t\r\n ＝＋－＠-]")


def csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(LONGEST_LINE)
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(bounded(file))
        columns = next(reader, [])
        for cells in reader:
            if len(cells) != len(columns):
                raise ValueError(f"{len(cells)} cells, not {len(columns)}")
            yield csv_row(dict(zip(columns, cells)))


def csv_row(cells: dict[str, str]) -> dict[str, Any]:
    """Undo what makes a cell safe for spreadsheets: before a sign that begins a formula stands one apostrophe more."""
    return plain_row({name: cell[1:] if GUARDED.match(cell) else cell for name, cell in cells.items()})


def plain_row(cells: dict[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, cell in cells.items():
        if cell == "" and name in NULLABLE:
            row[name] = None
        elif name in JSON_COLUMNS:
            row[name] = json.loads(cell)
        elif name in IDS:
            row[name] = shown_uuid(cell, IDS[name])
        else:
            row[name] = int(cell) if name in ("seq", "format", "duration_ms") else cell
    return row


# ----------------------------------------------------------------------------------------------------- the program


PEM_START = bytes.fromhex("302a300506032b6570032100")  # Source: RFC 8410


def read_pins(given: Iterable[str]) -> list[str]:
    """Read pinned keys: a fingerprint or a public key in hex, or a PEM file."""
    pins = []
    for text in given:
        if re.fullmatch(r"[0-9a-fA-F]{64}", text):
            pins.append(text.lower())
            continue
        try:
            pem = Path(text).read_text(encoding="ascii")
            key = base64.b64decode("".join(pem.strip().splitlines()[1:-1]), validate=True)
            if len(key) != len(PEM_START) + 32 or not key.startswith(PEM_START):
                raise ValueError("it holds no public key of kind Ed25519")
            pins.append(key[len(PEM_START) :].hex())
        except (OSError, ValueError) as error:
            raise UnreadableError(f"`{text}` is neither 64 letters of hex nor a PEM file: {error}") from None
    return pins


def parse(arguments: Optional[list[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Check an export or a dump of an audit ledger, offline.")
    kinds = parser.add_subparsers(dest="kind", required=True)
    export = kinds.add_parser("export", help="a file that was exported, with its manifest")
    export.add_argument("file", type=Path)
    export.add_argument("manifest", type=Path)
    dump = kinds.add_parser("dump", help="a plain dump of the database (pg_dump), or one that is gzipped")
    dump.add_argument("file", type=Path)
    dump.add_argument("--witness", type=Path, help="the file of a witness: what was signed must still be here")
    for each in (export, dump):
        each.add_argument("--key", action="append", required=True, help="fingerprint or public key to trust")
        each.add_argument("--json", action="store_true", help="print what was found as JSON")
        each.add_argument("--temp", help="folder for rows that are joined on disk")
    return parser.parse_args(arguments)


def main(arguments: Optional[list[str]] = None) -> int:
    chosen = parse(arguments)
    findings = Findings()
    try:
        pins = read_pins(chosen.key)
        with tempfile.TemporaryDirectory(dir=chosen.temp) as folder:
            if chosen.kind == "export":
                export_check(chosen.file, chosen.manifest, pins, findings, folder)
            else:
                dump_check(chosen.file, pins, chosen.witness, findings, folder)
    except (UnreadableError, OSError, EOFError, zlib.error, sqlite3.Error, *MALFORMED) as error:
        print(f"cannot be judged: {visible(str(error))}", file=sys.stderr)
        return 2
    tell(findings, as_json=chosen.json)
    return 1 if findings.problem_count else 0


def tell(findings: Findings, *, as_json: bool) -> None:
    if as_json:
        print(
            json.dumps(
                {
                    "intact": not findings.problem_count,
                    "counts": findings.counts,
                    "problem_count": findings.problem_count,
                    "problems": findings.problems,
                    "notes": findings.notes,
                    "beyond_checkpoint": findings.open_entries,
                    "newest": findings.newest,
                },
                indent=2,
            )
        )
        return
    print(", ".join(f"{number} {name}" for name, number in findings.counts.items()) or "nothing was read")
    for note in findings.notes:
        print(f"note: {note}")
    for problem in findings.problems:
        place = f"{problem['chain']} #{problem['seq']}: " if problem["chain"] else ""
        print(f"PROBLEM {problem['code']}: {place}{problem['message']}")
    if findings.problem_count > len(findings.problems):
        print(f"… and {findings.problem_count - len(findings.problems)} more")
    if findings.problem_count:
        print(f"it does NOT hold: {findings.problem_count} problems")
        return
    print("everything holds")
    print(NOT_PROVEN.format(open=findings.open_entries, newest=findings.newest))


if __name__ == "__main__":
    sys.exit(main())
