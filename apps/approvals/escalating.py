"""What nobody answered goes to others as well: they may answer then, and are told. Never instead of those before."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from apps.approvals import rules
from apps.approvals.answerers import answer_rule_of
from apps.approvals.models import AnswerRule, Approval
from apps.approvals.records import escalation_entry
from apps.approvals.rows import approval_locked, approval_save
from apps.approvals.states import State
from apps.audit.services import entry_record
from apps.events.clock import clock_check
from apps.events.notices import announce


def approvals_escalate(at: datetime) -> int:
    """Take every request that waited for as long as its rule says to those whom the rule names then.

    Harmless to repeat, and to race: a request escalates once.

    Returns:
        How many escalated now.
    """
    clock_check()
    return sum(_escalate_one(pk, at) for pk in _due(at))


def waited(approval: Approval, at: datetime) -> timedelta:
    """Tell for how long people could answer a request; time that stood still does not count."""
    return (approval.frozen_at or at) - approval.requested_at - approval.stood_still


def _due(at: datetime) -> Iterator[UUID]:
    escalating = AnswerRule.objects.filter(escalate_after_s__isnull=False).values_list("environment_id", flat=True)
    for environment_id in set(escalating):
        listed = list(AnswerRule.objects.filter(environment_id=environment_id).select_related("environment"))
        waiting = Approval.objects.filter(
            environment_id=environment_id, state=State.REQUESTED, escalated_at=None, frozen_at=None, expires_at__gt=at
        )
        for approval in waiting.select_related("environment"):
            if _is_due(approval, answer_rule_of(approval, listed), at):
                yield approval.pk


def _is_due(approval: Approval, rule: AnswerRule | None, at: datetime) -> bool:
    if rule is None or rule.escalate_after_s is None or approval.frozen_at is not None:
        return False
    return waited(approval, at) >= timedelta(seconds=rule.escalate_after_s)


def _escalate_one(approval_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if not rules.is_open(approval) or approval.escalated_at is not None or not rules.is_in_time(approval, at):
            return False
        rule = answer_rule_of(approval)
        if rule is None or not _is_due(approval, rule, at):
            return False
        to = {"roles": rule.escalate_roles, "people": rule.escalate_people, "teams": rule.escalate_teams}
        approval.escalated_at, approval.escalated_to = at, to
        approval_save(approval, "escalated_at", "escalated_to")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
        entry_record(escalation_entry(approval, rule=rule.name, to=to, at=at))
    return True
