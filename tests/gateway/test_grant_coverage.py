"""Which requests offer no "always", and what is said instead."""

from typing import Any

import httpx
import pytest

from apps.approvals.models import Approval
from apps.approvals.scopes import always_is_off, reaches_of
from tests.api.conftest import Program
from tests.gateway.test_waiting import asked


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("python3 -c 'print(1)'", "shell"),
        ("bash -c 'ls -l'", "shell"),
        ("ls | sort", "shell"),
        ("LANG=C ls", "shell"),
    ],
)
def test_code_shells_and_wrappers_offer_no_always_and_say_why(agent: httpx.Client, command: str, reason: str) -> None:
    asked(agent, {"command": command})
    approval = Approval.objects.get()
    assert (reaches_of(approval), always_is_off(approval)) == ([], reason)


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("ls 2>&1", "shell", "cannot be saved as a rule"),
        ("uname > machine", "shell", "cannot be saved as a rule"),
        ("uname -a", "", ""),
    ],
)
def test_programs_read_why_a_request_offers_no_always(
    agent: httpx.Client, token: Any, command: str, code: str, says: str
) -> None:
    asked(agent, {"command": command})
    reader = Program(token("approvals_read", name="reader")[1])
    (listed,) = reader.get("approvals").json()
    shown = reader.get(f"approvals/{listed['id']}").json()

    assert shown["always_off"] == listed["always_off"]
    assert ("allow-always" in shown["decisions"]) == (not code)
    if code:
        assert shown["always_off"]["code"] == code and says in shown["always_off"]["reason"]["en"]
    else:
        assert shown["always_off"] is None
