"""Rewritten params travel by the id of their call, or the call does not run."""

from typing import Any

import pytest

from apps.firewall.runtime.hooks import RewriteLostError, Rewrites, rewrites_between


def test_a_call_takes_its_params_once() -> None:
    rewrites = Rewrites()
    rewrites.put("c1", {"a": 1})
    assert rewrites.take("c1") == {"a": 1}
    with pytest.raises(RewriteLostError):
        rewrites.take("c1")


def test_the_oldest_are_lost_and_say_so() -> None:
    rewrites = Rewrites(kept=2)
    for number in range(4):
        rewrites.put(f"c{number}", number)
    assert len(rewrites) == 2
    with pytest.raises(RewriteLostError):
        rewrites.take("c1")
    assert (rewrites.take("c2"), rewrites.take("c3")) == (2, 3)


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, [("a", "changed")]),
        ({"a": {"b": [0]}}, {"a": {"b": [False]}}, [("a", "changed")]),
        ({"a": None}, {}, [("a", "removed")]),
        (None, {"a": None}, [("a", "added")]),
        ({"b": 1, "a": 2}, {"c": 3, "a": 4, "b": 1}, [("a", "changed"), ("c", "added")]),
    ],
)
def test_a_difference_names_members_and_kinds(before: Any, after: Any, found: list[tuple[str, str]]) -> None:
    assert [(each.member, each.kind) for each in rewrites_between(before, after)] == found
