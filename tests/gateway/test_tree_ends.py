"""How soon the whole tree of a foreground call is gone after its end was wanted: `docs/async.md` states the figures."""

import threading
import time
from collections.abc import Callable

import httpx
import pytest

from tests.gateway.conftest import call, leaves, snapshot_with
from tests.gateway.server import Holder, Server
from tests.gateway.test_calls import sleeping
from tests.gateway.test_decisions import reload

GENEROUS_S = 30.0
TIMEOUT_S = 2
SECONDS = "47"
# shells and sleeps in several generations, one of them in a session of its own, deaf to what may be ignored
TREE = f"bash -c 'trap \"\" TERM HUP INT; sleep {SECONDS} & (sleep {SECONDS} & setsid sleep {SECONDS}) & wait; wait'"
PARTS = 3
RUNS = 3


def until(holds: Callable[[], bool]) -> float:
    """Wait, and say when it was so; on the monotonic clock, in seconds."""
    end = time.monotonic() + GENEROUS_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.002)
    return time.monotonic()


def cancelled(client: httpx.Client) -> tuple[float, float]:
    shown_id = call(client, "exec", {"command": TREE}, wait_ms=0).json()["id"]
    until(lambda: len(sleeping(SECONDS)) == PARTS)
    wanted = time.monotonic()
    ending = threading.Thread(target=lambda: client.delete(f"/api/v1/calls/{shown_id}"))
    ending.start()
    gone = until(lambda: not sleeping(SECONDS))
    ending.join()
    return wanted, gone


def left(client: httpx.Client) -> tuple[float, float]:
    order = {"agent": "bot", "tool": "exec", "params": {"command": TREE}}
    leaves(client, "/api/v1/calls", order, once=lambda: len(sleeping(SECONDS)) == PARTS)
    wanted = time.monotonic()
    return wanted, until(lambda: not sleeping(SECONDS))


def timed_out(client: httpx.Client) -> tuple[float, float]:
    call(client, "exec", {"command": TREE, "timeout": TIMEOUT_S}, wait_ms=0)
    begun = until(lambda: bool(sleeping(SECONDS)))
    return begun + TIMEOUT_S, until(lambda: not sleeping(SECONDS))


WAYS = {"cancel": cancelled, "disconnect": left, "time-out": timed_out}


@pytest.mark.unhurried
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
def test_the_whole_tree_is_gone_soon_after_its_end_was_wanted(
    server: Server, holder: Holder, agent: httpx.Client, way: str
) -> None:
    holder.snapshot = snapshot_with(settings={"security": "full", "ask": "off"}, approvals={})
    reload(server)

    took_ms = []
    for _ in range(RUNS):
        wanted, gone = WAYS[way](agent)
        took_ms.append(round((gone - wanted) * 1000))

    assert max(took_ms) < GENEROUS_S * 1000, took_ms
