"""The rules of an approval's life, one function each, so that tests can prove what each of them is needed for."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, Q

from apps.accounts import selectors
from apps.accounts.access import Principal
from apps.accounts.models import ApiToken
from apps.approvals.models import Approval
from apps.approvals.states import State

SILENCE_COUNTS = timedelta(seconds=60)


def is_open(approval: Approval) -> bool:
    """Say whether nobody has answered yet; asked with the row locked."""
    return approval.is_pending


def is_in_time(approval: Approval, at: datetime) -> bool:
    """Say whether an answer now is not too late, whether or not the sweep has been here."""
    return approval.frozen_at is not None or at < approval.expires_at


def silence_allows(approval: Approval, at: datetime) -> bool:
    """Say whether a request runs because nobody answered: a setting says so, and its time ended just now.

    What was missed while no sweep was running is denied: nobody expects it to run hours later.
    """
    return bool(approval.fallback_rule) and approval.runs_here and at < approval.expires_at + SILENCE_COUNTS


def may_be_allowed(approval: Approval) -> bool:
    """Say whether nobody has stopped what was asked for: the kill switch freezes requests as they are."""
    return approval.frozen_at is None


def compare_and_set(approval: Approval, **values: Any) -> bool:
    """Write the end of a request, if and only if it still is as it was read.

    Returns:
        False when somebody else was faster; nothing was written then.
    """
    unchanged = Approval.objects.filter(pk=approval.pk, state=State.REQUESTED, version=approval.version)
    return bool(unchanged.update(**values, version=F("version") + 1))


def is_own(approval: Approval, by: Principal) -> bool:
    """Say whether a person or token would answer for itself.

    The requester is the token that made the call, the person whose token or try-it made it, and whatever token that
    person has.
    """
    made_by = {approval.actor, approval.requester} - {""}
    answers = {getattr(by, "actor", "")}
    if isinstance(by, ApiToken) and by.created_by is not None:
        answers.add(by.created_by.actor)
    return bool(made_by & answers)


def caller_ended(approval: Approval, at: datetime) -> str:
    """Say why the call that a request is about may not be made any more by whoever made it; empty when it may."""
    for actor in dict.fromkeys((approval.actor, approval.requester)):
        ended = selectors.caller_ended(actor, environment=approval.environment.slug, agent=approval.agent, at=at)
        if ended:
            return ended
    return ""


def caller_gone(approval: Approval, at: datetime) -> str:
    """Say that whoever asked does not wait for the answer any more; empty while it may."""
    if approval.waits_until is None or at < approval.waits_until:
        return ""
    return f"{approval.host or 'the caller'} no longer waits for the answer"


def standing_at(at: datetime) -> Q:
    """Give the condition of grants that have not ended."""
    return Q(expires_at=None) | Q(expires_at__gt=at)
