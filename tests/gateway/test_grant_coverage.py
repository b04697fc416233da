"""What a card says an "always" would have covered is what the runtime then runs without asking, command by command."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.approvals.drafts import GrantScope
from apps.approvals.models import Approval, Grant
from apps.approvals.scopes import always_is_off, reaches_of
from apps.approvals.services import approval_resolve
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.models import Entry
from apps.audit.services import entries_record
from apps.firewall.identifiers import new_id, show_id
from apps.gateway.covering import coverage
from tests.gateway.command_corpus import commands, seeds
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import Token, eventually
from tests.gateway.test_waiting import asked

ALL = 2_000
DENIED_EACH = 3
Counts = dict[str, tuple[int, int]]


@pytest.fixture
def dialect() -> str:
    return "2026.9"


@pytest.fixture
def holder(dialect: str) -> Holder:
    """No program is safe by itself: what runs unasked runs because of a standing answer."""
    return Holder(snapshot_with(dialect=dialect, settings={"safeBins": []}))


@pytest.fixture
def agent(server: Server, token: Token) -> Iterator[httpx.Client]:
    with server.client(token("calls_make", rate_per_minute=100_000)[1]) as client:
        yield client


def record_past(lines: list[str], environment: Any) -> None:
    """Put the commands into the ledger as calls of long ago; every third of them was denied."""
    given = {"environment": environment.slug, "agent": "bot", "tool": "exec", "actor": "token:x"}
    decision = {True: EntryDecision(verdict="deny"), False: EntryDecision(verdict="allow")}
    drafts = [
        EntryDraft(
            kind=EntryKind.DENIAL if number % DENIED_EACH == 0 else EntryKind.CALL_INTENT,
            call_id=new_id(),
            params={"command": line},
            decision=decision[number % DENIED_EACH == 0],
            **given,
        )
        for number, line in enumerate(lines)
    ]
    for start in range(0, len(drafts), 200):
        entries_record(drafts[start : start + 200])


def allow_seeds(agent: httpx.Client, turn: int, operator: Any) -> tuple[Counts, dict[str, str]]:
    """Say "always" to one call of each program; what was said of it before, and the program of each grant."""
    said: Counts = {}
    programs = {}
    for program, arguments, name in seeds(turn):
        body = asked(agent, {"command": " ".join([program, *arguments])})
        approval = next(each for each in Approval.objects.all() if each.shown_call_id == body["id"])
        covered = {each.reach.name: each for each in coverage(approval)}
        said[program] = (covered[name].calls, covered[name].denied)  # type: ignore[index]
        reach = next(each for each in reaches_of(approval) if each.name == name)
        scope = GrantScope(arg_pattern=reach.arg_pattern)
        approval_resolve(approval, decision="allow-always", by=operator, at=timezone.now(), scope=scope)
        programs[Grant.objects.get(approval=approval).shown_id] = program
    return said, programs


def make_again(agent: httpx.Client, lines: list[str]) -> dict[str, int]:
    """Make every call by the agents' door; which call was which line, once each ran, waits or was refused."""
    before = known()
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda line: call(agent, "exec", {"command": line}, wait_ms=0), lines))
    assert {answer.status_code for answer in answers} <= {200, 202, 403, 422}, Counter(a.text for a in answers)
    assert any(eventually(lambda: known() - before == len(lines)) for _ in range(10))
    return {answer.json()["id"]: number for number, answer in enumerate(answers) if "id" in answer.json()}


def known() -> int:
    used, denied = (Entry.objects.filter(kind=kind).count() for kind in ("grant_used", "denial"))
    return Approval.objects.count() + used + denied


def matched(numbers: dict[str, int], programs: dict[str, str]) -> Counts:
    """Count by program what the runtime let run because of its grant, and how many of these were denied before."""
    found: dict[str, list[int]] = {program: [] for program in programs.values()}
    for entry in Entry.objects.filter(kind="grant_used"):
        found[programs[entry.changes["grant"]]].append(numbers[show_id("call", entry.call_id)])
    return {
        program: (len(lines), sum(number % DENIED_EACH == 0 for number in lines)) for program, lines in found.items()
    }


def compare(agent: httpx.Client, lines: list[str], turn: int, environment: Any, operator: Any) -> Counts:
    record_past(lines, environment)
    said, programs = allow_seeds(agent, turn, operator)
    ran = matched(make_again(agent, lines), programs)
    assert said == ran
    return ran


@pytest.mark.unhurried
@pytest.mark.parametrize(("dialect", "turn"), [("2026.9", 0), ("2026.2", 1)])
def test_what_is_said_of_an_always_is_what_it_then_runs(
    agent: httpx.Client, environment: Any, operator: Any, turn: int
) -> None:
    lines = list(commands(ALL))[:: ALL // 200]
    ran = compare(agent, lines, turn, environment, operator)
    assert sum(count for count, _ in ran.values()) > 5


@pytest.mark.slow
@pytest.mark.unhurried
@pytest.mark.parametrize("turn", [0, 1, 2])
@pytest.mark.parametrize("dialect", ["2026.9", "2026.2"])
def test_it_is_for_two_thousand_commands_in_every_reach(
    agent: httpx.Client, environment: Any, operator: Any, turn: int
) -> None:
    ran = compare(agent, list(commands(ALL)), turn, environment, operator)
    assert all(count for count, _ in ran.values())


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("python3 -c 'print(1)'", "shell"),
        ("bash -c 'ls -l'", "shell"),
        ("ls | sort", "shell"),
        ("LANG=C ls", "shell"),
        ("nice ls", "shell"),
    ],
)
def test_code_shells_and_wrappers_offer_no_always_and_say_why(agent: httpx.Client, command: str, reason: str) -> None:
    asked(agent, {"command": command})
    approval = Approval.objects.get()
    assert (reaches_of(approval), always_is_off(approval)) == ([], reason)
