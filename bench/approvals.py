"""From a call that asks to the event in an operator's websocket, beside a program that polls for the same approval.

Both clocks start when the agent's program sends its call: deciding, the row, its entry in the ledger, the commit, the
notice and the socket are all inside.
"""

import asyncio
import json
import random
import re
import time
from collections.abc import Iterable

import httpx
from websockets.asyncio.client import ClientConnection, connect

from bench._installation import Installation, installation
from bench.figures import Figure, percentile, shown

ROUNDS, WARM, POLL_S, GIVE_UP_S, LIMIT_S = 200, 10, 0.1, 10.0, 0.060
COMMAND = {"agent": "main", "tool": "exec", "wait_ms": 0}


def measure() -> Iterable[Figure]:
    """Ask 200 times, one after the other, through the served application."""
    with installation() as place, place.serve("--demo"):
        secret = place.token("calls_make", "approvals_read", "approvals_resolve")
        place.run("-m", "bench._no_storms")
        pushed, polled = asyncio.run(_rounds(place, secret))
    what = f"approval asked to event in an operator's socket, {len(pushed)} rounds"
    p99 = percentile(pushed, 0.99)
    value = f"p50 {shown(percentile(pushed, 0.5))}, p99 {shown(p99)}"
    yield Figure(what, value, "p99 ≤ 60 ms", p99 <= LIMIT_S)
    value = f"p50 {shown(percentile(polled, 0.5))}, p99 {shown(percentile(polled, 0.99))}"
    yield Figure("the same, seen by a client that polls every 100 ms", value)
    factor = percentile(polled, 0.5) / percentile(pushed, 0.5)
    yield Figure("the same, how much sooner the socket is (medians)", f"{factor:.1f}x")


async def _rounds(place: Installation, secret: str) -> tuple[list[float], list[float]]:
    chance = random.Random(5)
    cookie = await asyncio.to_thread(sign_in, place)
    address = place.url.replace("http", "ws", 1) + "/ws/console/"
    headers = {"Authorization": f"Bearer {secret}"}
    pushed, polled = [], []
    async with (
        connect(address, origin=place.url, additional_headers={"Cookie": cookie}) as socket,  # type: ignore[arg-type]
        httpx.AsyncClient(base_url=place.url, headers=headers, timeout=30) as agent,
        httpx.AsyncClient(base_url=place.url, headers=headers, timeout=30) as poller,
    ):
        await _event(socket, "hello")
        for number in range(WARM + ROUNDS):
            await asyncio.sleep(chance.uniform(0, POLL_S))
            asked = time.perf_counter()
            hearing = asyncio.create_task(_event(socket, "approval.requested"))
            seeing = asyncio.create_task(_seen(poller, chance.uniform(0, POLL_S)))
            answer = await agent.post("/api/v1/calls", json=COMMAND | {"params": {"command": f"touch bench-{number}"}})
            if answer.status_code != 202:
                raise RuntimeError(f"the call did not ask: {answer.status_code} {answer.text}")
            heard_at, approval = await hearing
            seen_at, seen = await seeing
            if approval != seen:
                raise RuntimeError(f"heard of {approval}, saw {seen}")
            if number >= WARM:
                pushed.append(heard_at - asked)
                polled.append(seen_at - asked)
            denied = await agent.post(f"/api/v1/approvals/{approval}/resolve", json={"decision": "deny"})
            denied.raise_for_status()
            await _event(socket, "approval.resolved")
    return pushed, polled


def sign_in(place: Installation) -> str:
    """Sign the operator in through the page, as a browser does, and return the cookies."""
    with httpx.Client(base_url=place.url, follow_redirects=True, timeout=30) as browser:
        page = browser.get("/sign-in/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
        if token is None:
            raise RuntimeError(f"no sign-in form at {page.url}: {page.status_code}")
        form = {"csrfmiddlewaretoken": token[1], "login": "operator", "password": place.passwords["operator"]}
        browser.post(str(page.url), data=form, headers={"Referer": str(page.url), "Origin": place.url})
        if "sessionid" not in browser.cookies:
            raise RuntimeError("the operator could not sign in")
        return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


async def _event(socket: ClientConnection, kind: str) -> tuple[float, str]:
    """Wait for an event of a kind; the instant and its id."""
    async with asyncio.timeout(GIVE_UP_S):
        while True:
            message = json.loads(await socket.recv())
            if message["type"] == kind:
                return time.perf_counter(), message.get("id", "")


async def _seen(poller: httpx.AsyncClient, first_s: float) -> tuple[float, str]:
    """Ask for the pending approvals every 100 ms until there is one; the instant and its id."""
    async with asyncio.timeout(GIVE_UP_S):
        await asyncio.sleep(first_s)
        while True:
            started = time.perf_counter()
            found = await poller.get("/api/v1/approvals")
            found.raise_for_status()
            body = found.json()
            rows = body["results"] if isinstance(body, dict) else body
            if rows:
                return time.perf_counter(), rows[0]["id"]
            await asyncio.sleep(max(0.0, POLL_S - (time.perf_counter() - started)))
