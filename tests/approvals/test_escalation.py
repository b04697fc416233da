"""Requests that nobody answers go to others as well: once, on record, and without taking anything from anybody."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Q

from apps.approvals.answerers import answerers_of
from apps.approvals.answering import (
    answer_rule_add,
    answer_rule_change,
    answer_rule_move,
    answer_rule_remove,
    answer_rules,
)
from apps.approvals.errors import NotAnApproverError, TeamInUseError
from apps.approvals.escalating import approvals_escalate
from apps.approvals.freezing import approvals_freeze
from apps.approvals.models import Approval
from apps.approvals.selectors import approval_now
from apps.approvals.services import approval_resolve
from apps.approvals.teams import team_add, team_change, team_remove
from apps.audit.models import Entry
from tests.approvals.conftest import NOON

Ask = Callable[..., Approval]
pytestmark = pytest.mark.django_db


def after(seconds: float) -> Any:
    return NOON + timedelta(seconds=seconds)


def now(approval: Approval) -> Approval:
    found = approval_now(approval.pk)
    assert found is not None
    return found


def test_after_its_time_a_request_goes_to_others_as_well(
    ask: Ask, environment: Any, operator: Any, admin: Any, colleague: Any
) -> None:
    team_add(environment, name="leads", people=["tomas"])
    answer_rule_add(environment, name="night", people=["operator"], escalate_after_s=60, escalate_teams=["leads"])
    approval = ask()
    assert [approvals_escalate(after(59)), approvals_escalate(after(60)), approvals_escalate(after(61))] == [0, 1, 0]
    assert now(approval).escalated_at == after(60)
    (entry,) = Entry.objects.filter(approval_id=approval.pk, kind="approval_escalated")
    assert entry.changes == {"rule": "night", "to": {"roles": [], "people": [], "teams": ["leads"]}}
    with pytest.raises(NotAnApproverError):
        approval_resolve(approval, decision="deny", by=admin, at=after(62))
    assert {person.username for person in answerers_of(now(approval), after(62))} == {"operator", "tomas"}
    assert approval_resolve(approval, decision="allow-once", by=colleague, at=after(62)).is_allowed


def test_before_that_they_may_not_and_those_before_still_may(
    ask: Ask, environment: Any, operator: Any, colleague: Any
) -> None:
    fields: dict[str, Any] = {"escalate_after_s": 60, "escalate_people": ["tomas"]}
    answer_rule_add(environment, name="night", people=["operator"], **fields)
    early, late = ask(), ask()
    with pytest.raises(NotAnApproverError):
        approval_resolve(early, decision="allow-once", by=colleague, at=after(5))
    approvals_escalate(after(60))
    assert approval_resolve(late, decision="allow-once", by=operator, at=after(61)).is_allowed


def test_time_that_stood_still_does_not_count(ask: Ask, environment: Any, operator: Any) -> None:
    answer_rule_add(environment, name="night", escalate_after_s=60, escalate_roles=["admin"])
    ask()
    approvals_freeze(environment, Q(agent="ops-runner"), at=after(30))
    assert approvals_escalate(after(500)) == 0
    approvals_freeze(environment, Q(), at=after(1000))
    assert [approvals_escalate(after(1029)), approvals_escalate(after(1030))] == [0, 1]


def test_what_was_answered_or_ran_out_does_not_escalate(ask: Ask, environment: Any, operator: Any) -> None:
    answer_rule_add(environment, name="night", escalate_after_s=60, escalate_roles=["admin"])
    answered = ask()
    ask()
    approval_resolve(answered, decision="deny", by=operator, at=after(5))
    assert approvals_escalate(after(121)) == 0


def test_looking_at_many_requests_takes_few_queries(
    ask: Ask, environment: Any, django_assert_max_num_queries: Any
) -> None:
    answer_rule_add(environment, name="night", escalate_after_s=100, escalate_roles=["admin"])
    for _ in range(20):
        ask()
    with django_assert_max_num_queries(3):
        assert approvals_escalate(after(99)) == 0


def test_a_team_is_who_is_in_it_now(ask: Ask, environment: Any, operator: Any, colleague: Any) -> None:
    team = team_add(environment, name="night", people=["operator"])
    answer_rule_add(environment, name="r", teams=["night"])
    approval = ask()
    with pytest.raises(NotAnApproverError):
        approval_resolve(approval, decision="deny", by=colleague, at=after(1))
    team_change(team, people=["operator", "tomas"])
    assert approval_resolve(approval, decision="deny", by=colleague, at=after(1)).state == "denied"


def test_whom_it_escalated_to_may_answer_whatever_becomes_of_the_rule(
    ask: Ask, environment: Any, operator: Any, admin: Any, colleague: Any
) -> None:
    team_add(environment, name="leads", people=["tomas"])
    rule = answer_rule_add(environment, name="a", people=["operator"], escalate_after_s=60, escalate_teams=["leads"])
    answer_rule_add(environment, name="b", people=["operator"])
    changed, removed = ask(), ask()
    assert approvals_escalate(after(60)) == 2
    answer_rule_change(rule, escalate_after_s=None, escalate_teams=[])
    assert now(changed).escalated_to == {"roles": [], "people": [], "teams": ["leads"]}
    assert approval_resolve(changed, decision="allow-once", by=colleague, at=after(61)).is_allowed
    answer_rule_remove(rule)
    with pytest.raises(NotAnApproverError):
        approval_resolve(removed, decision="deny", by=admin, at=after(62))
    assert approval_resolve(removed, decision="allow-once", by=colleague, at=after(62)).is_allowed


def test_a_renamed_team_is_renamed_wherever_it_is_named(ask: Ask, environment: Any, colleague: Any, admin: Any) -> None:
    team = team_add(environment, name="leads", people=["tomas"])
    other = team_add(environment, name="others", people=["admin"])
    night: dict[str, Any] = {"escalate_after_s": 60, "escalate_teams": ["others", "leads"]}
    answer_rule_add(environment, name="night", teams=["others"], **night)
    answer_rule_add(environment, name="day", teams=["leads", "others"])
    approval = ask()
    assert approvals_escalate(after(60)) == 1

    team_change(team, name="heads")

    assert [(rule.teams, rule.escalate_teams) for rule in answer_rules(environment)] == [
        (["others"], ["others", "heads"]),
        (["heads", "others"], []),
    ]
    for each in (team, other):
        with pytest.raises(TeamInUseError):
            team_remove(each)
    assert now(approval).escalated_to == {"roles": [], "people": [], "teams": ["others", "heads"]}
    assert approval_resolve(approval, decision="allow-once", by=colleague, at=after(61)).is_allowed


def test_a_changed_order_holds_for_the_next_answer(ask: Ask, environment: Any, operator: Any, admin: Any) -> None:
    answer_rule_add(environment, name="a", roles=["admin"])
    second = answer_rule_add(environment, name="b", roles=["operator"])
    approval = ask()
    with pytest.raises(NotAnApproverError):
        approval_resolve(approval, decision="deny", by=operator, at=after(1))
    answer_rule_move(second, before="a")
    assert [rule.name for rule in answer_rules(environment)] == ["b", "a"]
    answer_rule_change(second, roles=["operator"], quorum=1)
    assert approval_resolve(approval, decision="deny", by=operator, at=after(1)).state == "denied"


@pytest.mark.django_db(transaction=True)
def test_many_sweepers_escalate_it_once(ask: Ask, environment: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    answer_rule_add(environment, name="night", escalate_after_s=60, escalate_roles=["admin"])
    approvals = [ask() for _ in range(5)]

    def sweep(_: int) -> int:
        try:
            return approvals_escalate(after(60))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(sweep, range(4))) == 5
    for approval in approvals:
        assert Entry.objects.filter(approval_id=approval.pk, kind="approval_escalated").count() == 1
