"""Legal holds: what must not go. Placed and lifted by administrators, both on record."""

from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from django.db import connection, transaction
from django.utils.translation import gettext as _

from apps.accounts.access import Principal, actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import HoldNotFoundError, RetentionInvalidError
from apps.audit.models import Hold
from apps.audit.retention.access import keeper_require
from apps.audit.services import entry_record
from apps.firewall.engine.subjects import kept_name

FIELDS: Final = ("environment", "agent", "channel", "sender", "session_key")
NAMES: Final[tuple[Literal["agent", "channel"], ...]] = ("agent", "channel")
"""Spelt as entries have them: a hold keeps what is meant, however it was written."""
TEXT_LIMIT: Final = 512
REASON_LIMIT: Final = 500
LOCK: Final = "audit keeping"


def hold_place(
    by: Principal | None,
    *,
    reason: str,
    at: datetime,
    since: datetime | None = None,
    until: datetime | None = None,
    **fields: str,
) -> Hold:
    """Keep records from going, whatever retention or an erasure says. It holds when this returns.

    Args:
        by: who needs `audit_manage`; None at the command line.
        fields: `environment`, `agent`, `channel`, `sender`, `session_key`; what is missing means any.
        since, until: the records' own instants; `until` is not included.
    Raises:
        PermissionDeniedError, AuditUnavailableError.
        RetentionInvalidError: no reason, an unknown field, or a span that ends before it begins.
    """
    if by is not None:
        keeper_require(by)
    told = {name: value.strip() for name, value in fields.items() if value.strip()}
    told |= {name: kept_name(name, told[name]) for name in NAMES if name in told}
    hold = Hold(reason=reason_read(reason), since=since, until=until, placed_at=at, placed_by=_label(by), **_read(told))
    if since is not None and until is not None and until <= since:
        raise RetentionInvalidError(_("until: must be later than its beginning"), "until")
    with transaction.atomic(), connection.cursor() as cursor:
        # A purge that runs now ends its batch first; every later one sees the hold.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [LOCK])
        hold.save(force_insert=True)
        _tell(hold, by, "placed", {"reason": hold.reason, **told})
    return hold


def hold_lift(by: Principal | None, hold: Hold, *, reason: str, at: datetime) -> Hold:
    """Let go of a hold. Harmless to repeat: the first one counts.

    Raises:
        PermissionDeniedError, AuditUnavailableError.
        RetentionInvalidError: no reason.
    """
    if by is not None:
        keeper_require(by)
    why = reason_read(reason)
    with transaction.atomic():
        hold = Hold.objects.select_for_update().get(pk=hold.pk)
        if hold.lifted_at is None:
            hold.lifted_at, hold.lifted_by, hold.lift_reason = at, _label(by), why
            hold.save(update_fields=["lifted_at", "lifted_by", "lift_reason"])
            _tell(hold, by, "lifted", {"reason": why})
    return hold


def holds_active() -> list[Hold]:
    """Give the holds that hold, newest first."""
    return list(Hold.objects.filter(lifted_at=None))


def holds_lifted(*, limit: int = 20) -> list[Hold]:
    """Give the holds that were lifted last."""
    return list(Hold.objects.filter(lifted_at__isnull=False).order_by("-lifted_at", "-id")[:limit])


def hold_access(principal: Principal, hold_id: UUID) -> Hold:
    """Give a hold to who manages the ledger.

    Raises:
        PermissionDeniedError, HoldNotFoundError.
    """
    keeper_require(principal)
    return hold_find(hold_id)


def hold_find(hold_id: UUID) -> Hold:
    """Find a hold.

    Raises:
        HoldNotFoundError: there is none.
    """
    found = Hold.objects.filter(pk=hold_id).first()
    if found is None:
        raise HoldNotFoundError("no such hold")
    return found


def reason_read(reason: str) -> str:
    """Read a reason, which nobody may leave out.

    Raises:
        RetentionInvalidError: it is empty or too long.
    """
    text = " ".join(reason.split())
    if not text or len(text) > REASON_LIMIT:
        raise RetentionInvalidError(_("reason: one to %(most)s characters") % {"most": REASON_LIMIT}, "reason")
    return text


def _read(told: dict[str, str]) -> dict[str, str]:
    for name, value in told.items():
        if name not in FIELDS:
            raise RetentionInvalidError(_("%(name)s: a hold has no such field") % {"name": name[:64]}, name[:64])
        if len(value) > TEXT_LIMIT or "\x00" in value:
            raise RetentionInvalidError(
                _("%(name)s: at most %(most)s characters") % {"name": name, "most": TEXT_LIMIT}, name
            )
    return told


def _label(by: Principal | None) -> str:
    return "manage.py" if by is None else str(by)


def _tell(hold: Hold, by: Principal | None, status: str, changes: dict[str, Any]) -> None:
    actor = actor_of(by)
    said = {"hold": hold.shown_id, **changes}
    entry_record(EntryDraft(kind=EntryKind.HOLD_CHANGE, actor=actor, status=status, changes=said))
