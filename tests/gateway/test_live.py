"""Swapping what is live while decisions go on."""

import asyncio
import gc

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


async def decisions_meanwhile(live: LiveSnapshots) -> int:
    """Reload while deciding without a pause, and count the decisions; `make bench` measures how long they wait."""
    reloading = asyncio.create_task(live.reload())
    made = 0
    while not reloading.done():
        current = live.live("production")
        assert current is not None
        assert decide(current, CallContext(agent_id="bot"), "read").allowed
        made += 1
        await asyncio.sleep(0)
    return made


async def test_decisions_go_on_while_a_large_snapshot_is_loaded_and_swapped() -> None:
    content = large()
    live = LiveSnapshots(lambda slug: load_snapshot(content), lambda: ["production"])
    await live.reload()
    before = live.live("production")

    made = await decisions_meanwhile(live)

    assert live.live("production") is not before
    assert made > 20


async def test_the_collector_rests_while_a_snapshot_is_loaded_and_works_again_afterwards() -> None:
    seen: list[bool] = []

    def load(slug: str) -> Snapshot:
        seen.append(gc.isenabled())
        return build_snapshot(SnapshotSource(environment=slug))

    await LiveSnapshots(load, lambda: ["production"]).reload()

    assert seen == [False]
    assert gc.isenabled()


async def test_an_environment_that_is_gone_is_forgotten() -> None:
    slugs = ["production", "staging"]
    live = LiveSnapshots(lambda slug: None, lambda: slugs)
    await live.reload()
    assert live.knows("staging") and live.default == "production"

    slugs.remove("staging")
    await live.reload()

    assert not live.knows("staging")
