"""The queue: who sees it, in which order, with which figures; and what is closed when nobody ran it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.accounts.models import ApiToken
from apps.approvals.access import approval_access, grant_access
from apps.approvals.errors import ApprovalNotFoundError, GrantNotFoundError
from apps.approvals.models import Approval, Grant
from apps.approvals.running import CLAIM_WINDOW, approval_claim, approvals_abandon
from apps.approvals.selectors import (
    approval_counts,
    approval_now,
    approval_of_call,
    approvals_pending,
    approvals_recent,
    past_calls_like,
)
from apps.approvals.services import approval_request, approval_resolve, approvals_expire
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.selectors import call_record
from apps.audit.services import boot_id, entry_record
from apps.firewall.identifiers import new_id
from apps.registry.models import Environment
from tests.approvals.conftest import NOON

pytestmark = pytest.mark.django_db

SOON = NOON + timedelta(seconds=9)
Ask = Callable[..., Approval]


def test_the_one_with_the_least_time_left_comes_first(
    draft_for: Callable[..., Any], environment: Environment, django_assert_num_queries: Any
) -> None:
    asked = [approval_request(draft_for(), at=NOON, timeout_s=seconds) for seconds in (300, 60, 120)]
    with django_assert_num_queries(1):
        pending = list(approvals_pending(environment))
        assert {one.environment.slug for one in pending} == {"production"}
    assert pending == [asked[1], asked[2], asked[0]]


def test_each_environment_has_its_own_queue(ask: Ask) -> None:
    staging = Environment.objects.create(slug="staging", name="Staging")
    here, there = ask(), ask(environment=staging)
    assert list(approvals_pending(staging)) == [there]
    assert set(approvals_pending()) == {here, there}


def test_what_ended_last_comes_first_in_the_recent_list(ask: Ask, operator: Any, environment: Environment) -> None:
    first, second, _ = ask(), ask(), ask()
    approval_resolve(second, decision="deny", by=operator, at=SOON)
    approval_resolve(first, decision="allow-once", by=operator, at=SOON + timedelta(seconds=1))
    assert approvals_recent(environment) == [first, second]
    assert approvals_recent(environment, limit=1) == [first]


def test_the_figures_of_a_shift(ask: Ask, operator: Any, environment: Environment) -> None:
    for decision, seconds in (("allow-once", 10), ("deny", 20)):
        approval_resolve(ask(), decision=decision, by=operator, at=NOON + timedelta(seconds=seconds))
    ask()
    approvals_expire(NOON + timedelta(seconds=120))
    ask()
    counts = approval_counts(environment, since=NOON)
    assert (counts.pending, counts.decided, counts.allowed, counts.denied, counts.expired) == (1, 3, 1, 1, 1)
    assert (counts.average_wait_ms, counts.longest_wait_ms) == (50_000, 120_000)
    later = approval_counts(None, since=NOON + timedelta(hours=1))
    assert (later.decided, later.average_wait_ms) == (0, None)


def test_a_request_is_found_by_its_call(ask: Ask) -> None:
    approval = ask()
    assert approval_of_call(approval.call_id) == approval_now(approval.pk) == approval
    assert approval_of_call(new_id()) is None


def test_who_may_see_and_who_may_answer(
    ask: Ask, admin: Any, operator: Any, auditor: Any, viewer: Any, outsider: Any
) -> None:
    approval = ask()
    for person in (admin, operator):
        assert approval_access(person, approval.pk, write=True) == approval
    for person in (auditor, viewer):
        assert approval_access(person, approval.pk) == approval
        with pytest.raises(PermissionDeniedError):
            approval_access(person, approval.pk, write=True)
    with pytest.raises(ApprovalNotFoundError):
        approval_access(outsider, approval.pk)
    with pytest.raises(ApprovalNotFoundError):
        approval_access(admin, new_id())


def test_a_token_of_another_environment_does_not_learn_that_a_request_exists(ask: Ask, admin: Any) -> None:
    token = ApiToken.objects.create(
        name="t", secret_hash="x", environment="staging", scopes=["approvals_read"], created_by=admin
    )
    with pytest.raises(ApprovalNotFoundError):
        approval_access(token, ask().pk)
    token.environment = "production"
    assert approval_access(token, ask().pk)


def test_who_may_see_and_who_may_revoke_a_grant(ask: Ask, operator: Any, viewer: Any, outsider: Any) -> None:
    approval_resolve(ask(), decision="allow-always", by=operator, at=SOON)
    grant = Grant.objects.get()
    assert grant_access(operator, grant.pk, write=True) == grant_access(viewer, grant.pk) == grant
    with pytest.raises(PermissionDeniedError):
        grant_access(viewer, grant.pk, write=True)
    for person, grant_id in ((outsider, grant.pk), (operator, new_id())):
        with pytest.raises(GrantNotFoundError):
            grant_access(person, grant_id)


def test_an_always_says_how_many_past_calls_it_would_have_covered(ask: Ask, operator: Any) -> None:
    agent = f"agent-{new_id().hex[-8:]}"
    params = {"command": "curl -fsS https://status.example/health", "env": {"API_TOKEN": "canary-12345"}}
    for number in range(3):
        past = EntryDraft(
            kind=EntryKind.CALL_INTENT,
            environment="production",
            agent=agent,
            tool="exec",
            call_id=new_id(),
            params=params,
            at=NOON - timedelta(hours=number + 1),
        )
        entry_record(past)
    denied = ask(agent=agent, params=params)
    approval_resolve(denied, decision="deny", by=operator, at=SOON)
    Approval.objects.filter(pk=denied.pk).update(requested_at=NOON)
    now = ask(agent=agent, params=params)
    now.requested_at = NOON + timedelta(minutes=1)
    like = past_calls_like(now)
    assert like.calls == 5 and like.denied == 1


def test_an_allowed_action_that_nobody_ran_is_closed_and_told(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    assert approvals_abandon(SOON) == 0
    assert [approvals_abandon(SOON + CLAIM_WINDOW), approvals_abandon(SOON + CLAIM_WINDOW)] == [1, 0]
    stored = Approval.objects.get(pk=approval.pk)
    assert stored.sealed_action is None and stored.state == "allowed_once"
    record = call_record(approval.call_id)
    assert record is not None and record.status == "denied" and "no runner" in record.reason


def test_an_action_that_a_runner_took_is_left_to_it(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    approval_claim(approval.pk, boot=boot_id(), at=SOON)
    assert approvals_abandon(SOON + CLAIM_WINDOW) == 0
