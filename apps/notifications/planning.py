"""No silence: a request that nobody answers goes from channel to channel while its time runs.

The open console hears of it at once. The first channel that reaches anybody is due when half its time is over, the
following ones staggered. Whoever it escalates to is told on the channels that were taken by then, one at least.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from uuid import UUID

from django.conf import settings
from django.db import transaction

from apps.approvals.answerers import answerers_of
from apps.approvals.escalating import waited
from apps.approvals.models import Approval
from apps.approvals.rows import approval_locked
from apps.approvals.states import State as ApprovalState
from apps.notifications.models import Delivery, Preference, Reminder, Subscription, Webhook
from apps.notifications.people import is_quiet
from apps.notifications.places import Place, email_place, push_place, webhook_place
from apps.registry.probing import PROBES

SHARES: Final = (0.5, 0.65, 0.8)
"""Shares of a request's time after which the first, second and third channel is taken."""
ESCALATED: Final = 10
DANGERS: Final = frozenset({"destructive", "secret_in_arguments", "download_to_shell", "pipe_to_shell"})


def deliveries_plan(at: datetime) -> int:
    """Put what is due now in the queue. Harmless to repeat, and to race.

    Returns:
        How many messages are new.
    """
    return sum(_remind(pk, at) for pk in _due(at))


def is_high_risk(approval: Approval) -> bool:
    """Say whether a request is one that also reaches those who want few."""
    return approval.severity == "high" or any(item.get("code") in DANGERS for item in approval.evidence)


def _due(at: datetime) -> Iterator[UUID]:
    waiting = Approval.objects.filter(state=ApprovalState.REQUESTED, frozen_at=None, expires_at__gt=at)
    wanted = ("pk", "requested_at", "expires_at", "frozen_at", "stood_still", "escalated_at", "reminder__step")
    for approval in waiting.exclude(environment__slug=PROBES).select_related("reminder").only(*wanted):
        reminder = getattr(approval, "reminder", None)
        if _step(approval, at) > (0 if reminder is None else reminder.step):
            yield approval.pk


def _taken(approval: Approval, at: datetime) -> int:
    """Tell how many channels a request has come to."""
    whole = approval.expires_at - approval.requested_at - approval.stood_still
    share = waited(approval, at) / whole if whole else 1.0
    return max(sum(share >= limit for limit in SHARES), int(approval.escalated_at is not None))


def _step(approval: Approval, at: datetime) -> int:
    return _taken(approval, at) + (ESCALATED if approval.escalated_at is not None else 0)


def _remind(approval_id: UUID, at: datetime) -> int:
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if not approval.is_pending or approval.frozen_at is not None or at >= approval.expires_at:
            return 0
        reminder, _new = Reminder.objects.select_for_update().get_or_create(approval=approval)
        if _step(approval, at) <= reminder.step:
            return 0
        reminder.step = _step(approval, at)
        reminder.save(update_fields=["step"])
        channels = [places for places in _channels(approval, at) if places][: _taken(approval, at)]
        wanted = [place.delivery(approval.environment, approval, at) for places in channels for place in places]
        told = set(Delivery.objects.filter(approval=approval).values_list("target", flat=True))
        return len(Delivery.objects.bulk_create([each for each in wanted if each.target not in told]))


def _channels(approval: Approval, at: datetime) -> Iterator[list[Place]]:
    """Give the places of each channel, in the order of the channels."""
    people = answerers_of(approval, at)
    chosen = {row.person_id: row for row in Preference.objects.filter(person__in=people).select_related("person")}
    high = is_high_risk(approval)
    loud = [person for person in people if not is_quiet(chosen.get(person.pk), is_high_risk=high)]
    yield [push_place(row) for row in Subscription.objects.filter(person__in=loud).select_related("person")]
    mailboxes = [chosen[person.pk] for person in loud if person.pk in chosen and chosen[person.pk].email]
    yield [email_place(row) for row in mailboxes] if settings.EMAIL_HOST else []
    yield [webhook_place(row) for row in Webhook.objects.filter(environment=approval.environment, is_active=True)]
