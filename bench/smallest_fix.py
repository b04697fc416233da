"""The smallest fix of a verdict with all that it changes elsewhere, against edits tried on a policy built anew."""

import random
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.diff import diff_snapshots
from apps.firewall.engine.fixes import Fix, smallest_fix
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import SnapshotSource
from apps.firewall.engine.surroundings import Surroundings
from bench.engine import AGENTS, GROUPS, POLICIES, RULES_PER_GROUP, ask, population
from bench.figures import Figure, percentile, shown, timed

TOOLS, QUESTIONS, FIRST, LIMIT_S = 500, 125, 5, 1.0


def measure() -> Iterable[Figure]:
    """Ask about verdicts all over the population of `bench.engine`."""
    source = population(TOOLS)
    snapshot = build_snapshot(source)
    snapshot.engine  # noqa: B018 - compiled here, so that no figure holds it
    around, read_s = _read(snapshot)
    size = (
        f"{AGENTS:,} agents, {GROUPS:,} groups, {GROUPS * RULES_PER_GROUP:,} sender rules, {POLICIES:,} policies; "
        f"{around.contexts:,} classes of contexts"
    )
    questions = random.Random(3).sample(list(ask(source, snapshot)), QUESTIONS)
    fixes: list[Fix | None] = []
    took = [_took(partial(smallest_fix, around, *question), fixes) for question in questions]
    times = took[FIRST:]  # what the first ones work out about agents is kept for all others
    middle, p99 = percentile(times, 0.5), percentile(times, 0.99)
    edits = [len(fix.edits) for fix in fixes if fix is not None]
    counted = ", ".join(f"{edits.count(number)} of {number}" for number in (1, 2, 3))
    yield Figure(
        f"smallest fix with what it changes over all contexts; {size}",
        f"p50 {shown(middle)}, p99 {shown(p99)} ({len(times)} verdicts after the first {FIRST}; "
        f"edits: {counted}; none {fixes.count(None)})",
        "p99 ≤ 1 s",
        p99 <= LIMIT_S,
    )
    yield Figure("the first one after a change: reading all classes, then the fix", shown(read_s + took[0]))
    yield _naive(source, snapshot, middle)


def _read(snapshot: Snapshot) -> tuple[Surroundings, float]:
    found: list[Surroundings] = []
    took = timed(lambda: found.append(Surroundings(snapshot)), rounds=1)[0]
    return found[0], took


def _took(call: Callable[[], Fix | None], found: list[Fix | None]) -> float:
    return timed(lambda: found.append(call()), rounds=1)[0]


def _naive(source: SnapshotSource, snapshot: Snapshot, ours: float) -> Figure:
    """Try one edit as it would be done without the fix: change the source, build it anew, compare all contexts."""

    def tried() -> None:
        agents = list(source.agents or ())
        before = agents[0].policy or Policy()
        agents[0] = replace(agents[0], policy=replace(before, deny=(*(before.deny or ()), "exec")))
        contexts_by_agent(diff_snapshots(snapshot, build_snapshot(replace(source, agents=agents))).changes)

    took = percentile(timed(tried, rounds=3), 0.5)
    factor = took / ours
    value = f"{factor:.0f}x ({shown(took)} for each edit that is tried)"
    return Figure(
        "one edit tried by building the policy anew and comparing, over a smallest fix", value, "≥ 10x", factor >= 10
    )
