"""Surfaces of one catalogue in every mode; needs Django to be set up."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.identifiers import new_id
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.search.evaluate import shipped_tools
from apps.gateway.listings import Listings
from apps.gateway.tool_runs.catalogues import Catalogues
from apps.gateway.tool_runs.surface import surface_of
from apps.registry.models import Environment
from apps.runs.models import ToolRun
from bench.figures import Figure, percentile, shown

TOOLS = 300
SHARE, DIRECTORY = 0.10, 18_000
ROUNDS = 500


@dataclass
class Standing:
    """Of a gateway, what a surface is worked out from: one snapshot, nothing withdrawn, everything runs."""

    snapshot: Snapshot
    listings: Listings = field(default_factory=Listings)
    catalogues: Catalogues = field(default_factory=Catalogues)

    @property
    def snapshots(self) -> "Standing":
        return self

    tool_states = desk = code = snapshots

    def live(self, environment: str) -> Snapshot:  # noqa: ARG002
        return self.snapshot

    def withdrawn(self, environment: str) -> frozenset[str]:  # noqa: ARG002
        return frozenset()

    def runs(self, tool: ToolEntry) -> bool:  # noqa: ARG002
        return True

    def problem(self) -> str:
        return ""


def figures() -> Iterator[Figure]:
    """Measure the labelled tools in every mode, in the form of OpenAI's chat completions."""
    for mode in ("tools", "directory", "code"):
        yield from asyncio.run(_of_mode(mode))


async def _of_mode(mode: str) -> list[Figure]:
    standing: Any = Standing(_snapshot(mode))
    run = ToolRun(
        id=new_id(), environment=Environment(slug="bench"), agent="bot", context={"agent_id": "bot"}, provider="acme",
        form="openai-chat", task="send the overdue invoices to their customers",
    )  # fmt: skip
    surface = await surface_of(standing, run)
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await surface_of(standing, run)
        times.append(time.perf_counter() - started)
    middle, high = percentile(times, 0.5), percentile(times, 0.99)
    share = surface.surface_bytes / surface.direct_bytes
    size = f"{surface.surface_bytes:,} of {surface.direct_bytes:,} bytes, {share:.1%}"
    found = [Figure(f"request with {TOOLS} tools, mode `{mode}` against direct", size)]
    if mode == "tools":
        found = [Figure(found[0].what, size, f"≤ {SHARE:.0%}", share <= SHARE)]
    if surface.told is not None:
        letters = len(surface.told.text)
        told = f"{letters:,} characters, {surface.told.listed} tools named"
        found.append(Figure("its directory", told, f"≤ {DIRECTORY:,}", letters <= DIRECTORY))
    return [*found, Figure("the same surface again, from memory", f"p50 {shown(middle)}, p99 {shown(high)}")]


def _snapshot(mode: str) -> Snapshot:
    core = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    others = [
        ToolEntry(
            each.name,
            plugin=each.id.split(":")[1],
            label=each.label,
            description=each.description,
            source="mcp" if each.source == "mcp" else "plugin",
            params=each.parameters,
        )
        for each in shipped_tools()
        if each.source in ("plugin", "mcp") and each.name not in BUILTINS
    ]
    tools = [*core, *others][:TOOLS]
    return build_snapshot(
        SnapshotSource(
            environment="bench", tools=tools, agents=[AgentSource("bot")], settings={"toolSearch": {"mode": mode}}
        )
    )
