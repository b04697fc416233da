"""Signed statements: one linked chain of what this installation vouches for about its ledger.

A checkpoint names the heads of the chains, a purge or an erasure says what is gone and why, a key statement names the
key that signs from then on. Each is signed by itself, so that one that travels alone can still be checked.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import connections, transaction
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from apps.audit.chain import canonical, instant_text, storable
from apps.audit.errors import AuditKeyError
from apps.audit.signing import AuditKey, audit_key, has_next_key, next_key, next_key_promote, signature_fits

FORMAT = 1
DOMAIN = b"openclaw-admin audit statement\n"
GENESIS = hashlib.sha256(b"openclaw-admin audit statements").digest()
COLUMNS = "number, at, kind, body, prev_hash, hash, signature, public_key"
CHUNK_ROWS = 500
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('audit statement', 0))"
LAST = "SELECT number, hash, kind, body, public_key FROM audit_statement ORDER BY number DESC LIMIT 1"


class StatementKind(StrEnum):
    CHECKPOINT = "checkpoint"
    PURGE = "purge"
    ERASURE = "erasure"
    KEY = "key"


@dataclass(frozen=True, slots=True)
class Statement:
    """One signed statement as it is stored; `body` is canonical JSON as text."""

    number: int
    at: datetime
    kind: str
    body: str
    prev_hash: bytes
    hash: bytes
    signature: bytes
    public_key: bytes

    @property
    def told(self) -> Any:
        return json.loads(self.body)

    def document(self) -> dict[str, Any]:
        """Give it as JSON, in the form in which it travels: to witnesses, in manifests, over the API."""
        return {
            "format": FORMAT,
            "number": self.number,
            "at": instant_text(self.at),
            "kind": self.kind,
            "body": self.body,
            "prev_hash": self.prev_hash.hex(),
            "hash": self.hash.hex(),
            "signature": self.signature.hex(),
            "public_key": self.public_key.hex(),
        }


def statement_hash(*, number: int, at: datetime, kind: str, body: str, prev: bytes, public_key: bytes) -> bytes:
    """Hash what a statement says, its place and whose it is."""
    said = {
        "at": instant_text(at),
        "body": hashlib.sha256(body.encode()).hexdigest(),
        "format": FORMAT,
        "kind": kind,
        "number": number,
        "prev": prev.hex(),
        "public_key": public_key.hex(),
    }
    return hashlib.sha256(canonical(said)).digest()


def statement_sign(kind: str, body: Mapping[str, Any], *, using: str = "default") -> Statement:
    """Sign a statement and add it to the chain of statements, within the caller's transaction when there is one.

    Others who sign wait until that transaction ends: sign last in it.

    Args:
        kind: one of `StatementKind`.
        body: JSON without floats; a checkpoint's `heads`, or a tombstone's `reason`, `by`, `class` or `subject`, and
            `ranges`, each `{"chain", "first", "last"}`, for a purge with `prev` and `hash` as hex.
        using: the database connection whose transaction it joins; "owner" for who deletes as the owner.
    Raises:
        AuditKeyError: the key cannot be used, or is another one than the last statement names.
    """
    with transaction.atomic(using=using), connections[using].cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(LAST)
        number, prev, last_kind, last_body, last_key = cursor.fetchone() or (0, GENESIS, "", "{}", b"")
        wanted = _key_after(last_kind, last_body, bytes(last_key))
        return _add(cursor, _key_for(wanted), kind=kind, body=body, number=number + 1, prev=bytes(prev))


def key_rotate(*, by: str, using: str = "default") -> Statement:
    """Have another key sign from now on; the old one signs the statement that names it, and is gone then.

    Raises:
        AuditKeyError: the key is given by a variable, or its files cannot be changed.
    """
    following = next_key().public
    with transaction.atomic(using=using):
        statement = statement_sign(StatementKind.KEY, {"by": by, "public_key": following.hex()}, using=using)
        transaction.on_commit(lambda: _promote(following), using=using)
    return statement


def statements(*, after: int = 0, kind: str = "", using: str = "default") -> Iterator[Statement]:
    """Give the statements in their order, a few hundred at a time; each page is read as of its own moment."""
    while True:
        page = statements_page(after=after, kind=kind, limit=CHUNK_ROWS, using=using)
        yield from page
        if len(page) < CHUNK_ROWS:
            return
        after = page[-1].number


def statements_page(*, after: int = 0, kind: str = "", limit: int, using: str = "default") -> list[Statement]:
    """Give the statements that follow a number, oldest first."""
    with connections[using].cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS} FROM audit_statement WHERE number > %s AND (%s = '' OR kind = %s)"  # noqa: S608 - a constant
            " ORDER BY number LIMIT %s",
            [after, kind, kind, limit],
        )
        return [_read(row) for row in cursor.fetchall()]


def statements_newest(*, kind: str = "", before: int | None = None, limit: int = 20) -> list[Statement]:
    """Give the statements that were signed last, newest first."""
    with connections["default"].cursor() as cursor:
        cursor.execute(
            f"SELECT {COLUMNS} FROM audit_statement"  # noqa: S608 - a constant
            " WHERE (%s = '' OR kind = %s) AND (%s::bigint IS NULL OR number < %s) ORDER BY number DESC LIMIT %s",
            [kind, kind, before, before, limit],
        )
        return [_read(row) for row in cursor.fetchall()]


def statements_numbered(numbers: list[int]) -> list[Statement]:
    """Give the statements of these numbers, in their order."""
    with connections["default"].cursor() as cursor:
        cursor.execute(f"SELECT {COLUMNS} FROM audit_statement WHERE number = ANY(%s) ORDER BY number", [numbers])  # noqa: S608 - a constant
        return [_read(row) for row in cursor.fetchall()]


def signer_check() -> None:
    """Make sure that the key that must sign the next statement is here.

    Raises:
        AuditKeyError: it cannot be used, or is another one than the last statement names.
    """
    with connections["default"].cursor() as cursor:
        cursor.execute(LAST)
        _number, _prev, kind, body, key = cursor.fetchone() or (0, GENESIS, "", "{}", b"")
    wanted = _key_after(kind, body, bytes(key))
    if wanted not in {b"", audit_key().public} and not (has_next_key() and next_key().public == wanted):
        raise AuditKeyError("the audit key is not the one that the last statement names: put back the key file")


def statement_is_sound(statement: Statement) -> bool:
    """Say whether a statement hashes to what it says and carries a signature of the key that it names."""
    said = statement_hash(
        number=statement.number,
        at=statement.at,
        kind=statement.kind,
        body=statement.body,
        prev=statement.prev_hash,
        public_key=statement.public_key,
    )
    return said == statement.hash and signature_fits(statement.public_key, statement.signature, DOMAIN + statement.hash)


def key_following(statement: Statement) -> bytes:
    """Give the public key that must sign the statement after this one."""
    return _key_after(statement.kind, statement.body, statement.public_key)


def _add(
    cursor: CursorWrapper, key: AuditKey, *, kind: str, body: Mapping[str, Any], number: int, prev: bytes
) -> Statement:
    at, text, public = timezone.now(), canonical(storable(body)).decode(), key.public
    said = statement_hash(number=number, at=at, kind=StatementKind(kind), body=text, prev=prev, public_key=public)
    statement = Statement(number, at, str(kind), text, prev, said, key.sign(DOMAIN + said), public)
    cursor.execute(
        f"INSERT INTO audit_statement ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",  # noqa: S608 - a constant
        [number, at, str(kind), text, prev, said, statement.signature, public],
    )
    return statement


def _key_after(kind: str, body: str, public_key: bytes) -> bytes:
    return bytes.fromhex(json.loads(body)["public_key"]) if kind == StatementKind.KEY else public_key


def _key_for(wanted: bytes) -> AuditKey:
    """Give the key that must sign; a rotation whose last step was cut off is ended here."""
    key = audit_key()
    if wanted in (b"", key.public):
        return key
    if has_next_key() and next_key().public == wanted:
        return next_key_promote()
    raise AuditKeyError("the audit key is not the one that the last statement names: put back the key file")


def _promote(following: bytes) -> None:
    if has_next_key() and next_key().public == following:
        next_key_promote()


def _read(row: tuple[Any, ...]) -> Statement:
    number, at, kind, body, *binary = row
    return Statement(number, at, kind, body, *map(bytes, binary))
