"""Checkpoints: one signed statement over the heads of all chains that moved since the last one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection, transaction

from apps.audit.statements import LOCK, Statement, StatementKind, statement_sign

HEADS_LIMIT = 5_000  # of one statement; what is left is in the next one
MOVED = """
SELECT boot.id, boot.seq, boot.head
FROM audit_boot AS boot LEFT JOIN audit_checkpointed AS done ON done.chain_id = boot.id
WHERE boot.seq > coalesce(done.seq, 0) ORDER BY boot.id LIMIT %s
"""
DONE = """
INSERT INTO audit_checkpointed (chain_id, seq, number, at)
SELECT chain_id, seq, %s, %s FROM unnest(%s::uuid[], %s::bigint[]) AS head (chain_id, seq)
ON CONFLICT (chain_id) DO UPDATE SET seq = excluded.seq, number = excluded.number, at = excluded.at
"""


@dataclass(frozen=True, slots=True)
class ChainState:
    """A chain as the integrity page shows it: how long it is, and how much of it a checkpoint covers."""

    chain_id: UUID
    host: str
    pid: int
    started_at: datetime
    ended_at: datetime | None
    seq: int
    head: bytes
    covered: int
    checkpoint: int | None
    covered_at: datetime | None

    @property
    def open_entries(self) -> int:
        return self.seq - self.covered


def checkpoint_make() -> Statement | None:
    """Sign the heads that moved since the last checkpoint; None when none did.

    Raises:
        AuditKeyError: the key cannot be used.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(LOCK)
        cursor.execute(MOVED, [HEADS_LIMIT])
        moved = [(chain_id, seq, bytes(head)) for chain_id, seq, head in cursor.fetchall()]
        if not moved:
            return None
        heads = [{"chain": str(chain_id), "hash": head.hex(), "seq": seq} for chain_id, seq, head in moved]
        statement = statement_sign(StatementKind.CHECKPOINT, {"heads": heads})
        chains, lengths = [row[0] for row in moved], [row[1] for row in moved]
        cursor.execute(DONE, [statement.number, statement.at, chains, lengths])
    return statement


def checkpoints_make() -> list[Statement]:
    """Sign checkpoints until each chain's head of now is covered.

    Raises:
        AuditKeyError: the key cannot be used.
    """
    made = []
    while (statement := checkpoint_make()) is not None:
        made.append(statement)
        if len(statement.told["heads"]) < HEADS_LIMIT:
            break
    return made


def checkpoint_numbers(chain_ids: list[UUID]) -> list[int]:
    """Name the statements that cover these chains furthest."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT number FROM audit_checkpointed WHERE chain_id = ANY(%s)", [chain_ids])
        return sorted(number for (number,) in cursor.fetchall())


CHAINS = """
SELECT boot.id, boot.host, boot.pid, boot.started_at, boot.ended_at, boot.seq, boot.head,
       coalesce(done.seq, 0), done.number, done.at
FROM audit_boot AS boot LEFT JOIN audit_checkpointed AS done ON done.chain_id = boot.id
WHERE boot.seq > 0 AND (%(before)s::uuid IS NULL OR boot.id < %(before)s)
ORDER BY boot.id DESC LIMIT %(limit)s
"""


def chains_newest(*, before: UUID | None = None, limit: int = 20) -> list[ChainState]:
    """List chains, those of the youngest processes first."""
    with connection.cursor() as cursor:
        cursor.execute(CHAINS, {"before": before, "limit": limit})
        return [_chain(*row) for row in cursor.fetchall()]


def _chain(*row: Any) -> ChainState:
    columns: list[Any] = [bytes(value) if isinstance(value, memoryview) else value for value in row]
    return ChainState(*columns)
