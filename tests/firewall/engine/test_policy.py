"""One policy: reading a block, merging it, asking it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.names import normalize_name, read_glob
from apps.firewall.engine.policy import (
    Policy,
    PolicyShapeError,
    add_also_allow,
    permits,
    profile_policy,
    read_policy,
)

NEW, OLD = DIALECTS["2026.9"], DIALECTS["2026.2"]
entries = st.sampled_from(["read", "exec", "Bash", "web_*", "*", " ", "group:fs", "group:none", "apply-patch", "w*e"])
tools = st.sampled_from(["read", "exec", "bash", "web_search", "apply_patch", "write", "ls", "group:none"])
lists = st.none() | st.lists(entries, max_size=4).map(tuple)


def _permits_plainly(dialect: Dialect, policy: Policy, tool: str) -> bool:
    """Ask a policy the slow way: every entry by itself, deny first."""

    def admits(names: tuple[str, ...], wanted: str) -> bool:
        for name in names:
            normal = normalize_name(dialect, name)
            members = dialect.groups.get(normal, (normal,))
            if any(read_glob(each).matches(wanted) if "*" in each else each == wanted for each in members):
                return True
        return False

    wanted = normalize_name(dialect, tool)
    allow = tuple(name for name in policy.allow or () if normalize_name(dialect, name))
    if admits(policy.deny or (), wanted):
        return False
    companion = wanted == "apply_patch" and admits(allow, dialect.apply_patch_companion)
    return not allow or admits(allow, wanted) or companion


@given(st.sampled_from([NEW, OLD]), lists, lists, tools)
def test_a_compiled_policy_answers_as_reading_its_entries_one_by_one(
    dialect: Dialect, allow: tuple[str, ...] | None, deny: tuple[str, ...] | None, tool: str
) -> None:
    policy = Policy(allow, deny)
    assert permits(dialect, policy, tool) == _permits_plainly(dialect, policy, tool)


@given(st.sampled_from([NEW, OLD]), lists, lists, tools)
def test_a_denied_tool_is_never_permitted(
    dialect: Dialect, allow: tuple[str, ...] | None, deny: tuple[str, ...] | None, tool: str
) -> None:
    assert not permits(dialect, Policy(allow, (*(deny or ()), tool)), tool)


@pytest.mark.parametrize(
    ("block", "merged"),
    [
        ({}, None),
        ({"alsoAllow": []}, None),
        ({"alsoAllow": ["a"]}, Policy(("*", "a"))),
        ({"allow": [], "alsoAllow": ["a"]}, Policy(("*", "a"))),
        ({"allow": []}, Policy(())),
        ({"allow": ["b", "b"], "alsoAllow": ["a", "b"]}, Policy(("b", "a"))),
        ({"allow": ["b", "b"]}, Policy(("b", "b"))),
        ({"deny": []}, Policy(None, ())),
        ({"allow": "read", "deny": {"0": "x"}}, None),
        ({"allow": None, "deny": ["x"]}, Policy(None, ("x",))),
    ],
)
def test_a_block_becomes_the_policy_of_a_layer(block: dict[str, object], merged: Policy | None) -> None:
    policy = read_policy(block)
    assert policy is not None
    assert policy.merged() == merged


@pytest.mark.parametrize("block", [None, [], "coding", 3, True])
def test_what_is_no_object_is_no_block(block: object) -> None:
    assert read_policy(block) is None


@pytest.mark.parametrize("entry", [None, 5, ["read"], {}, True])
def test_an_entry_that_is_no_name_is_refused_instead_of_passed_over(entry: object) -> None:
    with pytest.raises(PolicyShapeError, match=r"`allow\[1\]` is not a string"):
        read_policy({"allow": ["read", entry]})


def test_a_profile_takes_further_names_only_where_it_restricts() -> None:
    assert add_also_allow(Policy(("a",), ("z",)), ("b", "a")) == Policy(("a", "b"), ("z",))
    assert add_also_allow(Policy(None, ("z",)), ("b",)) == Policy(None, ("z",))
    assert add_also_allow(None, ("b",)) is None


@pytest.mark.parametrize("name", ["Coding", " coding", "", "none", "constructor", "__proto__"])
def test_profiles_are_found_by_their_exact_name(name: str) -> None:
    assert profile_policy(NEW, name) is None


def test_the_full_profile_restricts_nothing() -> None:
    assert profile_policy(OLD, "full") is None
    assert permits(NEW, profile_policy(NEW, "full"), "anything")
