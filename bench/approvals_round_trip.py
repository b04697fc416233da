"""A whole round: a program asks, an operator's socket hears, the operator decides, the program's wait is over.

Asked over the RPC socket (`exec.approval.request`), heard in the console's socket, decided by `POST …/resolve`,
answered in the RPC socket. One after the other, and eight programs at once.
"""

import asyncio
import json
import time
from collections.abc import Iterable
from contextlib import closing
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from bench._installation import Installation, installation
from bench._plain_http import Poster
from bench.approvals import sign_in
from bench.figures import Figure, percentile, shown

ROUNDS, AT_ONCE, WARM, GIVE_UP_S = 200, 8, 10, 30.0
ALONE_S, TOGETHER_S = 0.060, 0.150


def measure() -> Iterable[Figure]:
    """Measure both ways through one served application."""
    with installation() as place, place.serve("--demo"):
        asks = place.token("calls_make")
        answers = place.token("approvals_read", "approvals_resolve")
        alone, together = asyncio.run(_measured(place, asks, answers))
    what = f"approval asked, pushed, decided, waiter released, {len(alone)} rounds in sequence"
    yield _figure(what, alone, "p99 ≤ 60 ms", ALONE_S)
    yield _figure(f"the same, {AT_ONCE} at once, {len(together)} rounds", together, "p99 ≤ 150 ms", TOGETHER_S)


def _figure(what: str, times: list[float], goal: str, limit_s: float) -> Figure:
    p99 = percentile(times, 0.99)
    return Figure(what, f"p50 {shown(percentile(times, 0.5))}, p99 {shown(p99)}", goal, p99 <= limit_s)


async def _measured(place: Installation, asks: str, answers: str) -> tuple[list[float], list[float]]:
    cookie = await asyncio.to_thread(sign_in, place)
    base = place.url.replace("http", "ws", 1)
    origin: Any = place.url
    with closing(Poster(place.url, answers)) as operator:
        async with connect(f"{base}/ws/console/", origin=origin, additional_headers={"Cookie": cookie}) as tab:
            return await _timed(base, asks, tab, operator)


async def _timed(base: str, asks: str, tab: ClientConnection, operator: Poster) -> tuple[list[float], list[float]]:
    deciding = asyncio.create_task(_decide(tab, operator))
    alone = await _program(base, asks, "alone", WARM + ROUNDS)
    several = (_program(base, asks, f"p{number}", WARM + ROUNDS // AT_ONCE) for number in range(AT_ONCE))
    together = [each for times in await asyncio.gather(*several) for each in times]
    deciding.cancel()
    await asyncio.gather(deciding, return_exceptions=True)
    return alone, together


async def _decide(tab: ClientConnection, operator: Poster) -> None:
    """Allow whatever is asked, the moment the socket tells of it."""
    async with asyncio.TaskGroup() as deciding:
        async for text in tab:
            message = json.loads(text)
            if message["type"] == "approval.requested":
                deciding.create_task(_allow(operator, message["id"]))


async def _allow(operator: Poster, approval: str) -> None:
    status = await operator.post(f"/api/v1/approvals/{approval}/resolve", {"decision": "allow-once"})
    if status != 200:
        raise RuntimeError(f"the answer was refused: {status}")


async def _program(base: str, secret: str, name: str, rounds: int) -> list[float]:
    """Ask so many times over one socket; the seconds of each round but the first ones."""
    times = []
    headers = {"Authorization": f"Bearer {secret}"}
    async with connect(f"{base}/api/v1/rpc", additional_headers=headers) as socket:
        for number in range(rounds):
            identifier = f"{name}-{number}"
            params = {"agentId": "main", "command": f"make {identifier}", "cwd": "/srv"}
            frame = {"type": "req", "id": identifier, "method": "exec.approval.request", "params": params}
            asked = time.perf_counter()
            await socket.send(json.dumps(frame))
            answer = await _answer(socket, identifier)
            if number >= WARM:
                times.append(time.perf_counter() - asked)
            if answer.get("payload", {}).get("decision") != "allow-once":
                raise RuntimeError(f"the program was not allowed: {answer}")
    return times


async def _answer(socket: ClientConnection, identifier: str) -> dict[str, Any]:
    async with asyncio.timeout(GIVE_UP_S):
        while True:
            frame: dict[str, Any] = json.loads(await socket.recv())
            if frame.get("id") == identifier:
                return frame
