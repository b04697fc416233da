"""Figures of the ledger for those who watch it: read from the database, so that every process tells the same."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection

from apps.audit.following import follow_lag
from apps.audit.streaming.streams import StreamState, streams_shown
from apps.audit.writer import Pressure, writer

CALLS: Final = """
SELECT environment, sum(begun), sum(ran), sum(denied), sum(failed), sum(ended - ran - denied - failed) FROM audit_tally
WHERE step_s = 3600 AND dimension = '' GROUP BY environment ORDER BY environment
"""
CHAINS: Final = """
SELECT id, host, seq FROM audit_boot WHERE ended_at IS NULL ORDER BY id
"""
TOTALS: Final = "SELECT count(*), coalesce(sum(seq), 0)::bigint FROM audit_boot"
CHECKPOINT: Final = "SELECT max(at) FROM audit_statement WHERE kind = 'checkpoint'"
EXPORTS: Final = "SELECT state, count(*) FROM audit_export GROUP BY state ORDER BY state"


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerMetrics:
    """What can be measured of the ledger at one moment.

    Args:
        calls: by environment, how many began, ran, were denied, failed, joined another one.
        heads: of the chains that are written now: chain, host, number of the last entry.
        checkpoint_age_s: None before the first one.
        pressure: of the writer of this process.
    """

    calls: tuple[tuple[str, int, int, int, int, int], ...]
    heads: tuple[tuple[UUID, str, int], ...]
    chains: int
    entries: int
    checkpoint_age_s: float | None
    index_entries: int
    index_lag_s: float
    exports: tuple[tuple[str, int], ...]
    streams: tuple[StreamState, ...]
    pressure: Pressure


def ledger_metrics(at: datetime) -> LedgerMetrics:
    """Measure the ledger."""
    [(chains, entries)] = _rows(TOTALS)
    [(checkpoint_at,)] = _rows(CHECKPOINT)
    lag = follow_lag(at)
    return LedgerMetrics(
        calls=tuple(_rows(CALLS)),
        heads=tuple(_rows(CHAINS)),
        chains=chains,
        entries=entries,
        checkpoint_age_s=None if checkpoint_at is None else max(0.0, (at - checkpoint_at).total_seconds()),
        index_entries=lag.entries,
        index_lag_s=lag.seconds,
        exports=tuple(_rows(EXPORTS)),
        streams=tuple(streams_shown(at)),
        pressure=writer().pressure,
    )


def _rows(statement: str) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())
