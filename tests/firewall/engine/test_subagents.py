"""What sub-agents may not use."""

import pytest

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.subagents import is_leaf, max_spawn_depth, role_deny, subagent_policy

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]


@pytest.mark.parametrize(
    ("configured", "depth"),
    [(None, 5), (2, 2), (2.9, 2), (0, 1), (-3, 1), ("3", 5), (True, 5), (float("inf"), 5), (float("nan"), 5), ([], 5)],
)
def test_the_deepest_level_is_a_whole_number_from_one_on(configured: object, depth: int) -> None:
    assert max_spawn_depth(NEW, configured) == depth


def test_a_leaf_is_as_deep_as_may_be_or_deeper() -> None:
    assert [is_leaf(NEW, depth, 2) for depth in (1, 2, 3)] == [False, True, True]
    assert is_leaf(OLD, 1)


def test_a_configured_name_lifts_the_built_in_denial_in_the_older_release_only() -> None:
    block = Policy(also_allow=("GATEWAY", "group:sessions", "mem*"))
    assert "gateway" not in subagent_policy(OLD, block, leaf=True).deny  # type: ignore[operator]
    assert "memory_get" in subagent_policy(OLD, block, leaf=True).deny  # type: ignore[operator]
    assert subagent_policy(NEW, block, leaf=True).deny == role_deny(NEW, "leaf")


def test_additions_count_only_beside_an_allow_list() -> None:
    assert subagent_policy(NEW, Policy(also_allow=("a",)), leaf=False).allow is None
    assert subagent_policy(NEW, Policy((), also_allow=("a",)), leaf=False).allow == ("a",)
    assert subagent_policy(NEW, None, leaf=False) == Policy(None, NEW.subagent_deny_always)
