"""Which requests offer no "always", and what is said instead."""

import httpx
import pytest

from apps.approvals.models import Approval
from apps.approvals.scopes import always_is_off, reaches_of
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
