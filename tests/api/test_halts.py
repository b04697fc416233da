"""The kill switch for programs."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.api.conftest import Program

WANTED = {"scope": "tool", "name": "exec", "reason": "wait"}


def test_a_program_stops_asks_and_lifts(environment: Any, program: Callable[..., Program]) -> None:
    client = program("policy_read", "calls_stop")

    made = client.post("halts", WANTED)
    assert (made.status_code, made.json()["state"], made.json()["frozen"]) == (201, "stopped", 0)
    shown_id = made.json()["id"]
    listed = client.get("halts").json()
    assert ([each["id"] for each in listed["halts"]], listed["processes"]) == ([shown_id], [])

    assert client.post(f"halts/{shown_id}/ask", None).json()["state"] == "asking"
    assert client.post(f"halts/{shown_id}/lift", None).json()["state"] == "lifted"
    assert client.get("halts").json()["halts"] == []
    again = client.post(f"halts/{shown_id}/lift", None)
    assert (again.status_code, again.json()["code"]) == (409, "halt_lifted")


def test_the_same_twice_is_a_conflict(environment: Any, program: Callable[..., Program]) -> None:
    client = program("calls_stop")
    client.post("halts", WANTED)

    again = client.post("halts", WANTED)

    assert (again.status_code, again.json()["code"]) == (409, "halt_exists")


def test_mistakes_are_named(environment: Any, program: Callable[..., Program]) -> None:
    answer = program("calls_stop").post("halts", {"scope": "environment", "name": "x", "reason": "y"})

    assert (answer.status_code, answer.json()["details"][0]["path"]) == (422, "name")


@pytest.mark.parametrize("scopes", [("policy_read",), ("policy_write",), ("approvals_resolve",)])
def test_stopping_takes_its_own_scope(
    environment: Any, program: Callable[..., Program], scopes: tuple[str, ...]
) -> None:
    assert program(*scopes).post("halts", WANTED).status_code == 403
