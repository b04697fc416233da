"""The streams of an installation: adding, changing, pausing, removing and trying one, each told in the ledger."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import StreamInvalidError, StreamNotFoundError
from apps.audit.models import DeadLetter, Stream
from apps.audit.services import entry_record
from apps.audit.streaming.sending import SECRET_PURPOSE, dead_retry, way_of
from apps.audit.streaming.targets import TargetRefusedError, check_way, hand_over
from apps.audit.streams import entry_stream
from apps.firewall.tools.connector import ConnectorError
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.keys.seal import seal

DEAD_LIMIT: Final = 100
GIVEN: Final = frozenset({"name", "kind", "url", "ca", "region", "prefix", "with_content"})
LAG: Final = """
SELECT s.id, coalesce(sum(b.seq - coalesce(c.seq, 0)), 0)::bigint, min(n.at)
FROM audit_stream AS s
LEFT JOIN audit_boot AS b ON true
LEFT JOIN audit_streamcursor AS c ON c.stream_id = s.id AND c.chain_id = b.id
LEFT JOIN LATERAL (
    SELECT at FROM audit_entry AS e WHERE e.chain_id = b.id AND e.seq > coalesce(c.seq, 0) ORDER BY e.seq LIMIT 1
) AS n ON b.seq > coalesce(c.seq, 0)
GROUP BY s.id
"""


@dataclass(frozen=True, slots=True)
class StreamState:
    """A stream and how far it is behind: entries, and the age of the oldest of them in seconds."""

    stream: Stream
    behind: int
    lag_s: float
    dead: int

    @property
    def lag_ms(self) -> int:
        return round(self.lag_s * 1000)


def streams_shown(at: datetime) -> list[StreamState]:
    """Give every stream with its lag."""
    with connection.cursor() as cursor:
        cursor.execute(LAG)
        lag = {row[0]: (row[1], row[2]) for row in cursor.fetchall()}
    shown = []
    for stream in Stream.objects.all():
        behind, oldest = lag.get(stream.pk, (0, None))
        lag_s = max(0.0, (at - oldest).total_seconds()) if oldest is not None and behind else 0.0
        shown.append(StreamState(stream, behind, lag_s, stream.dead.count()))
    return shown


def stream_access(principal: Principal, stream_id: UUID, *, write: bool = False) -> Stream:
    """Give a stream to who may see it, or with `write` to who may change it.

    Raises:
        PermissionDeniedError, StreamNotFoundError.
    """
    require(principal, Permission.AUDIT_MANAGE if write else Permission.AUDIT_READ)
    found = Stream.objects.filter(pk=stream_id).first()
    if found is None:
        raise StreamNotFoundError("no such stream")
    return found


def stream_add(by: Principal, *, secret: str = "", from_beginning: bool = False, **fields: Any) -> Stream:
    """Add a stream.

    Args:
        secret: value of `Authorization`; for an object store `KEY:SECRET`.
        from_beginning: with every entry there is; otherwise with those that come from now on.
        fields: name, kind, url, ca, region, prefix, with_content.
    Raises:
        PermissionDeniedError, StreamInvalidError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    with transaction.atomic():
        stream = Stream(**fields)
        _keep(stream, secret)
        stream.save(force_insert=True)
        if not from_beginning:
            with connection.cursor() as cursor:
                cursor.execute(
                    "INSERT INTO audit_streamcursor (stream_id, chain_id, seq) SELECT %s, id, seq FROM audit_boot",
                    [stream.pk],
                )
        _record(by, "stream added", stream)
    return stream


def stream_change(by: Principal, stream: Stream, *, secret: str = "", **fields: Any) -> Stream:
    """Change a stream; an empty secret keeps the one it has.

    Raises:
        PermissionDeniedError, StreamInvalidError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    with transaction.atomic():
        stream = Stream.objects.select_for_update().get(pk=stream.pk)
        leads_elsewhere = fields.get("url", stream.url) != stream.url
        for name, value in fields.items():
            setattr(stream, name, value)
        if leads_elsewhere and not secret and stream.has_secret:
            # Whoever changes the address must know the secret: it would be sent there.
            raise StreamInvalidError([_mistake("secret", _("say the secret again where the address changes"))])
        _keep(stream, secret)
        stream.failures, stream.error, stream.due_at = 0, "", datetime.now(UTC)
        stream.save(update_fields=[*fields, "sealed_secret", "failures", "error", "due_at"])
        _record(by, "stream changed", stream)
    return stream


def stream_pause(by: Principal, stream: Stream, *, is_paused: bool) -> None:
    """Pause a stream, or let it go on where it stopped.

    Raises:
        PermissionDeniedError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    with transaction.atomic():
        Stream.objects.filter(pk=stream.pk).update(is_paused=is_paused, due_at=datetime.now(UTC), failures=0, error="")
        _record(by, "stream paused" if is_paused else "stream resumed", stream)


def stream_remove(by: Principal, stream: Stream) -> None:
    """Remove a stream with its cursors and dead letters.

    Raises:
        PermissionDeniedError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    with transaction.atomic():
        dead = stream.dead.count()
        Stream.objects.filter(pk=stream.pk).delete()
        _record(by, "stream removed", stream, dead=dead)


def stream_test(by: Principal, stream: Stream) -> str:
    """Send the entry that tells of this test, and say what the other side made of it.

    Returns:
        Why it did not take it; empty when it did.
    Raises:
        PermissionDeniedError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    receipt = _record(by, "stream tested", stream)
    condition = "e.chain_id = %s AND e.seq = %s"
    batch = list(entry_stream(condition, [receipt.chain_id, receipt.seq], order="e.seq"))
    try:
        hand_over(way_of(stream), batch)
    except (ConnectorError, TargetRefusedError) as exc:
        return str(getattr(exc, "message", exc))
    return ""


def dead_letters(stream: Stream) -> list[DeadLetter]:
    """Give what the other side refused for good, newest first."""
    return list(stream.dead.all()[:DEAD_LIMIT])


def dead_letters_retry(by: Principal, stream: Stream) -> tuple[int, int]:
    """Send dead letters again, at most `DEAD_LIMIT`.

    Returns:
        How many were taken, and how many stay.
    Raises:
        PermissionDeniedError, AuditUnavailableError.
    """
    require(by, Permission.AUDIT_MANAGE)
    letters = dead_letters(stream)
    _record(by, "dead letters sent again", stream, dead=len(letters))
    taken = sum(dead_retry(stream, letter) for letter in letters)
    return taken, stream.dead.count()


def _keep(stream: Stream, secret: str) -> None:
    """Check a stream before it is kept, and seal its secret.

    Raises:
        StreamInvalidError: names each mistake.
    """
    mistakes = []
    if secret:
        stream.sealed_secret = seal(secret.encode(), purpose=SECRET_PURPOSE)
    try:
        stream.full_clean(exclude={field.name for field in Stream._meta.fields} - GIVEN)
    except ValidationError as exc:
        mistakes = [_mistake(path, text) for path, texts in exc.message_dict.items() for text in texts]
    if stream.kind == Stream.Kind.S3 and (not stream.has_secret or (secret and ":" not in secret)):
        mistakes.append(_mistake("secret", _("an object store needs KEY:SECRET")))
    if any(letter in secret for letter in "\r\n\0"):
        mistakes.append(_mistake("secret", _("a secret is one line")))
    if not mistakes:
        try:
            check_way(way_of(stream))
        except UrlRefusedError as exc:
            mistakes = [_mistake("url", exc.message)]
    if mistakes:
        raise StreamInvalidError(mistakes)


def _mistake(path: str, message: str) -> dict[str, str]:
    return {"path": path, "code": "invalid", "message": message}


def _record(by: Principal, what: str, stream: Stream, **more: Any) -> Any:
    told = {"what": what, "stream": stream.name, "kind": stream.kind, "url": stream.url, **more}
    return entry_record(EntryDraft(kind=EntryKind.STREAM_CHANGE, actor=actor_of(by), changes=told))
