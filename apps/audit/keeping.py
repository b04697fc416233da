"""What people keep for themselves beside the ledger: saved searches, columns, the time zone in which they read."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo, available_timezones

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from apps.accounts.access import Permission, Principal, require
from apps.accounts.models import User
from apps.audit.chain import storable_text
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.errors import SavedFilterError, SavedFilterNotFoundError
from apps.audit.models import ListPreference, SavedFilter
from apps.audit.services import entry_record

NAME_LETTERS: Final = 80
QUERY_LETTERS: Final = 4000
QUERY_PARTS: Final = 200  # a shared search is read by everybody who opens the list
FILTERS_A_PERSON: Final = 100
COLUMNS: Final = (
    "agent", "tool", "status", "decision", "layer", "rule", "duration", "approval", "session", "channel", "sender",
    "actor", "snapshot", "trace",
)  # fmt: skip
DEFAULT_COLUMNS: Final = ("agent", "tool", "status", "decision", "duration", "approval", "session")


def filters_of(by: Principal) -> QuerySet[SavedFilter]:
    """Give the searches that a person may use: their own, and those that others share."""
    if not isinstance(by, User):
        return SavedFilter.objects.none()
    return SavedFilter.objects.filter(Q(owner=by) | Q(is_shared=True)).select_related("owner")


def filter_save(by: User, *, name: str, query: str, is_shared: bool) -> SavedFilter:
    """Keep a search under a name; one of the same name is replaced. Sharing it is told by the ledger.

    Raises:
        PermissionDeniedError: the person may not read the ledger.
        SavedFilterError: no name, too long, or too many of them.
    """
    require(by, Permission.AUDIT_READ)
    name, query = storable_text(name).strip(), storable_text(query)
    if not name or len(name) > NAME_LETTERS:
        raise SavedFilterError(f"name: between 1 and {NAME_LETTERS} characters")
    if len(query) > QUERY_LETTERS:
        raise SavedFilterError(f"query: at most {QUERY_LETTERS} characters")
    if query.count("&") >= QUERY_PARTS:
        raise SavedFilterError(f"query: at most {QUERY_PARTS} conditions")
    with transaction.atomic():
        known = SavedFilter.objects.filter(owner=by)
        if known.count() >= FILTERS_A_PERSON and not known.filter(name=name).exists():
            raise SavedFilterError(f"name: at most {FILTERS_A_PERSON} saved searches a person")
        try:
            saved, _ = SavedFilter.objects.update_or_create(
                owner=by, name=name, defaults={"query": query, "is_shared": is_shared}
            )
        except IntegrityError as exc:
            raise SavedFilterError("name: another search has it already") from exc
        if is_shared:
            entry_record(_told(by, "shared", name, query))
    return saved


def filter_remove(by: User, filter_id: UUID) -> None:
    """Forget a search; one's own, or with the right to manage the ledger one that others share.

    Raises:
        SavedFilterNotFoundError: there is none that this person may remove.
    """
    require(by, Permission.AUDIT_READ)
    with transaction.atomic():
        found = filters_of(by).filter(pk=filter_id).first()
        if found is None:
            raise SavedFilterNotFoundError("no such saved search")
        if found.owner_id != by.pk:
            require(by, Permission.AUDIT_MANAGE)
        found.delete()
        if found.is_shared:
            entry_record(_told(by, "removed", found.name, found.query))


def preference_of(by: Principal) -> ListPreference:
    """Give what a person chose for the list of calls; an unsaved default when nothing."""
    if not isinstance(by, User):
        return ListPreference()
    return ListPreference.objects.filter(owner=by).first() or ListPreference(owner=by)


def preference_save(by: User, *, columns: Sequence[str] | None = None, time_zone: str | None = None) -> None:
    """Keep which columns a person wants, in the order of the table, or the time zone; None leaves one as it is.

    Raises:
        SavedFilterError: no such column or time zone.
    """
    require(by, Permission.AUDIT_READ)
    chosen = preference_of(by)
    if columns is not None:
        if unknown := set(columns) - set(COLUMNS):
            raise SavedFilterError(f"columns: no column `{min(unknown)}`")
        chosen.columns = [name for name in COLUMNS if name in columns]
    if time_zone is not None:
        if time_zone and time_zone not in available_timezones():
            raise SavedFilterError(f"time_zone: no time zone `{time_zone[:80]}`")
        chosen.time_zone = time_zone
    ListPreference.objects.update_or_create(
        owner=by, defaults={"columns": chosen.columns, "time_zone": chosen.time_zone}
    )


def columns_of(preference: ListPreference) -> tuple[str, ...]:
    """Name the columns to show."""
    return tuple(name for name in COLUMNS if name in preference.columns) or DEFAULT_COLUMNS


def zone_of(preference: ListPreference) -> tzinfo:
    """Give the time zone in which to read; UTC where none was chosen, or the chosen one is gone."""
    try:
        return ZoneInfo(preference.time_zone or "UTC")
    except (ValueError, OSError):
        return ZoneInfo("UTC")


def _told(by: User, verb: str, name: str, query: str) -> EntryDraft:
    return EntryDraft(kind=EntryKind.SEARCH, actor=by.actor, status=verb, changes={"name": name, "query": query})
