"""Writing to the ledger, and keeping it in order."""

import asyncio
import atexit
from collections.abc import Sequence
from concurrent.futures import TimeoutError as FutureTimeoutError
from datetime import date, datetime
from uuid import UUID

from django.db import connection, transaction

from apps.audit.apps import AuditConfig
from apps.audit.drafts import EntryDraft, EntryKind, EntryReceipt
from apps.audit.errors import AuditUnavailableError
from apps.audit.models import Boot, Entry
from apps.audit.sealing import is_small, seal_entry
from apps.audit.writer import close_writer, writer

WAIT_S = 45.0
MONTHS_AHEAD = 3

# What an outcome repeats from its intent, so that filters need no join.
REPEATED = (
    "environment",
    "agent",
    "session_key",
    "channel",
    "sender",
    "tool",
    "call_id",
    "approval_id",
    "snapshot_digest",
    "trace_id",
)
ORPHANS = """
SELECT * FROM audit_entry AS intent
WHERE chain_id = %s AND kind = 'call_intent' AND NOT EXISTS (
    SELECT FROM audit_entry AS ended
    WHERE ended.call_id = intent.call_id AND ended.kind IN ('call_outcome', 'denial') AND ended.at >= intent.at
)
"""

atexit.register(close_writer)


def entry_record(draft: EntryDraft) -> EntryReceipt:
    """Store an entry; returns when it is on disk.

    Call it last in a service's transaction: when it raises, nothing else may have happened. The ledger commits on
    its own connection; an entry stays even when the caller's transaction fails afterwards. Not for coroutines.

    Raises:
        AuditUnavailableError: the ledger could not store it; what it tells of must not happen.
    """
    return entries_record([draft])[0]


def entries_record(drafts: Sequence[EntryDraft]) -> tuple[EntryReceipt, ...]:
    """Store entries that belong together, all or none; otherwise as `entry_record`.

    Raises:
        AuditUnavailableError: the ledger could not store them; what they tell of must not happen.
    """
    future = writer().submit(*map(seal_entry, drafts))
    try:
        return future.result(timeout=WAIT_S)
    except FutureTimeoutError:
        future.cancel()
        raise AuditUnavailableError(f"the audit ledger did not answer in {WAIT_S:.0f} s") from None


async def entry_record_async(draft: EntryDraft) -> EntryReceipt:
    """Store an entry from a coroutine; the same promise as `entry_record`.

    Masking takes seconds for what a tool can answer: a large entry is sealed in a thread, so that nobody else waits.
    """
    sealed = seal_entry(draft) if is_small(draft) else await asyncio.to_thread(seal_entry, draft)
    future = writer().submit(sealed)
    try:
        async with asyncio.timeout(WAIT_S):
            return (await asyncio.wrap_future(future))[0]
    except TimeoutError:
        raise AuditUnavailableError(f"the audit ledger did not answer in {WAIT_S:.0f} s") from None


def boot_id() -> UUID:
    """Name the boot of this process, opening it when there is none yet; approvals are claimed in its name.

    Raises:
        AuditUnavailableError: the ledger is not reachable.
    """
    current = writer()
    return current.boot_id or current.ask_boot().result(timeout=WAIT_S)


def sweep_orphans(at: datetime) -> int:
    """Give every intent whose process is gone its outcome: `unknown`, exactly once.

    A process is gone when its lease ended before `at`, or it said good-bye. It is fenced first: should it still live,
    it goes on in a new chain. Two sweepers never work on the same boot, and one that dies is followed by another.

    Returns:
        How many outcomes were recorded.
    Raises:
        AuditUnavailableError: the ledger cannot store them; they stay for the next sweep.
    """
    own = boot_id()
    Boot.objects.filter(ended_at=None, lease_until__lt=at).exclude(id=own).update(ended_at=at)
    ended = Boot.objects.filter(swept_at=None, ended_at__isnull=False).values_list("id", flat=True)
    return sum(_sweep_boot(boot, at) for boot in ended)


def _sweep_boot(boot: UUID, at: datetime) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"audit sweep {boot}"])
        if not cursor.fetchone()[0] or not Boot.objects.filter(id=boot, swept_at=None).exists():
            return 0
        orphans = list(Entry.objects.raw(ORPHANS, [boot]))
        futures = [writer().submit(seal_entry(_unknown_outcome(intent, at))) for intent in orphans]
        for future in futures:
            future.result(timeout=WAIT_S)
        Boot.objects.filter(id=boot).update(swept_at=at)
    return len(orphans)


def _unknown_outcome(intent: Entry, at: datetime) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.CALL_OUTCOME,
        status="unknown",
        error={"code": "process_gone", "message": "the process ended before it recorded an outcome"},
        at=at,
        **{name: getattr(intent, name) for name in REPEATED},
    )


def partitions_ensure(today: date) -> int:
    """Make the partitions of this month and the months ahead; entries of other months fall into the default one.

    Returns:
        How many were made; 0 when all stood already.
    """
    made = 0
    with connection.cursor() as cursor:
        for parent in AuditConfig.partitioned_tables:
            cursor.execute(
                "SELECT count(*) FILTER (WHERE audit_partition_ensure(%s,"
                " (date_trunc('month', %s::date) + make_interval(months => ahead))::date))"
                " FROM generate_series(0, %s) AS ahead",
                [parent, today, MONTHS_AHEAD],
            )
            made += cursor.fetchone()[0]
    return made
