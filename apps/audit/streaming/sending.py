"""Sending the next entries of a stream: read, hand over, move the cursor; what fails is sent again, later and later."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import structlog
from django.db import connection, transaction
from django.db.models import F, Q

from apps.audit.models import DeadLetter, Stream, StreamCursor
from apps.audit.queries import SELECTED, WITH_CONTENT
from apps.audit.rows import EntryRow, read_entry
from apps.audit.streaming.targets import TargetRefusedError, Way, hand_over
from apps.events.notices import announce
from apps.firewall.identifiers import new_id
from apps.firewall.tools.connector import ConnectorError
from apps.keys.seal import unseal

log = structlog.get_logger(__name__)

SECRET_PURPOSE: Final = "audit.stream"  # noqa: S105 - a name
STALE: Final = timedelta(minutes=1)
LONGEST_PAUSE_S: Final = 300
BATCH_ENTRIES: Final = 500
BATCH_BYTES: Final = 4 * 1024 * 1024
# Of an object store each batch is an object: they are larger, and not made for each entry alone.
GATHERED: Final = {Stream.Kind.S3: timedelta(seconds=60)}

BEHIND: Final = """
SELECT b.id, coalesce(s.seq, 0), b.seq FROM audit_boot AS b
LEFT JOIN audit_streamcursor AS s ON s.chain_id = b.id AND s.stream_id = %s
WHERE b.seq > coalesce(s.seq, 0) ORDER BY b.id
"""
NEXT: Final = f"""
SELECT {SELECTED} FROM {WITH_CONTENT} WHERE e.chain_id = %s AND e.seq > %s AND e.seq <= %s ORDER BY e.seq LIMIT %s
"""  # noqa: S608 - constants of ours


class _TakenAwayError(Exception):
    """The stream was paused or removed, or another worker sends it."""


def streams_due(at: datetime) -> list[UUID]:
    """Name the streams that may be sent now and that nobody sends."""
    due = Stream.objects.filter(is_paused=False, due_at__lte=at).filter(_free(at))
    return list(due.order_by("due_at").values_list("id", flat=True))


def stream_send(stream_id: UUID, *, at: datetime, limit_s: float) -> int:
    """Send what a stream is behind, for so many seconds at most once begun.

    Returns:
        How many entries the other side took.
    """
    worker = new_id()
    mine = Stream.objects.filter(pk=stream_id, is_paused=False, due_at__lte=at).filter(_free(at))
    if not mine.update(worker=worker, touched_at=datetime.now(UTC)):
        return 0
    stream = Stream.objects.get(pk=stream_id)
    sent = 0
    try:
        sent = _send(stream, time.monotonic() + limit_s)
        _gather(stream, at, sent)
    except _TakenAwayError:
        pass
    except ConnectorError as exc:
        _put_off(stream, at, exc.message)
    finally:
        Stream.objects.filter(pk=stream_id, worker=worker).update(worker=None)
    return sent


def way_of(stream: Stream) -> Way:
    """Say where a stream leads, its secret opened."""
    secret = unseal(bytes(stream.sealed_secret), purpose=SECRET_PURPOSE).decode() if stream.has_secret else ""
    return Way(
        kind=stream.kind,
        url=stream.url,
        secret=secret,
        ca=stream.ca,
        region=stream.region,
        prefix=stream.prefix,
        with_content=stream.with_content,
    )


def dead_retry(stream: Stream, letter: DeadLetter) -> bool:
    """Send a dead letter again.

    Returns:
        Whether the other side took it, or there is nothing left of it to send; if not, it stays.
    """
    batch = _entries(letter.chain_id, letter.seq - 1, letter.seq, 1)
    try:
        if batch:
            hand_over(way_of(stream), batch)
    except (TargetRefusedError, ConnectorError) as exc:
        DeadLetter.objects.filter(pk=letter.pk).update(attempts=F("attempts") + 1, reason=str(exc)[:500])
        return False
    with transaction.atomic():
        letter.delete()
        Stream.objects.filter(pk=stream.pk).update(sent_count=F("sent_count") + len(batch))
    return True


def _send(stream: Stream, ends_at: float) -> int:
    way, sent, limit = way_of(stream), 0, _batch_limit(stream)
    for chain_id, done, head in _behind(stream):
        while done < head:
            batch = _entries(chain_id, done, head, limit)
            taken = _hand(stream, way, batch) if batch else 0
            done = batch[-1].seq if batch else head  # what was purged is not there to be sent
            _move(stream, chain_id, done, taken)
            sent += taken
            if time.monotonic() >= ends_at:
                return sent
    return sent


def _batch_limit(stream: Stream) -> int:
    """Say how many entries to hand over at once: fewer after each failure, so that a slow receiver is done in time."""
    return max(1, BATCH_ENTRIES >> stream.failures)


def _hand(stream: Stream, way: Way, batch: Sequence[EntryRow]) -> int:
    """Hand a batch over; where it is refused for good, find the entries that are, and keep them as dead letters.

    Returns:
        How many entries the other side took.
    """
    try:
        hand_over(way, batch)
    except TargetRefusedError as exc:
        if len(batch) == 1:
            [entry] = batch
            found = {"stream": stream, "chain_id": entry.chain_id, "seq": entry.seq}
            DeadLetter.objects.get_or_create(**found, defaults={"reason": str(exc)[:500]})
            log.warning("audit.stream_dead_letter", stream=stream.name, entry=entry.shown_id)
            return 0
        Stream.objects.filter(pk=stream.pk, worker=stream.worker).update(touched_at=datetime.now(UTC))
        middle = len(batch) // 2
        return _hand(stream, way, batch[:middle]) + _hand(stream, way, batch[middle:])
    return len(batch)


def _move(stream: Stream, chain_id: UUID, seq: int, taken: int) -> None:
    at = datetime.now(UTC)
    with transaction.atomic():
        ours = Stream.objects.filter(pk=stream.pk, worker=stream.worker, is_paused=False)
        changed = {"touched_at": at, "sent_at": at, "failures": 0, "error": "", "sent_count": F("sent_count") + taken}
        if not ours.update(**changed):
            raise _TakenAwayError
        StreamCursor.objects.update_or_create(stream=stream, chain_id=chain_id, defaults={"seq": seq})
        announce("stream.moved", id=stream.pk)


def _gather(stream: Stream, at: datetime, sent: int) -> None:
    pause = GATHERED.get(Stream.Kind(stream.kind))
    if pause is not None and 0 < sent < BATCH_ENTRIES:
        Stream.objects.filter(pk=stream.pk, worker=stream.worker).update(due_at=at + pause)


def _put_off(stream: Stream, at: datetime, message: str) -> None:
    failures = stream.failures + 1
    pause = min(2.0**failures, LONGEST_PAUSE_S)
    Stream.objects.filter(pk=stream.pk).update(
        failures=failures, error=message[:500], due_at=at + timedelta(seconds=pause)
    )
    announce("stream.moved", id=stream.pk)
    log.warning("audit.stream_put_off", stream=stream.name, error=message, pause_s=pause)


def _behind(stream: Stream) -> list[tuple[UUID, int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(BEHIND, [stream.pk])
        return list(cursor.fetchall())


def _entries(chain_id: UUID, after: int, last: int, limit: int) -> list[EntryRow]:
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [chain_id, after, last, limit])
        found: list[EntryRow] = []
        size = 0
        for row in cursor.fetchall():
            size += sum(len(value) for value in row if isinstance(value, str))
            if found and size > BATCH_BYTES:
                break
            found.append(read_entry(row))
    return found


def _free(at: datetime) -> Q:
    return Q(worker=None) | Q(touched_at__lt=at - STALE)
