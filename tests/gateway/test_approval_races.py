"""Many operators race for the same requests, by every door: one winner each, every loser informed, no double run."""

import json
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.test import Client
from websockets.sync.client import connect

from apps.accounts.models import ApiToken
from apps.accounts.secret_links import hash_secret
from apps.approvals.models import Approval
from apps.approvals.states import DECISION_OF, State
from apps.audit.models import Content, Entry
from tests.gateway.conftest import publish_first
from tests.gateway.processes import until
from tests.gateway.test_decisions import Token
from tests.gateway.test_sudden_death import server_process

DOCUMENT = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "allowlist", "ask": "on-miss"}}}}}}'
WAIT_S = 120
Answer = Callable[[str, str], "Told"]


@dataclass(frozen=True, slots=True)
class Told:
    """What one operator was told: who decided, and what where the door says so."""

    who: str
    what: str = ""


@dataclass
class Operator:
    """One person at one door."""

    name: str
    answer: Answer
    told: dict[str, Told] = field(default_factory=dict)


def by_page(url: str, user: Any, client_of: Callable[..., Client], stack: ExitStack) -> Answer:
    """Answer with the buttons of the page, signed in."""
    csrf = secrets.token_hex(16)
    cookies = {name: morsel.value for name, morsel in client_of(user).cookies.items()} | {"csrftoken": csrf}
    browser = stack.enter_context(httpx.Client(base_url=url, cookies=cookies, timeout=WAIT_S))
    headers = {"X-CSRFToken": csrf, "HX-Request": "true"}

    def answer(shown_id: str, decision: str) -> Told:
        page = browser.post(f"/approvals/{shown_id}/resolve/", data={"decision": decision}, headers=headers)
        assert page.status_code in {200, 409}, page.text[:500]
        found = re.search(r"(?:by |<b>)(Operator \d+)(?: \(token [^)]+\))? (?:at|was faster)", page.text)
        assert found, page.text[:2000]
        return Told(found[1])

    return answer


def person(label: str) -> str:
    """Tell who stood behind the token that answered."""
    return label.partition(" (token ")[0]


def by_rest(url: str, secret: str, stack: ExitStack) -> Answer:
    """Answer by the programs' door."""
    client = stack.enter_context(
        httpx.Client(base_url=url, headers={"Authorization": f"Bearer {secret}"}, timeout=WAIT_S)
    )

    def answer(shown_id: str, decision: str) -> Told:
        got = client.post(f"/api/v1/approvals/{shown_id}/resolve", json={"decision": decision})
        body = got.json()
        if got.status_code == 200:
            return Told(person(body["decided_by"]), body["state"])
        assert (got.status_code, body["code"]) == (409, "approval_already_decided"), body
        details = {each["path"]: each["message"] for each in body["details"]}
        assert details["decided_at"]
        return Told(person(details["decided_by"]), details["state"])

    return answer


def by_socket(url: str, secret: str, stack: ExitStack) -> Answer:
    """Answer over a socket, by OpenClaw's name."""
    headers = {"Authorization": f"Bearer {secret}"}
    address = f"{url.replace('http', 'ws')}/api/v1/rpc"
    socket = stack.enter_context(connect(address, additional_headers=headers, proxy=None, open_timeout=WAIT_S))

    def answer(shown_id: str, decision: str) -> Told:
        params = {"id": shown_id, "decision": decision}
        frame = {"type": "req", "id": shown_id, "method": "exec.approval.resolve", "params": params}
        socket.send(json.dumps(frame))
        while (got := json.loads(socket.recv(timeout=WAIT_S)))["type"] == "event":
            continue  # what the others asked and answered
        if got["ok"]:
            assert got["payload"]["resolvedAtMs"]
            return Told(person(got["payload"]["resolvedBy"]))
        assert got["error"]["code"] == "approval_already_decided", got
        details = {each["path"]: each["message"] for each in got["error"]["details"]}
        assert details["decided_at"]
        return Told(person(details["decided_by"]), details["state"])

    return answer


def token_of(user: Any) -> str:
    """Give an operator a token; its answers carry the operator's name and the token's."""
    secret = f"oca_{secrets.token_hex(32)}"
    scopes = ["approvals_read", "approvals_resolve"]
    ApiToken.objects.create(name=str(user), secret_hash=hash_secret(secret), scopes=scopes, created_by=user)
    return secret


@pytest.fixture
def agent_secret(transactional_db: None, environment: Any, token: Token, tmp_path: Path, settings: Any) -> str:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    return token("calls_make")[1]


@pytest.fixture
def url(agent_secret: str) -> Iterator[str]:
    with server_process() as (_, url):
        yield url


@pytest.mark.unhurried
@pytest.mark.parametrize(("people", "requests"), [(12, 10), pytest.param(50, 200, marks=pytest.mark.slow)])
def test_every_request_has_one_winner_every_loser_knows_and_nothing_runs_twice(
    url: str, agent_secret: str, make_user: Any, client_of: Any, people: int, requests: int
) -> None:
    calls = [ask(url, agent_secret, number) for number in range(requests)]
    until(lambda: Approval.objects.filter(state=State.REQUESTED).count() == requests, seconds=WAIT_S)
    waiting = [approval.shown_id for approval in Approval.objects.all()]

    with ExitStack() as stack:
        operators = []
        for number in range(people):
            user = make_user(f"operator{number}", role="operator")
            user.display_name = f"Operator {number}"
            user.save()
            doors = (
                lambda user=user: by_page(url, user, client_of, stack),
                lambda user=user: by_rest(url, token_of(user), stack),
                lambda user=user: by_socket(url, token_of(user), stack),
            )
            operators.append(Operator(f"Operator {number}", doors[number % len(doors)]()))
        race(operators, waiting)

    check_winners(operators, waiting)
    check_runs(calls)


def ask(url: str, secret: str, number: int) -> int:
    order = {"agent": "bot", "tool": "exec", "params": {"command": f"sh -c 'echo ran >> n{number}'"}, "wait_ms": 0}
    headers = {"Authorization": f"Bearer {secret}"}
    answer = httpx.post(f"{url}/api/v1/calls", json=order | {"idempotency": f"k{number}"}, headers=headers, timeout=60)
    assert answer.status_code == 202, answer.text
    return number


def race(operators: list[Operator], waiting: list[str]) -> None:
    """Have everybody answer everything, each in an order and by a mind of their own."""
    start = Barrier(len(operators))

    def work(number: int, operator: Operator) -> None:
        mind = random.Random(number)
        start.wait(timeout=WAIT_S)
        for shown_id in mind.sample(waiting, len(waiting)):
            operator.told[shown_id] = operator.answer(shown_id, mind.choice(["allow-once", "deny"]))

    with ThreadPoolExecutor(len(operators)) as pool:
        for done in [pool.submit(work, number, operator) for number, operator in enumerate(operators)]:
            done.result()


def check_winners(operators: list[Operator], waiting: list[str]) -> None:
    rows = {approval.shown_id: approval for approval in Approval.objects.all()}
    for shown_id in waiting:
        row = rows[shown_id]
        assert DECISION_OF[State(row.state)] in {"allow-once", "deny"}
        told = [operator.told[shown_id] for operator in operators]
        winner = person(row.decided_by_label)
        assert {each.who for each in told} == {winner}, "somebody was told another winner"
        assert {each.what for each in told} <= {"", row.state}
        winners = [operator for operator in operators if operator.name == winner]
        assert len(winners) == 1
    answers = Counter(Entry.objects.filter(kind="approval_answered").values_list("approval_id", flat=True))
    assert len(answers) == len(waiting) and set(answers.values()) == {1}


def check_runs(calls: list[int]) -> None:
    """What was allowed ran once, what was denied never."""
    allowed = Approval.objects.filter(state=State.ALLOWED_ONCE)
    until(lambda: not allowed.filter(finished_at=None).exists(), seconds=WAIT_S, what="the end of what was allowed")
    folder = Path(django_settings.VAR_DIR) / "workspaces" / "production" / "bot"
    wanted = Counter(
        "n" + command.rsplit("n", 1)[1].strip("'") for command in allowed.values_list("command", flat=True)
    )
    found = {
        name: (folder / name).read_text().split()
        for name in (f"n{number}" for number in calls)
        if (folder / name).exists()
    }
    assert found == {name: ["ran"] for name in wanted}, ends_of(allowed)


def ends_of(approvals: Iterable[Approval]) -> list[tuple[str, str, str, Any]]:
    """Tell how the calls went that did not end well."""
    commands = {approval.call_id: approval.command for approval in approvals}
    ends = Entry.objects.filter(call_id__in=commands, kind__in=["call_outcome", "denial"]).exclude(status="completed")
    errors = dict(Content.objects.filter(call_id__in=commands).values_list("entry_id", "error"))
    return [(commands[end.call_id], end.kind, end.status, errors.get(end.pk)) for end in ends if end.call_id]
