"""Erasure: the contents of one subject go from the ledger, its index, its files and every room that keeps some."""

# ruff: noqa: S608 - statements are put together from constants of ours; every value is a parameter

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import ErasureHeldError, ErasureNotFoundError, ErasureOpenError, RetentionInvalidError
from apps.audit.export_files import removed
from apps.audit.exports import OPEN, file_of
from apps.audit.models import Erasure, Export, Hold
from apps.audit.retention.access import keeper_require
from apps.audit.retention.batches import Going, contents_erase, goings
from apps.audit.retention.erasers import ERASERS, Subject
from apps.audit.retention.holds import reason_read
from apps.audit.services import entry_record
from apps.firewall.engine.subjects import kept_name

RUN_S: Final = 45.0
SALT_BYTES: Final = 16
TEXT_LIMIT: Final = 512
_CONTENTS: Final = "audit_entry AS e JOIN audit_content AS c ON c.at = e.at AND c.entry_id = e.id"
_SESSIONS: Final = """
SELECT DISTINCT e.session_key FROM audit_entry AS e WHERE e.sender = %s AND e.channel = %s AND e.session_key <> ''
AND NOT EXISTS (SELECT FROM audit_entry AS o WHERE o.session_key = e.session_key
    AND o.sender <> '' AND (o.sender <> e.sender OR o.channel <> e.channel))
"""
_HELD: Final = """
SELECT h.id FROM audit_hold AS h WHERE h.lifted_at IS NULL AND EXISTS (SELECT FROM audit_entry AS e WHERE {}
    AND h.environment IN ('', e.environment) AND h.agent IN ('', e.agent) AND h.channel IN ('', e.channel)
    AND h.sender IN ('', e.sender) AND h.session_key IN ('', e.session_key)
    AND (h.since IS NULL OR e.at >= h.since) AND (h.until IS NULL OR e.at < h.until))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasurePreview:
    """What an erasure would take, and where. `holds` and `open` say what stands against it."""

    contents: int
    first: datetime | None
    last: datetime | None
    sessions: tuple[str, ...]
    elsewhere: tuple[tuple[str, int], ...]
    exports: int
    holds: tuple[str, ...]
    open: int


def erasure_preview(by: Principal | None, *, channel: str, sender: str) -> ErasurePreview:
    """Say how much of a subject there is, and where.

    Raises:
        PermissionDeniedError.
        RetentionInvalidError: no channel or no sender.
    """
    if by is not None:
        keeper_require(by)
    subject = subject_of(channel, sender)
    seen = []
    with connection.cursor() as cursor:
        for condition, values in _conditions(subject):
            cursor.execute(f"SELECT count(*), min(e.at), max(e.at) FROM {_CONTENTS} WHERE {condition}", values)
            seen.append(cursor.fetchone())
    return ErasurePreview(
        contents=sum(count for count, _first, _last in seen),
        first=min((first for _count, first, _last in seen if first is not None), default=None),
        last=max((last for _count, _first, last in seen if last is not None), default=None),
        sessions=subject.sessions,
        elsewhere=tuple((str(each.label), each.count(subject)) for each in ERASERS.values()),
        exports=len(_exports()),
        holds=tuple(_holds(subject)),
        open=sum(each.open(subject) for each in ERASERS.values()),
    )


def erasure_request(by: Principal | None, *, channel: str, sender: str, reason: str, at: datetime) -> Erasure:
    """Begin to erase a subject; a task goes on until nothing is left. It cannot be taken back.

    Raises:
        PermissionDeniedError, AuditUnavailableError.
        RetentionInvalidError: no channel, sender or reason.
        ErasureHeldError: a legal hold keeps some of it; it is named.
        ErasureOpenError: calls or requests of the subject still wait or run.
    """
    channel, sender = kept_name("channel", channel), sender.strip()
    preview = erasure_preview(by, channel=channel, sender=sender)
    why = reason_read(reason)
    if preview.holds:
        raise ErasureHeldError(_("a legal hold keeps it: %(holds)s") % {"holds": ", ".join(preview.holds)})
    if preview.open:
        raise ErasureOpenError(_("%(count)s calls or requests of it have not ended") % {"count": preview.open})
    salt = os.urandom(SALT_BYTES)
    digest = hashlib.sha256(salt + f"{channel}\n{sender}".encode()).hexdigest()
    with transaction.atomic():
        erasure = Erasure.objects.create(
            channel=channel,
            sender=sender,
            salt=salt,
            subject=digest,
            reason=why,
            requested_by="manage.py" if by is None else str(by),
            requested_at=at,
            touched_at=at,
            contents_total=preview.contents,
        )
        _tell(erasure, actor_of(by), "requested", {"reason": why, "contents": preview.contents})
    return erasure


def erasure_run(erasure_id: UUID, *, at: datetime, limit_s: float = RUN_S) -> bool:
    """Go on with an erasure, for so many seconds. Harmless to repeat and to kill; one runner at a time.

    Returns:
        Whether nothing is left to do.
    """
    ends_at = time.monotonic() + limit_s
    is_left = True
    while is_left:
        with transaction.atomic(), connection.cursor() as cursor:
            erasure = Erasure.objects.select_for_update().filter(pk=erasure_id, state=Erasure.State.RUNNING).first()
            if erasure is None:
                return True
            is_left = _step(cursor, erasure, at)
        if is_left and time.monotonic() >= ends_at:
            return False
    return True


def erasures_unfinished() -> list[UUID]:
    """Name the erasures that have not ended."""
    return list(
        Erasure.objects.filter(state=Erasure.State.RUNNING).order_by("requested_at").values_list("id", flat=True)
    )


def erasure_access(principal: Principal, erasure_id: UUID) -> Erasure:
    """Give an erasure to who manages the ledger.

    Raises:
        PermissionDeniedError, ErasureNotFoundError.
    """
    keeper_require(principal)
    found = Erasure.objects.filter(pk=erasure_id).first()
    if found is None:
        raise ErasureNotFoundError("no such erasure")
    return found


def erasures(*, limit: int = 20) -> list[Erasure]:
    """Give the newest erasures."""
    return list(Erasure.objects.all()[:limit])


def subject_of(channel: str, sender: str) -> Subject:
    """Name a subject with its sessions: those that nobody else wrote in, and what its rooms add.

    Raises:
        RetentionInvalidError: channel or sender is empty or too long.
    """
    channel, sender = kept_name("channel", channel), sender.strip()
    for name, value in (("channel", channel), ("sender", sender)):
        if not value or len(value) > TEXT_LIMIT or "\x00" in value:
            message = _("%(name)s: one to %(most)s characters") % {"name": name, "most": TEXT_LIMIT}
            raise RetentionInvalidError(message, name)
    with connection.cursor() as cursor:
        cursor.execute(_SESSIONS, [sender, channel])
        own = {key for (key,) in cursor.fetchall()}
    alone = Subject(channel, sender, tuple(sorted(own)))
    more = {key for each in ERASERS.values() for key in each.sessions(alone)}
    return Subject(alone.channel, alone.sender, tuple(sorted(own | more)))


def _step(cursor: Any, erasure: Erasure, at: datetime) -> bool:
    """Take one batch; False when nothing is left."""
    subject = subject_of(erasure.channel, erasure.sender)
    held = _holds(subject)
    if held:
        return _refuse(erasure, held, at)
    found = _next(cursor, subject, erasure.requested_at)
    held = _holds_among(cursor, found)
    if held:
        return _refuse(erasure, held, at)
    if found:
        said = {"reason": "erasure", "by": erasure.requested_by, "subject": erasure.subject}
        erasure.contents_done += contents_erase(cursor, found, said)
        erasure.touched_at = at
        erasure.save(update_fields=["contents_done", "touched_at"])
        return True
    if not erasure.elsewhere.get("exports_done"):
        erasure.elsewhere = {"exports": _remove_exports(at), "exports_done": True}
        erasure.save(update_fields=["elsewhere"])
        return True
    for name, eraser in ERASERS.items():
        taken = eraser.erase(subject, at)
        if taken:
            erasure.elsewhere = erasure.elsewhere | {name: erasure.elsewhere.get(name, 0) + taken}
            erasure.save(update_fields=["elsewhere"])
            return True
    return _end(erasure, Erasure.State.DONE, at)


def _refuse(erasure: Erasure, held: Sequence[str], at: datetime) -> bool:
    erasure.error = f"a legal hold keeps it: {', '.join(held)}"
    return _end(erasure, Erasure.State.REFUSED, at)


def _end(erasure: Erasure, state: str, at: datetime) -> bool:
    erasure.state, erasure.finished_at = state, at
    erasure.elsewhere = {name: count for name, count in erasure.elsewhere.items() if name != "exports_done"}
    erasure.channel = erasure.sender = ""
    erasure.save(update_fields=["state", "finished_at", "elsewhere", "channel", "sender", "error"])
    _tell(erasure, "system", state, {"contents": erasure.contents_done, "elsewhere": erasure.elsewhere})
    return False


def _conditions(subject: Subject) -> list[tuple[str, list[Any]]]:
    """Say, each for an index of its own and none twice, which entries are the subject's."""
    own = "e.sender = %s AND e.channel = %s"
    return [
        (own, [subject.sender, subject.channel]),
        (f"e.session_key = ANY(%s) AND NOT ({own})", [list(subject.sessions), subject.sender, subject.channel]),
    ]


def _next(cursor: Any, subject: Subject, until: datetime) -> list[Going]:
    for condition, values in _conditions(subject):
        found = goings(cursor, _CONTENTS, f"{condition} AND e.at <= %s", [*values, until])
        if found:
            return _with_related(cursor, found)
    return []


def _with_related(cursor: Any, found: Sequence[Going]) -> list[Going]:
    """Add the other entries of the same calls, and those about rules that came of their requests."""
    calls = [each.call_id for each in found if each.call_id is not None]
    approvals = [each.approval_id for each in found if each.approval_id is not None]
    more = goings(cursor, _CONTENTS, "e.call_id = ANY(%s)", [calls]) if calls else []
    if approvals:
        rules = "e.kind LIKE 'grant%%' AND e.approval_id = ANY(%s)"
        more += goings(cursor, _CONTENTS, rules, [approvals])
    return list({each.id: each for each in [*found, *more]}.values())


def _holds(subject: Subject) -> list[str]:
    ids = []
    with connection.cursor() as cursor:
        for condition, values in _conditions(subject):
            cursor.execute(_HELD.format(condition), values)
            ids += [hold_id for (hold_id,) in cursor.fetchall()]
    return _named(ids)


def _holds_among(cursor: Any, found: Sequence[Going]) -> list[str]:
    """Name the holds on entries of a batch: what came of the subject's calls may be of another agent or session."""
    values = [[each.at for each in found], [each.id for each in found]]
    cursor.execute(_HELD.format("e.at = ANY(%s) AND e.id = ANY(%s)"), values)
    return _named([hold_id for (hold_id,) in cursor.fetchall()])


def _named(ids: Sequence[UUID]) -> list[str]:
    return [f"{hold.shown_id} ({hold.reason})" for hold in Hold.objects.filter(pk__in=ids)]


def _exports() -> list[Export]:
    """Every file that may hold the subject's: whether it does cannot be told from a filter over erased words."""
    return list(Export.objects.filter(state__in=[*OPEN, Export.State.DONE]))


def _remove_exports(at: datetime) -> int:
    found = _exports()
    for export in found:
        removed(file_of(export))
        export.state = Export.State.CANCELLED if export.state in OPEN else Export.State.EXPIRED
        export.path, export.place, export.facts, export.finished_at = "", None, None, export.finished_at or at
        export.save(update_fields=["state", "path", "place", "facts", "finished_at"])
    return len(found)


def _tell(erasure: Erasure, actor: str, status: str, changes: dict[str, Any]) -> None:
    said = {"erasure": erasure.shown_id, "subject": erasure.subject, **changes}
    entry_record(EntryDraft(kind=EntryKind.ERASURE, actor=actor, status=status, changes=said))
