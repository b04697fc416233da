"""The queue's "Assigned to me": what rules leave to a person, and nothing else."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.answering import answer_rule_add, deputy_name
from apps.approvals.services import approval_resolve
from apps.approvals.teams import team_add

pytestmark = pytest.mark.django_db
Shown = Callable[..., set[str]]


@pytest.fixture
def shown(client_of: Callable[..., Client]) -> Shown:
    """Give the agents whose requests somebody's list of their own shows; every part of the page says the same."""

    def look(person: Any, *, agents: tuple[str, ...] = ("ops", "sales", "free")) -> set[str]:
        browser = client_of(person)
        page = browser.get("/approvals/?for=me").content.decode()
        part = browser.get("/approvals/queue/?for=me").content.decode()
        found = {agent for agent in agents if f'data-agent="{agent}"' in page}
        assert found == {agent for agent in agents if f'data-agent="{agent}"' in part}
        return found

    return look


@pytest.fixture
def waiting(ask: Callable[..., Any]) -> dict[str, Any]:
    return {agent: ask(agent=agent) for agent in ("ops", "sales", "free")}


def test_without_a_rule_nothing_is_anybodys_own(waiting: dict[str, Any], shown: Shown, operator: Any) -> None:
    assert shown(operator) == set()


def test_a_person_a_role_and_a_team_are_ways_to_be_named(
    waiting: dict[str, Any], shown: Shown, environment: Any, operator: Any, admin: Any
) -> None:
    team_add(environment, name="night", people=[operator.username])
    answer_rule_add(environment, name="a", agents=["ops"], teams=["night"])
    answer_rule_add(environment, name="b", agents=["sales"], roles=["admin"])
    assert (shown(operator), shown(admin)) == ({"ops"}, {"sales"})


def test_a_deputy_sees_what_is_left_to_whoever_is_away(
    waiting: dict[str, Any], shown: Shown, environment: Any, operator: Any, admin: Any
) -> None:
    answer_rule_add(environment, name="a", agents=["ops"], people=[admin.username])
    assert shown(operator) == set()
    deputy_name(admin, deputy=operator.username, until=timezone.now() + timedelta(days=1), at=timezone.now())
    assert shown(operator) == {"ops"}


def test_an_own_request_and_one_that_waits_for_others_are_not_ones_own_to_answer(
    ask: Callable[..., Any], shown: Shown, environment: Any, operator: Any, admin: Any
) -> None:
    answer_rule_add(environment, name="two", roles=["operator", "admin"], quorum=2)
    ask(agent="ops", requester=operator.actor)
    sales = ask(agent="sales")
    approval_resolve(sales, decision="allow-once", by=operator, at=timezone.now())
    assert (shown(operator), shown(admin)) == (set(), {"ops", "sales"})


def test_a_single_card_says_whose_it_is(
    waiting: dict[str, Any], environment: Any, client_of: Callable[..., Client], operator: Any, admin: Any
) -> None:
    answer_rule_add(environment, name="a", agents=["ops"], people=[operator.username])
    url = f"/approvals/{waiting['ops'].shown_id}/card/"
    mine, other = (
        client_of(who).get(url, headers={"hx-request": "true"}).content.decode() for who in (operator, admin)
    )
    assert 'data-mine="yes"' in mine and 'data-mine=""' in other
