"""Undo for programs: a token takes back what it saved itself."""

from typing import Any
from uuid import uuid4

import pytest

from apps.policies.models import Agent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def writer(program: Any, draft: Any) -> Any:
    """A program that has just denied a tool."""
    made = program("policy_read", "policy_write")
    agent = made.get("agents").json()["results"][0]
    answer = made.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": ["read"]})
    assert answer.status_code == 200, answer.content
    return made


def test_the_newest_change_is_read_and_taken_back(writer: Any) -> None:
    told = writer.get("draft/undo").json()
    assert (told["action"], told["kind"], told["place"]) == ("changed", "agent", "agents.entries.main")
    answer = writer.post("draft/undo", {"change": told["change"]})
    assert (answer.status_code, answer.json()) == (200, told)
    assert Agent.objects.get().deny == ["exec"]
    again = writer.post("draft/undo", {"change": told["change"]})
    assert (again.status_code, again.json()["code"]) == (409, "undo_conflict")


def test_without_an_id_it_is_the_newest_change_of_ones_own(writer: Any, program: Any) -> None:
    other = program("policy_read", "policy_write")
    assert other.post("draft/undo", {}).status_code == 404
    assert other.get("draft/undo").status_code == 404
    change = writer.get("draft/undo").json()["change"]
    refused = other.post("draft/undo", {"change": change})
    assert (refused.status_code, refused.json()["code"]) == (409, "undo_refused")
    assert writer.post("draft/undo", {}).status_code == 200
    assert Agent.objects.get().deny == ["exec"]


def test_what_cannot_be_read_or_found_is_refused(writer: Any) -> None:
    assert writer.post("draft/undo", {"change": "x"}).status_code in {400, 422}
    assert writer.post("draft/undo", {"change": str(uuid4())}).status_code == 404


def test_reading_rights_undo_nothing(writer: Any, program: Any) -> None:
    assert program("policy_read").post("draft/undo", {}).status_code == 403
    assert program("explain").get("draft/undo").status_code == 403
    assert program().post("draft/undo", {}).status_code == 401
    assert Agent.objects.get().deny == ["read"]
