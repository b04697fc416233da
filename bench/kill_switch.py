"""From the click on Stop to the last of 20 connected clients that is refused, alone and beside 200 slow clients."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx

from bench._installation import Installation, installation
from bench.figures import Figure, percentile, shown
from tests.slow_clients import KINDS, keep_slow

CLIENTS, ROUNDS, WARM, GIVE_UP_S, LIMIT_S = 20, 30, 2, 10.0, 1.0
ASK_EVERY_S = 0.02
SLOW_CLIENTS = 200
ASKED = {"agent": "main", "tool": "read"}
STOP = {"scope": "agent", "name": "main", "reason": "bench"}


def measure() -> Iterable[Figure]:
    """Stop an agent while 20 programs, each with a token and a connection of its own, ask for it again and again."""
    with installation() as place, place.serve("--demo"):
        secrets = [place.token("decisions_ask") for _ in range(CLIENTS)]
        presser = place.token("calls_stop", "policy_read")
        for slow in (0, SLOW_CLIENTS):
            refused, heard, answered = asyncio.run(_rounds(place, presser, secrets, slow))
            beside = f", beside {slow} clients that say half or do not read" if slow else ""
            what = f"stop pressed to the last of {CLIENTS} connected clients refused{beside}, {len(refused)} times"
            p99 = percentile(refused, 0.99)
            yield Figure(what, f"p50 {shown(percentile(refused, 0.5))}, p99 {shown(p99)}", "p99 ≤ 1 s", p99 <= LIMIT_S)
            yield Figure("the same, to the answer of who pressed", _spread(answered))
            yield Figure("the same, to every process having said that it holds to it", _spread(heard))


def _spread(times: list[float]) -> str:
    return f"p50 {shown(percentile(times, 0.5))}, p99 {shown(percentile(times, 0.99))}"


def _client(place: Installation, secret: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {secret}"}
    one = httpx.Limits(max_connections=1)
    return httpx.AsyncClient(base_url=place.url, headers=headers, timeout=30, limits=one)


@asynccontextmanager
async def _beside(place: Installation, count: int) -> AsyncIterator[None]:
    port = urlsplit(place.url).port or 0
    slow = [asyncio.create_task(keep_slow(KINDS[number % len(KINDS)], port)) for number in range(count)]
    try:
        yield
    finally:
        for each in slow:
            each.cancel()
        await asyncio.gather(*slow, return_exceptions=True)


async def _rounds(
    place: Installation, secret: str, secrets: list[str], slow: int
) -> tuple[list[float], list[float], list[float]]:
    refused, heard, answered = [], [], []
    async with _beside(place, slow), _client(place, secret) as person:
        clients = [_client(place, each) for each in secrets]
        try:
            for number in range(WARM + ROUNDS):
                await asyncio.gather(*(_until(client, allowed=True) for client in clients))
                waiting = [asyncio.create_task(_until(client, allowed=False)) for client in clients]
                await asyncio.sleep(0.1)
                pressed = time.perf_counter()
                stopped = await person.post("/api/v1/halts", json=STOP)
                answered_at = time.perf_counter()
                stopped.raise_for_status()
                known_at = await _heard(person)
                last = max(await asyncio.gather(*waiting))
                (await person.post(f"/api/v1/halts/{stopped.json()['id']}/lift")).raise_for_status()
                if number >= WARM:
                    refused.append(last - pressed)
                    heard.append(known_at - pressed)
                    answered.append(answered_at - pressed)
        finally:
            await asyncio.gather(*(client.aclose() for client in clients))
    return refused, heard, answered


async def _until(client: httpx.AsyncClient, *, allowed: bool) -> float:
    """Ask until the answer is as wanted; return when that was."""
    until = time.perf_counter() + GIVE_UP_S
    while time.perf_counter() < until:
        reply = await client.post("/api/v1/decisions", json=ASKED)
        answer = reply.raise_for_status().json()
        if answer["allowed"] is allowed:
            return time.perf_counter()
        await asyncio.sleep(ASK_EVERY_S)
    raise RuntimeError(f"after {GIVE_UP_S} s the answer is still {answer}")


async def _heard(person: httpx.AsyncClient) -> float:
    """Wait until every process holds to the stop."""
    until = time.perf_counter() + GIVE_UP_S
    while time.perf_counter() < until:
        known = (await person.get("/api/v1/halts")).json()
        if known["processes"] and known["heard_by_all"]:
            return time.perf_counter()
        await asyncio.sleep(ASK_EVERY_S)
    raise RuntimeError("not every process heard of the stop")
