"""kill -9 of a worker, and of the broker, while asynchronous calls run: each has an outcome, none ran twice."""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.db import connection
from redis import Redis

from apps.firewall.identifiers import read_id
from apps.gateway.models import AsyncCall
from tests.gateway.conftest import publish_first
from tests.gateway.processes import Installation, end, until
from tests.gateway.test_calls import kinds
from tests.gateway.test_decisions import Token

DOCUMENT = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "full", "ask": "off"}}}}}}'
ENDED = {"completed", "failed", "unknown"}


@pytest.fixture
def secret(transactional_db: None, environment: Any, token: Token, tmp_path: Path, settings: Any) -> str:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    return token("calls_make")[1]


@pytest.fixture
def installation(secret: str, tmp_path: Path) -> Iterator[Installation]:
    with ExitStack() as stack:
        made = Installation(tmp_path)
        stack.enter_context(made.server())
        yield made


def make(installation: Installation, secret: str, number: int) -> str:
    """Make a call that leaves one line in a file of its own each time it runs, and goes on while they are held."""
    command = f"sh -c 'echo ran >> n{number}; sleep 0.1; while test -e held; do touch waits; sleep 0.1; done'"
    order = {"agent": "bot", "tool": "exec", "params": {"command": command}, "mode": "async"}
    answer = httpx.post(
        f"{installation.url}/api/v1/calls", json=order, headers={"Authorization": f"Bearer {secret}"}, timeout=60
    )
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def make_many(installation: Installation, secret: str, count: int) -> list[str]:
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda number: make(installation, secret, number), range(count)))


def runs(count: int) -> list[int]:
    """Tell how often each call ran, by what it left."""
    found = [folder() / f"n{number}" for number in range(count)]
    return [len(each.read_text().split()) if each.exists() else 0 for each in found]


def folder() -> Path:
    return Path(django_settings.VAR_DIR) / "workspaces" / "production" / "bot"


@contextmanager
def in_the_middle(ids: list[str]) -> Iterator[None]:
    """Come when some calls have ended and others run, and have these run on until the block ends."""
    until(lambda: some_ended(ids, 0.1), what="the first outcomes")
    (folder() / "held").touch()
    try:
        until((folder() / "waits").exists, what="a call that runs")
        yield
    finally:
        (folder() / "held").unlink()


def outcomes(ids: list[str]) -> Counter[str]:
    rows = AsyncCall.objects.filter(pk__in=[read_id("call", each) for each in ids])
    found = Counter(rows.values_list("outcome", flat=True))
    connection.close()
    return found


def some_ended(ids: list[str], share: float) -> bool:
    return sum(outcomes(ids)[each] for each in ENDED) >= len(ids) * share


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def check(ids: list[str], count: int) -> Counter[str]:
    """Every call has exactly one outcome, and none ran twice."""
    found = outcomes(ids)
    assert sum(found[each] for each in ENDED) == count, found
    assert max(runs(count)) == 1
    for shown_id in ids:
        assert [kind for kind, _ in kinds(shown_id)].count("call_outcome") == 1, kinds(shown_id)
    return found


@pytest.mark.unhurried
@pytest.mark.parametrize("count", [30, 200])
@pytest.mark.slow
def test_a_killed_worker_leaves_unknown_and_repeats_nothing(
    installation: Installation, secret: str, count: int
) -> None:
    with installation.redis(), installation.beat():
        with installation.worker() as worker:
            ids = make_many(installation, secret, count)
            with in_the_middle(ids):
                end(worker)
        assert not some_ended(ids, 1.0)
        with installation.worker():
            until(lambda: some_ended(ids, 1.0), seconds=180, what="an outcome of every call")

    found = check(ids, count)
    assert found["unknown"] >= 1
    assert found["failed"] == 0


@pytest.mark.slow
def test_a_killed_child_of_a_worker_is_replaced_and_its_calls_are_unknown(
    installation: Installation, secret: str
) -> None:
    with installation.redis(), installation.beat(), installation.worker(concurrency=1) as worker:
        ids = make_many(installation, secret, 20)
        with in_the_middle(ids):
            (child,) = children(worker.pid)
            os.kill(child, signal.SIGKILL)
        until(lambda: some_ended(ids, 1.0), seconds=180, what="an outcome of every call")

    assert check(ids, 20)["unknown"] >= 1


@pytest.mark.unhurried
@pytest.mark.parametrize("count", [30, 200])
@pytest.mark.slow
def test_a_broker_that_is_killed_and_comes_back_loses_no_call(
    installation: Installation, secret: str, count: int
) -> None:
    with installation.worker(), installation.beat():
        with installation.redis() as redis:
            first = make_many(installation, secret, count // 2)
            end(redis)
        second = [make(installation, secret, number) for number in range(count // 2, count)]
        ids = first + second
        time.sleep(1)
        with installation.redis():
            until(lambda: some_ended(ids, 1.0), seconds=180, what="an outcome of every call")

    assert check(ids, count) == Counter(completed=count)


@pytest.mark.unhurried
@pytest.mark.slow
def test_a_worker_whose_broker_goes_away_while_it_begins_waits_for_it(installation: Installation, secret: str) -> None:
    with installation.redis() as redis, installation.worker() as worker:
        until(lambda: clients(installation) > 1, what="the worker's first connection")
        end(redis)
        with installation.redis(), installation.beat():
            ids = make_many(installation, secret, 2)
            until(lambda: some_ended(ids, 1.0) or worker.poll() is not None, seconds=180, what="an outcome")
            assert worker.poll() is None, installation.said()

    assert check(ids, 2) == Counter(completed=2)


def clients(installation: Installation) -> int:
    with Redis.from_url(installation.redis_url) as redis:
        return len(redis.client_list())


@pytest.mark.unhurried
@pytest.mark.slow
def test_a_worker_that_is_told_to_end_leaves_each_call_with_its_outcome(
    installation: Installation, secret: str
) -> None:
    with installation.redis(), installation.worker() as worker:
        ids = make_many(installation, secret, 6)
        until(lambda: some_ended(ids, 0.1), what="the first outcomes")
        worker.send_signal(signal.SIGTERM)
        worker.wait(timeout=60)

    open_rows = AsyncCall.objects.filter(state="running").count()
    assert open_rows == 0
    assert max(runs(6)) == 1


@pytest.mark.unhurried
@pytest.mark.slow
def test_a_call_is_ended_in_whatever_process_it_runs(installation: Installation, secret: str) -> None:
    headers = {"Authorization": f"Bearer {secret}"}
    with (
        installation.redis(),
        installation.beat(),
        installation.worker(),
        httpx.Client(base_url=installation.url, headers=headers, timeout=60) as client,
    ):
        order = {"agent": "bot", "tool": "exec", "params": {"command": "sleep 51"}, "mode": "async"}
        shown_id = client.post("/api/v1/calls", json=order).json()["id"]
        until(lambda: kinds(shown_id) == [("call_intent", "started")], what="the run")
        answer = client.delete(f"/api/v1/calls/{shown_id}").json()

    assert (answer["status"], answer["error"]["code"]) == ("cancelled", "cancelled")
