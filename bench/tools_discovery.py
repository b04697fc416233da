"""Discovery of a folder with 1,000 tools, with the event loop answering meanwhile."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.folder import look_folder
from apps.firewall.tools.discovery.found import Look
from apps.firewall.tools.python_tools import PythonTools
from bench.figures import Figure, percentile, shown

TOOLS = 1000
GOAL_S = 3.0
PAUSE_GOAL_S = 0.05
TICK_S = 0.002

DECORATED = '''
from typing import Literal, Optional

from openclaw_admin.tools import tool

@tool(version="1.0.{n}", tags=["bench"], permissions=["bench:read"])
def look_up_{n}(city: str, unit: Literal["metric", "imperial"] = "metric", days: int = 3,
                tags: list[str] = [], strict: bool = False, note: Optional[str] = None) -> dict:
    """Look a city up, number {n}.

    Args:
        city: name of the city.
        unit: of what is told.
        days: how many.
        tags: that narrow the search.
        strict: whether a near match counts.
        note: for the record.
    """
    return {{"city": city}}
'''


async def _ticks(pauses: list[float]) -> None:
    """Stand for requests: each pause is what one would have waited for its turn."""
    while True:
        started = time.perf_counter()
        await asyncio.sleep(TICK_S)
        pauses.append(time.perf_counter() - started - TICK_S)


async def _look(folder: str, pauses: list[float]) -> tuple[Look, float]:
    ticking = asyncio.create_task(_ticks(pauses))
    connection = Connection(source="bench", kind="folder", settings={"scan_directories": [folder]})
    started = time.perf_counter()
    look = await look_folder(connection, python=PythonTools())
    took = time.perf_counter() - started
    ticking.cancel()
    return look, took


def measure() -> Iterator[Figure]:
    pauses: list[float] = []
    with tempfile.TemporaryDirectory(prefix="bench-tools-") as folder:
        for n in range(TOOLS):
            Path(folder, f"tool_{n:04}.py").write_text(DECORATED.format(n=n), encoding="utf-8")
        looks = [asyncio.run(_look(folder, pauses)) for _ in range(3)]
    ready = min(sum(each.failure is None for each in look.found) for look, _ in looks)
    best, worst = min(took for _, took in looks), max(took for _, took in looks)
    yield Figure(
        f"discovery of a folder with {TOOLS:,} Python tools, each a module with a schema from its signature",
        f"{shown(best)} to {shown(worst)}, {ready:,} ready",
        f"≤ {GOAL_S:g} s",
        best <= GOAL_S and ready == TOOLS,
    )
    longest = max(pauses)
    yield Figure(
        "what a request waits for its turn during that discovery",
        f"p99 {shown(percentile(pauses, 0.99))}, longest {shown(longest)}",
        f"p99 ≤ {shown(PAUSE_GOAL_S)}",
        percentile(pauses, 0.99) <= PAUSE_GOAL_S,
    )
