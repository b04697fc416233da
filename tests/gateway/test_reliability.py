"""kill -9 of the web server and of a worker at random points: the tools' own account and the ledger agree."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from apps.audit.verification import verify_chains
from bench.__main__ import rewrite
from tests.gateway.accounts_of_tools import LOST, Account, Storm
from tests.gateway.conftest import publish_first
from tests.gateway.processes import Installation
from tests.gateway.test_decisions import Token

DOCUMENT = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "full", "ask": "off"}}}}}}'
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
FULL = 10_000
BEGIN = "<!-- figures: written by make test-all -->"


@pytest.fixture
def secret(transactional_db: None, environment: Any, token: Token, tmp_path: Path, settings: Any) -> str:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    return token("calls_make")[1]


@pytest.fixture
def installation(secret: str, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        made = Installation(tmp_path)
        stack.enter_context(made.redis())
        stack.enter_context(made.beat())
        yield made


@pytest.mark.unhurried
@pytest.mark.parametrize(("count", "kills"), [(100, 3), pytest.param(FULL, 40, marks=pytest.mark.slow)])
def test_what_ran_and_what_is_recorded_agree_whenever_processes_are_killed(
    installation: Installation, secret: str, count: int, kills: int
) -> None:
    account = Storm(installation, secret, count=count, kills=kills).run()

    assert len(account.answers) == count
    assert account.unaccounted == []
    assert account.twice == []
    assert account.contradicted == []
    assert verify_chains().problems == []
    if count == FULL:
        rewrite(PAGE, table(account), begin=BEGIN)


def table(account: Account) -> str:
    outcomes = account.outcomes()
    lost = sum(said == LOST for said in account.answers.values())
    rows = [
        ("calls made", len(account.answers)),
        ("kill -9 of the web server, of the worker", f"{account.kills['web']}, {account.kills['worker']}"),
        ("callers that got no answer, since the server died", lost),
        ("runs that the tools counted", sum(account.ran.values())),
        ("outcomes `completed`", outcomes["completed"]),
        ("outcomes `unknown`: killed in the middle", outcomes["unknown"] - len(account.never_began)),
        ("outcomes `unknown`: killed before they began", len(account.never_began)),
        (
            "refused, each with its denial; other outcomes",
            sum(outcomes.values()) - outcomes["completed"] - outcomes["unknown"],
        ),
        ("runs or answers without their entries", len(account.unaccounted)),
        ("calls that ran twice", len(account.twice)),
        ("outcomes that contradict the tools", len(account.contradicted)),
        ("seconds", round(account.seconds)),
    ]
    return "\n".join(["| What | Found |", "|---|---|", *(f"| {what} | {found} |" for what, found in rows)])
