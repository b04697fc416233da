"""What is erased here of a subject: what people were shown and asked, and the rules that came of it."""

from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.approvals.models import Approval, Grant
from apps.approvals.records import SYSTEM, grant_entry
from apps.approvals.states import ALLOWED, State
from apps.audit.drafts import EntryKind
from apps.audit.retention.erasers import Eraser, Subject
from apps.audit.services import entry_record

BATCH: Final = 500
EMPTY: Final[dict[str, Any]] = {
    "title": "",
    "command": "",
    "argv": [],
    "resolved_path": "",
    "cwd": "",
    "params": {},
    "evidence": [],
    "parts": [],
    "warnings": [],
    "reason": "",
    "sender_name": "",
    "decision_reason": "",
    "scope": None,
    "drift": None,
    "sealed_action": None,
}
EMPTY_GRANT: Final[dict[str, Any]] = {
    "pattern": "",
    "arg_pattern": "",
    "sealed_argv": None,
    "params_digest": "",
    "shown": "",
}


def filled(empty: dict[str, Any]) -> Q:
    """Give the condition for rows in which any of these members is not empty."""
    condition = Q()
    for name, value in empty.items():
        condition |= Q(**{f"{name}__isnull": False}) if value is None else ~Q(**{name: value})
    return condition


def _requests(subject: Subject) -> QuerySet[Approval]:
    return Approval.objects.filter(subject.rows() | Q(call_id__in=subject.calls()))


def _count(subject: Subject) -> int:
    return _requests(subject).filter(filled(EMPTY)).count() + _grants(subject).count()


def _open(subject: Subject) -> int:
    waits = Q(state=State.REQUESTED) | Q(state__in=sorted(ALLOWED), claimed_at__isnull=False, finished_at=None)
    return _requests(subject).filter(waits).count()


def _grants(subject: Subject) -> QuerySet[Grant]:
    return Grant.objects.filter(filled(EMPTY_GRANT), approval__in=_requests(subject))


def _erase(subject: Subject, at: datetime) -> int:
    """A rule that came of a request quotes it: it ends, so that the next such call asks again."""
    grants = list(_grants(subject).select_related("environment")[:BATCH])
    for grant in grants:
        _grant_end(grant, at)
    found = list(_requests(subject).filter(filled(EMPTY)).order_by().values_list("pk", flat=True)[:BATCH])
    return len(grants) + Approval.objects.filter(pk__in=found).update(**EMPTY)


@transaction.atomic
def _grant_end(grant: Grant, at: datetime) -> None:
    for name, value in EMPTY_GRANT.items():
        setattr(grant, name, value)
    was_standing = grant.revoked_at is None
    if was_standing:
        grant.revoked_at, grant.revoked_by_label = at, "erasure"
    grant.save(update_fields=[*EMPTY_GRANT, "revoked_at", "revoked_by_label"])
    if was_standing:
        entry_record(grant_entry(grant, EntryKind.GRANT_REVOKED, actor=SYSTEM, at=at))


ERASER: Final = Eraser(
    name="approvals",
    label=_("Requests and the rules they left"),
    models=(Approval, Grant),
    count=_count,
    erase=_erase,
    open=_open,
)
