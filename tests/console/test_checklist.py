"""The lock of publishing: a line a check, and the first one that locks says what unlocks."""

from typing import Any

import pytest

from apps.console.checklist import checks, first_lock

GOOD: dict[str, Any] = {
    "compiles": True,
    "blocking": 0,
    "warnings": 0,
    "guardrails": 0,
    "tests": 2,
    "failing": 0,
    "is_same": False,
}


def test_a_draft_against_which_nothing_speaks_is_not_locked() -> None:
    found = checks(**GOOD)
    assert {check.state for check in found} == {"passed"}
    assert first_lock(found) is None


def test_warnings_and_sameness_do_not_lock() -> None:
    found = {check.key: check.state for check in checks(**GOOD | {"warnings": 3, "is_same": True})}
    assert (found["warnings"], found["same"]) == ("warned", "neutral")
    assert first_lock(checks(**GOOD | {"warnings": 3, "is_same": True})) is None


@pytest.mark.parametrize(
    ("member", "value", "key"),
    [
        ("compiles", False, "compiles"),
        ("blocking", 1, "findings"),
        ("guardrails", 2, "guardrails"),
        ("failing", 1, "tests"),
    ],
)
def test_each_gate_locks_and_says_what_unlocks(member: str, value: Any, key: str) -> None:
    lock = first_lock(checks(**GOOD | {member: value}))
    assert lock is not None and lock.key == key
    assert str(lock.remedy)


def test_without_tests_there_is_no_line_about_them() -> None:
    assert "tests" not in {check.key for check in checks(**GOOD | {"tests": 0})}
