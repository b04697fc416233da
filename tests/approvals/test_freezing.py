"""Time that stands still: what the kill switch does to requests that wait."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Q

from apps.approvals.errors import ApprovalFrozenError
from apps.approvals.freezing import approvals_freeze
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_now
from apps.approvals.services import approval_resolve, approvals_expire
from apps.registry.models import Environment
from tests.approvals.conftest import NOON

Ask = Callable[..., Approval]
HELD = Q(agent="ops-runner")


def now(approval: Approval) -> Approval:
    found = approval_now(approval.pk)
    assert found is not None
    return found


def test_a_frozen_request_keeps_the_time_it_had_left(environment: Environment, ask: Ask) -> None:
    approval, other = ask(), ask(agent="main")

    assert approvals_freeze(environment, HELD, at=NOON + timedelta(seconds=50)) == 1
    assert approvals_expire(NOON + timedelta(hours=1)) == 1
    assert (now(approval).state, now(other).state) == ("requested", "expired")

    assert approvals_freeze(environment, Q(), at=NOON + timedelta(hours=2)) == 0
    assert now(approval).expires_at == NOON + timedelta(hours=2, seconds=70)
    assert approvals_expire(NOON + timedelta(hours=2, seconds=69)) == 0
    assert approvals_expire(NOON + timedelta(hours=2, seconds=70)) == 1


def test_freezing_again_changes_nothing(environment: Environment, ask: Ask) -> None:
    approval = ask()
    approvals_freeze(environment, HELD, at=NOON + timedelta(seconds=10))

    assert approvals_freeze(environment, HELD, at=NOON + timedelta(seconds=99)) == 0
    assert now(approval).frozen_at == NOON + timedelta(seconds=10)


def test_a_frozen_request_can_be_denied_and_not_allowed(environment: Environment, ask: Ask, colleague: Any) -> None:
    approval = ask()
    approvals_freeze(environment, HELD, at=NOON)

    for decision in ("allow-once", "allow-always"):
        with pytest.raises(ApprovalFrozenError):
            approval_resolve(approval, decision=decision, by=colleague, at=NOON)
    assert now(approval).state == "requested"

    assert approval_resolve(approval, decision="deny", by=colleague, at=NOON).state == "denied"


def test_requests_of_another_environment_go_on(environment: Environment, ask: Ask) -> None:
    elsewhere = Environment.objects.create(slug="staging", name="Staging")
    approval = ask(environment=elsewhere)

    assert approvals_freeze(environment, Q(state="requested"), at=NOON) == 0
    assert now(approval).frozen_at is None
