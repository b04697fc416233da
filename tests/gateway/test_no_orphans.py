"""Many calls, each ended in another way: no process of any of them is left, and each has exactly one outcome."""

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.db import connection

from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import sleeping
from tests.gateway.test_decisions import eventually, reload

SECONDS = "43"
TREE = f"bash -c 'sleep {SECONDS} & (sleep {SECONDS} & sleep {SECONDS}) & wait'"
ONE_OUTCOME = """
SELECT count(*) FILTER (WHERE kind = 'call_intent'), count(*) FILTER (WHERE kind = 'call_outcome')
FROM audit_entry WHERE call_id IS NOT NULL GROUP BY call_id
"""


def cancelled(client: httpx.Client, pause_s: float) -> str:
    shown_id = call(client, "exec", {"command": TREE}, wait_ms=int(pause_s * 1000)).json()["id"]
    return str(client.delete(f"/api/v1/calls/{shown_id}?wait=30000").json()["status"])


def timed_out(client: httpx.Client, pause_s: float) -> str:
    answer = call(client, "exec", {"command": TREE, "timeout": 1}).json()
    return str(answer["error"]["code"] if answer["error"] else answer["status"])


def left_by_its_caller(client: httpx.Client, pause_s: float) -> str:
    order = {"agent": "bot", "tool": "exec", "params": {"command": TREE}}
    with pytest.raises(httpx.TimeoutException):
        client.post("/api/v1/calls", json=order, timeout=0.05 + pause_s)
    return "left"


def finished(client: httpx.Client, pause_s: float) -> str:
    command = f"bash -c '(sleep {SECONDS} &); sleep {pause_s}'"
    return str(call(client, "exec", {"command": command}).json()["status"])


WAYS = (cancelled, timed_out, left_by_its_caller, finished)


@pytest.mark.unhurried
@pytest.mark.parametrize("count", [24, pytest.param(500, marks=pytest.mark.slow)])
def test_no_process_outlives_its_call(server: Server, holder: Holder, agent: httpx.Client, count: int) -> None:
    holder.snapshot = snapshot_with(settings={"security": "full", "ask": "off"}, approvals={})
    reload(server)
    secret, chance = agent.headers["authorization"].removeprefix("Bearer "), random.Random(4)
    plan = [(chance.choice(WAYS), chance.uniform(0.0, 0.4)) for _ in range(count)]

    def go(step: tuple[Any, float]) -> str:
        way, pause_s = step
        with server.client(secret) as client:
            return str(way(client, pause_s))

    with ThreadPoolExecutor(4) as pool:
        ended = Counter(pool.map(go, plan))

    assert eventually(lambda: not sleeping(SECONDS))
    assert eventually(lambda: set(outcomes()) <= {(1, 1), (0, 1)}), Counter(outcomes())
    assert set(ended) <= {"cancelled", "command_timed_out", "left", "completed"}, ended


def outcomes() -> list[tuple[int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(ONE_OUTCOME)
        return list(cursor.fetchall())
