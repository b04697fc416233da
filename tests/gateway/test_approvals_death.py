"""kill -9 of the web server and of a worker while requests wait: all are back with their deadlines, and none ran."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve
from apps.approvals.states import State
from apps.audit.models import Entry
from tests.gateway.conftest import publish_first
from tests.gateway.processes import Installation, end, until
from tests.gateway.test_approval_races import DOCUMENT
from tests.gateway.test_decisions import Token


@pytest.fixture
def secret(transactional_db: None, environment: Any, token: Token, tmp_path: Path, settings: Any) -> str:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    return token("calls_make", "approvals_read")[1]


@pytest.fixture
def installation(secret: str, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        made = Installation(tmp_path)
        stack.enter_context(made.redis())
        stack.enter_context(made.beat())
        yield made


def ask(installation: Installation, secret: str, number: int) -> str:
    """Ask about a call that leaves a line each time it runs; every other one is to be run by a worker."""
    order = {"agent": "bot", "tool": "exec", "params": {"command": f"sh -c 'echo ran >> n{number}'"}, "wait_ms": 0}
    if number % 2:
        order["mode"] = "async"
    headers = {"Authorization": f"Bearer {secret}"}
    answer = httpx.post(f"{installation.url}/api/v1/calls", json=order, headers=headers, timeout=60)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def listed(installation: Installation, secret: str) -> dict[str, int]:
    """Ask the server what waits, with the deadlines."""
    headers = {"Authorization": f"Bearer {secret}"}
    answer = httpx.post(f"{installation.url}/api/v1/rpc/exec.approval.list", json={}, headers=headers, timeout=60)
    return {each["id"]: each["expiresAtMs"] for each in answer.json()["approvals"]}


def runs() -> dict[str, list[str]]:
    folder = Path(django_settings.VAR_DIR) / "workspaces" / "production" / "bot"
    return {path.name: path.read_text().split() for path in folder.glob("n*")}


@pytest.mark.unhurried
@pytest.mark.parametrize("count", [12, 100])
@pytest.mark.slow
def test_what_waits_survives_a_kill_of_web_and_worker_and_nothing_runs_without_an_answer(
    installation: Installation, secret: str, operator: Any, count: int
) -> None:
    with installation.server() as server, installation.worker() as worker:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda number: ask(installation, secret, number), range(count)))
        until(lambda: Approval.objects.filter(state=State.REQUESTED).count() == count, what="every question")
        before = listed(installation, secret)
        end(server)
        end(worker)
    assert len(before) == count

    # while everything is down
    waiting = list(Approval.objects.order_by("requested_at"))
    approval_resolve(waiting[0], decision="allow-once", by=operator, at=timezone.now())
    approval_resolve(waiting[1], decision="deny", by=operator, at=timezone.now())

    with installation.server(), installation.worker():
        after = listed(installation, secret)
        answered = {waiting[0].shown_id, waiting[1].shown_id}
        assert after == {shown_id: at for shown_id, at in before.items() if shown_id not in answered}
        until(lambda: len(runs()) == 1, what="the run that was allowed")

        allowed = Approval.objects.exclude(pk__in=[waiting[0].pk, waiting[1].pk])[:4]
        for approval in allowed:
            approval_resolve(approval, decision="allow-once", by=operator, at=timezone.now())
        until(lambda: len(runs()) == 1 + len(allowed), what="the runs that were allowed")
        outcomes = Entry.objects.filter(kind="call_outcome", status="completed")
        until(lambda: outcomes.count() == 1 + len(allowed), what="their outcomes")

    assert set(map(len, runs().values())) == {1}
    intents = set(Entry.objects.filter(kind="call_intent").values_list("call_id", flat=True))
    assert intents == set(Approval.objects.filter(state=State.ALLOWED_ONCE).values_list("call_id", flat=True))
    assert Approval.objects.filter(state=State.REQUESTED).count() == count - 2 - len(allowed)
