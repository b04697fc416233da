"""What a card says an "always" would have covered is what the agents' door then runs without asking, call by call."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from threading import Barrier
from typing import Any, Final
from uuid import UUID

import httpx
import pytest
from django.db import connections
from django.utils import timezone

from apps.approvals.drafts import GrantScope
from apps.approvals.models import Approval, Grant
from apps.approvals.services import approval_resolve
from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.models import Entry
from apps.audit.selectors import call_entries
from apps.audit.services import entries_record
from apps.firewall.identifiers import new_id, read_id
from apps.gateway import database
from apps.gateway.covering import coverage
from openclaw_admin.database_url import KEEP_CONNECTION_S
from tests.gateway.command_corpus import PROGRAMS, commands
from tests.gateway.conftest import snapshot_with
from tests.gateway.openclaw_plugin import Plugin
from tests.gateway.server import Holder, Server
from tests.gateway.test_decisions import Token, eventually

ALL: Final = 2_000
SOME: Final = 100
DENIED_EACH: Final = 3
AGENTS: Final = ("bot", "clerk")
SCOPES: Final = tuple(product(("exact", "first", "any"), (False, True)))
"""How far an "always" reaches, and whether for every agent."""
NO_STORM: Final = 1_000_000
Counts = tuple[int, int]
"""Calls, and how many of them had been denied."""
Made = tuple[str, int]
"""One call of the corpus: whose, and which line."""


@pytest.fixture
def dialect() -> str:
    return "2026.9"


@pytest.fixture
def holder(dialect: str) -> Holder:
    """No program is safe by itself: what runs unasked runs because of a standing answer."""
    return Holder(snapshot_with(dialect=dialect, settings={"safeBins": []}))


@pytest.fixture
def kept_connections(transactional_db: None) -> Iterator[None]:
    """Keep the door's connections between uses, as an installation does: to open one takes longer than to ask."""
    given = connections["default"].settings_dict
    usual, given["CONN_MAX_AGE"] = given["CONN_MAX_AGE"], KEEP_CONNECTION_S
    yield
    given["CONN_MAX_AGE"] = usual
    every_thread = Barrier(database.THREADS)

    def close(_number: int) -> None:
        every_thread.wait(60)
        connections.close_all()

    list(database._pool.map(close, range(database.THREADS)))


@pytest.fixture
def agent(kept_connections: None, server: Server, token: Token) -> Iterator[httpx.Client]:
    with server.client(token("calls_make", rate_per_minute=NO_STORM)[1]) as client:
        yield client


def calls_of(lines: list[str]) -> list[Made]:
    """Have both agents write every line, and one of them twice what the other does once."""
    return [(name, number) for name in AGENTS for number in range(len(lines)) if name == "bot" or number % 2]


def record_past(made: list[Made], lines: list[str], environment: Any) -> None:
    """Put the commands into the ledger as calls of long ago; a person denied every third line."""
    given: dict[str, Any] = {"environment": environment.slug, "tool": "exec", "actor": "token:x"}
    drafts = [draft for name, number in made for draft in _past(name, number, lines[number], given)]
    for start in range(0, len(drafts), 200):
        entries_record(drafts[start : start + 200])


def _past(name: str, number: int, line: str, given: dict[str, Any]) -> Iterator[EntryDraft]:
    """Give what the ledger has of one call: that it was to run, or that it was refused because a person denied it."""
    call_id, is_denied = new_id(), number % DENIED_EACH == 0
    if is_denied:
        yield EntryDraft(
            kind=EntryKind.APPROVAL_ANSWERED, status="denied", call_id=call_id, agent=name,
            params={"command": line}, **given,
        )  # fmt: skip
    yield EntryDraft(
        kind=EntryKind.DENIAL if is_denied else EntryKind.CALL_INTENT,
        call_id=call_id,
        agent=name,
        params={"command": line},
        decision=EntryDecision(verdict="deny" if is_denied else "allow"),
        **given,
    )


def make(client: httpx.Client, name: str, command: str) -> str:
    """Make a call of an agent and give its id; it goes on by itself."""
    body = {"agent": name, "tool": "exec", "params": {"command": command}, "wait_ms": 0}
    answer = client.post("/api/v1/calls", json=body)
    assert answer.status_code in {200, 202, 403, 422}, answer.text
    return str(answer.json()["id"])


def request_of(call: str) -> Approval:
    """Give the request of a call once it waits."""
    call_id = read_id("call", call)
    assert eventually(Approval.objects.filter(call_id=call_id).exists)
    return Approval.objects.get(call_id=call_id)


def say_always(client: httpx.Client, turn: int, operator: Any) -> tuple[dict[str, Counts], dict[str, str]]:
    """Say "always" to one call of each program, each with a scope of its own.

    Returns:
        By program what its card said of that scope before; and by grant its program.
    """
    said, program_of = {}, {}
    for number, program in enumerate(each for each in PROGRAMS if each != "env"):
        name, every_agent = SCOPES[(number + turn) % len(SCOPES)]
        approval = request_of(make(client, "bot", f"{program} -l notes.txt"))
        covered = next(each for each in coverage(approval, every_agent=every_agent) if each.reach.name == name)
        said[program] = (covered.calls, covered.denied)
        scope = GrantScope(arg_pattern=covered.reach.arg_pattern, every_agent=every_agent)
        approval_resolve(approval, decision="allow-always", by=operator, at=timezone.now(), scope=scope)
        program_of[Grant.objects.get(approval=approval).shown_id] = program
    return said, program_of


def make_again(client: httpx.Client, made: list[Made], lines: list[str]) -> dict[UUID, int]:
    """Make every call by the agents' door, and wait until each ran, waits for a person or was refused.

    Returns:
        By call its line.
    """
    with ThreadPoolExecutor(4) as pool:
        calls = list(pool.map(lambda each: make(client, each[0], lines[each[1]]), made))
    line_of = {read_id("call", call): number for call, (_, number) in zip(calls, made, strict=True)}
    assert any(eventually(lambda: settled() >= line_of.keys()) for _ in range(10)), len(line_of.keys() - settled())
    return line_of


def settled() -> set[UUID]:
    """Give the calls of which it is known whether they run unasked."""
    known = Entry.objects.filter(kind__in=["grant_used", "denial"]).values_list("call_id", flat=True)
    return {*known, *Approval.objects.values_list("call_id", flat=True)}  # type: ignore[arg-type]


def ran_unasked(line_of: dict[UUID, int], program_of: dict[str, str]) -> dict[str, Counts]:
    """Count by program what ran because of its grant, and how many of these had been denied before."""
    found: dict[str, list[int]] = {program: [] for program in program_of.values()}
    for call_id in Entry.objects.filter(kind="grant_used").values_list("call_id", flat=True):
        if call_id not in line_of:  # one of those that a person was asked about
            continue
        (used,) = (each for each in call_entries(call_id) if each.kind == "grant_used")
        found[program_of[used.changes["grant"]]].append(line_of[call_id])
    return {
        program: (len(numbers), sum(number % DENIED_EACH == 0 for number in numbers))
        for program, numbers in found.items()
    }


def compare(client: httpx.Client, lines: list[str], turn: int, environment: Any, operator: Any) -> dict[str, Counts]:
    made = calls_of(lines)
    record_past(made, lines, environment)
    said, program_of = say_always(client, turn, operator)
    ran = ran_unasked(make_again(client, made, lines), program_of)
    assert ran == said
    return ran


@pytest.mark.unhurried
@pytest.mark.parametrize(("dialect", "turn"), [("2026.9", 0), ("2026.2", 3)])
@pytest.mark.slow
def test_what_is_said_of_an_always_is_what_it_then_runs(
    agent: httpx.Client, environment: Any, operator: Any, turn: int
) -> None:
    ran = compare(agent, list(commands(ALL))[:: ALL // SOME], turn, environment, operator)
    assert sum(calls for calls, _ in ran.values()) > 20


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "turn"), [(("2026.9", "2026.2")[turn % 2], turn) for turn in range(len(SCOPES))])
def test_it_is_for_two_thousand_commands_in_every_scope(
    agent: httpx.Client, environment: Any, operator: Any, turn: int
) -> None:
    ran = compare(agent, list(commands(ALL)), turn, environment, operator)
    assert all(calls for calls, _ in ran.values())


def test_what_gateways_and_other_programs_ran_themselves_counts_nowhere(
    server: Server, agent: httpx.Client, environment: Any
) -> None:
    plugin = Plugin(server)
    plugin.ask("touch -a made", wait_ms=0)
    agent.post(
        "/api/v1/rpc/exec.approval.request", json={"agentId": "bot", "command": "touch -a made", "twoPhase": True}
    )
    assert eventually(lambda: Approval.objects.count() == 2)
    request_of(make(agent, "bot", "touch -a made"))

    covered = coverage(request_of(make(agent, "bot", "touch -a made")))

    assert [(each.reach.name, each.calls) for each in covered] == [("exact", 1), ("first", 1), ("any", 1)]
