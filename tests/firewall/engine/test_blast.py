"""How far changes go: the same as writing every box out and counting each class once."""

from collections import Counter
from dataclasses import replace
from itertools import product

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from apps.firewall.engine.blast import contexts_by_agent
from apps.firewall.engine.diff import diff_snapshots
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import SnapshotSource
from tests.firewall.engine.environments import sources


@settings(max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(sources(), sources(), st.booleans())
def test_a_context_counts_once_however_many_changes_meet_it(
    source: SnapshotSource, other: SnapshotSource, mostly_equal: bool
) -> None:
    changed = replace(source, policy=other.policy, channels=other.channels) if mostly_equal else other
    diff = diff_snapshots(build_snapshot(source), build_snapshot(changed))
    met = {
        asked for change in diff.changes for box in change.boxes for asked in product(box.who, box.where, box.states)
    }
    assert contexts_by_agent(diff.changes) == Counter(agent for (agent, _, _), _, _ in met)
    assert len(met) <= diff.contexts


def test_nothing_is_met_where_nothing_changes() -> None:
    snapshot = build_snapshot(SnapshotSource())
    assert not contexts_by_agent(diff_snapshots(snapshot, snapshot).changes)
