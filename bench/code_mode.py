"""How soon code of a model is done: a search and a call over the bridge, in a process kept ready and in a fresh one."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

from apps.firewall.runtime.code_mode.pool import CodePool
from apps.firewall.sandbox.levels import offer
from apps.firewall.tools.definition import JsonObject
from bench.figures import Figure, percentile, shown

ROUNDS = 200
ALONE_ROUNDS = 40
TIME_MS = 30_000
GOAL_S = 0.120
CODE = """
const [hit] = await openclaw.tools.search("today's calendar", { limit: 3 });
const { result } = await openclaw.tools.call(hit.id, { day: "today" });
return result.length;
"""


async def _bridge(operation: str, params: JsonObject) -> Any:
    if operation == "search":
        return [{"id": "mcp:calendar:list", "name": "list", "source": "mcp"}] * params["limit"]
    return {"tool": params["id"], "result": [{"title": "planning"}] * 20}


async def _once(pool: CodePool) -> float:
    started = time.perf_counter()
    result = await pool.run(CODE, _bridge, timeout_ms=TIME_MS)
    assert result.value == 20, result
    return time.perf_counter() - started


async def _measured() -> Iterator[Figure]:
    pool, alone = CodePool(), CodePool(size=0)
    try:
        warm = []
        for _ in range(ROUNDS):
            await pool.warm()
            warm.append(await _once(pool))
        cold = [await _once(alone) for _ in range(ALONE_ROUNDS)]
    finally:
        await pool.close()
        await alone.close()
    held = "Landlock" if offer().lacks("isolated") else "bubblewrap"
    p50, p99, slow = percentile(warm, 0.5), percentile(warm, 0.99), percentile(cold, 0.5)
    return iter(
        [
            Figure(
                what=f"code with one search and one call, held by {held}, in a process kept ready",
                value=f"p50 {shown(p50)}, p99 {shown(p99)}",
                goal=f"p99 ≤ {shown(GOAL_S)}",
                holds=p99 <= GOAL_S,
            ),
            Figure(
                what="the same in a process started for it",
                value=f"p50 {shown(slow)}, p99 {shown(percentile(cold, 0.99))}; {slow / p50:.1f} times as long",
            ),
        ]
    )


def measure() -> Iterator[Figure]:
    yield from asyncio.run(_measured())
