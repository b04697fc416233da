"""Records that paths name by their names: each can be read, changed and removed, or is refused at once."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from apps.approvals.models import AnswerRule, Team
from apps.notifications.models import Webhook
from tests.api.conftest import Program

KINDS: dict[str, dict[str, Any]] = {
    "approvals/rules": {"roles": ["auditor"]},
    "approvals/teams": {"people": ["operator"]},
    "notifications/webhooks": {"url": "https://hooks.example/"},
}


@pytest.fixture
def client(environment: Any, operator: Any, program: Callable[..., Program]) -> Program:
    return program("policy_read", "policy_write", "approvals_read")


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", ["Night shift/ops", "x/move", "a\\b", ".", "..", " ops", "ops ", "o\u200bps", "a\nb"])
def test_a_name_that_paths_cannot_carry_is_refused_by_field_and_rule(client: Program, kind: str, name: str) -> None:
    answer = client.post(kind, {"name": name, **KINDS[kind]})

    if answer.status_code == 201:  # blanks around it were cut off
        assert answer.json()["name"] == name.strip()
    else:
        assert answer.status_code == 422
        assert {each["path"] for each in answer.json()["details"]} == {"name"}


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("name", ["Night shift", "50 % off?", "Nacht#1", "夜班", "a&b=c+d", "move"])
def test_every_name_that_is_taken_in_can_be_read_changed_and_removed(client: Program, kind: str, name: str) -> None:
    made = client.post(kind, {"name": name, **KINDS[kind]})
    assert made.status_code == 201
    path = f"{kind}/{quote(name, safe='')}"

    assert client.get(path).json()["name"] == name
    changed = client.ask("PATCH", path, {"version": made.json()["version"], "name": f"{name} 2"})
    assert changed.status_code == 200, changed.content
    assert client.ask("DELETE", f"{kind}/{quote(f'{name} 2', safe='')}").status_code == 204


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_names_that_differ_in_capital_letters_alone_are_one_name(client: Program, kind: str) -> None:
    assert client.post(kind, {"name": "Ops", **KINDS[kind]}).status_code == 201

    again = client.post(kind, {"name": "ops", **KINDS[kind]})

    assert (again.status_code, again.json()["details"][0]["code"]) == (422, "taken")


@pytest.mark.parametrize("name", ["Night shift/ops", "x/move"])
def test_what_an_earlier_version_let_in_is_still_reached(
    client: Program, environment: Any, operator: Any, name: str
) -> None:
    AnswerRule.objects.create(environment=environment, name=name, roles=["auditor"])
    Team.objects.create(environment=environment, name=name, people=[operator.username])
    Webhook.objects.create(environment=environment, name=name, url="https://hooks.example/")

    for kind in KINDS:
        path = f"{kind}/{quote(name, safe='')}"
        assert client.get(path).json()["name"] == name
        change = {"quorum": 2} if kind == "approvals/rules" else KINDS[kind]
        assert client.ask("PATCH", path, {"version": 1, **change}).status_code == 200
        assert client.ask("DELETE", path).status_code == 204
