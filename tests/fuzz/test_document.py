"""Every operation of the OpenAPI document, asked by each role and by a program with what it allows and forbids."""

import pytest
import requests

from tests.fuzz.document import Answer, document_bounded, fuzz, operations
from tests.fuzz.served import Served
from tests.seeded import Seeded

pytestmark = pytest.mark.unhurried
SHORT, LONG = 2, 20
EVERY = 8
"""Of so many operations the short series asks one."""


def wrong_after(
    examples: int, running: Served, seeded: Seeded, sessions: dict[str, requests.Session], *, at_once: int, every: int
) -> list[str]:
    """Fuzz one of `every` operations as `at_once` of the sessions in turn, and say which answers may not be."""
    told: list[Answer] = []
    everybody, asked = list(sessions.values()), operations(document_bounded())[::every]
    for number, operation in enumerate(asked):
        asking = [everybody[(number + each) % len(everybody)] for each in range(at_once)]
        fuzz(operation, asking, running.url, seeded, examples=examples, tell=told.append)
    assert running.process.poll() is None, running.said()
    assert len(told) >= len(asked) * at_once
    return [each.wrong for each in told if each.wrong]


def test_no_operation_breaks_or_hangs_over_what_the_document_allows_and_forbids(
    running: Served, seeded: Seeded, sessions: dict[str, requests.Session]
) -> None:
    assert wrong_after(SHORT, running, seeded, sessions, at_once=1, every=EVERY) == []


@pytest.mark.slow
def test_no_operation_breaks_or_hangs_as_any_role(
    running: Served, seeded: Seeded, sessions: dict[str, requests.Session]
) -> None:
    assert wrong_after(LONG, running, seeded, sessions, at_once=len(sessions), every=1) == []
