"""Swapping what is live while decisions go on."""

import asyncio
import time

import pytest

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot, load_snapshot
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, SnapshotSource, ToolEntry
from apps.gateway.live import LiveSnapshots

GROUPS, RULES, POLICIES = 10_000, 10, 500


def large() -> bytes:
    policies = [Policy(allow=("read", f"tool_{n}"), deny=(f"tool_{n * 7 % 300}",)) for n in range(POLICIES)]
    groups = [
        GroupSource(
            f"-100{number}",
            tools=policies[number % POLICIES],
            by_sender=[(f"id:{number * RULES + rule}", policies[rule]) for rule in range(RULES)],
        )
        for number in range(GROUPS)
    ]
    source = SnapshotSource(
        environment="production",
        tools=[ToolEntry("read"), *(ToolEntry(f"tool_{n}") for n in range(300))],
        agents=[AgentSource("bot")],
        channels=[ChannelSource("telegram", maps={"groups": groups})],
    )
    return build_snapshot(source).to_bytes()


@pytest.mark.django_db
async def test_no_decision_waits_long_while_a_large_snapshot_is_loaded_and_swapped() -> None:
    content = large()
    loads = 0

    def load(slug: str) -> Snapshot:
        nonlocal loads
        loads += 1
        return load_snapshot(content)

    live = LiveSnapshots(load, lambda: ["production"])
    await live.reload()
    before = live.live("production")
    reloading = asyncio.create_task(live.reload())
    waits: list[float] = []
    while not reloading.done():
        started = time.perf_counter()
        current = live.live("production")
        assert current is not None
        assert decide(current, CallContext(agent_id="bot"), "read").allowed
        await asyncio.sleep(0)
        waits.append(time.perf_counter() - started)

    assert loads == 2
    assert live.live("production") is not before
    assert len(waits) > 10
    # The goal is 50 ms; a machine that is busy with other work may add some of its own.
    assert sorted(waits)[-3] < 0.05


async def test_an_environment_that_is_gone_is_forgotten() -> None:
    slugs = ["production", "staging"]
    live = LiveSnapshots(lambda slug: None, lambda: slugs)
    await live.reload()
    assert live.knows("staging") and live.default == "production"

    slugs.remove("staging")
    await live.reload()

    assert not live.knows("staging")
