"""Calls of a tool that does nothing, with the real ledger: `python -m bench._runtime_calls SECONDS`."""

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from apps.audit.writer import close_writer  # noqa: E402 - Django must be set up first
from apps.firewall.engine.snapshot import build_snapshot  # noqa: E402
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry  # noqa: E402
from apps.firewall.runtime.call import Call  # noqa: E402
from apps.firewall.runtime.invoke import invoke  # noqa: E402
from apps.firewall.runtime.ports import Ports  # noqa: E402
from apps.firewall.runtime.results import settle  # noqa: E402
from apps.firewall.runtime.testing import FakeExecutor, FakeWorld  # noqa: E402
from apps.firewall.tools.running import ToolOutcome  # noqa: E402
from apps.gateway.wiring import AuditLedger, result_rules  # noqa: E402

ROUNDS, WARM, CALLERS, RESULTS = 300, 30, 16, 15
NUMBERS = itertools.count()
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def world() -> Ports:
    """Make the ports: everything but the ledger and its rules is in memory, as it is for a server's calls."""
    snapshot = build_snapshot(
        SnapshotSource(environment="bench", tools=[ToolEntry("noop", params=SCHEMA)], agents=[AgentSource("bot")])
    )
    fakes = FakeWorld(snapshot, executor=FakeExecutor(tools=frozenset({"noop"})))
    return Ports(**{**_members(fakes.ports), "ledger": AuditLedger(), "results": result_rules()})


def _members(ports: Ports) -> dict[str, Any]:
    return {name: getattr(ports, name) for name in ports.__dataclass_fields__}


async def one(ports: Ports) -> tuple[float, bool]:
    params = {"text": f"hello {next(NUMBERS)}"}  # equal calls would be a loop
    call = Call(environment="bench", agent="bot", tool="noop", params=params, actor="token:tok_bench")
    began = time.perf_counter()
    result = await invoke(call, ports)
    return time.perf_counter() - began, result.status == "completed"


async def sustained(ports: Ports, seconds: float) -> list[tuple[float, bool]]:
    """Keep some callers busy, each with its next call as soon as it has its answer."""
    until, ended = time.monotonic() + seconds, []

    async def caller() -> None:
        while time.monotonic() < until:
            ended.append(await one(ports))

    await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return ended


def large() -> list[tuple[str, dict[str, Any]]]:
    """Make results of 1 MB: prose, and lines of a log with a secret in every hundredth."""
    prose = "The quick brown fox jumps over the lazy dog and thinks nothing of it. " * 15_000
    line = "2026-11-23T04:{:02d}:00Z INFO request {} of /api/v1/items/{} took {} ms{}\n"
    secret = " with token sk-live-4f8a9b2c1d3e5f60718293a4b5c6d7e8"
    log = "".join(line.format(n % 60, n, n, n % 97, "" if n % 100 else secret) for n in range(14_000))
    return [(name, {"content": [{"type": "text", "text": text[:1_048_576]}]}) for name, text in _named(prose, log)]


def _named(prose: str, log: str) -> Sequence[tuple[str, str]]:
    return (("prose", prose), ("log", log))


def masked(seconds_of: dict[str, list[float]]) -> None:
    rules = result_rules()
    for name, result in large():
        for _ in range(RESULTS):
            began = time.perf_counter()
            done = settle(ToolOutcome(result=result), rules, limit=rules.limit)
            seconds_of.setdefault(name, []).append(time.perf_counter() - began)
            assert done.facts["truncated"] and done.kept is not None


async def main(seconds: float) -> None:
    ports = world()
    alone = [await one(ports) for _ in range(WARM + ROUNDS)][WARM:]
    await sustained(ports, 1.0)
    began = time.monotonic()
    together = await sustained(ports, seconds)
    took = time.monotonic() - began
    results: dict[str, list[float]] = {}
    masked(results)
    print(
        json.dumps(
            {
                "alone": [each for each, _ in alone],
                "together": [each for each, _ in together],
                "rate": len(together) / took,
                "bad": sum(not is_good for _, is_good in (*alone, *together)),
                "results": results,
            }
        )
    )


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
    close_writer()
