"""Cutting a value: never longer than its limit, always said, nothing behind the end."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.runtime.results.cutting import bytes_of, characters_of, cut_to_bytes, cut_value

texts = st.text(max_size=400)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(texts, inner, max_size=8),
    max_leaves=30,
)


def test_what_fits_is_the_same_object() -> None:
    value = {"a": ["b", 1]}
    cut = cut_value(value, characters_of(value))
    assert cut.value is value and not cut.is_cut


def test_a_text_says_at_its_end_how_much_of_it_is_shown() -> None:
    cut = cut_value("x" * 1_000_000, 10_000)

    assert cut.value.startswith("x" * 9_900 + "\n\n[cut: the first 9,900 of 1,000,000 characters are shown]")
    assert len(cut.value) <= 10_000 and (cut.size, cut.kept) == (1_000_000, 9_900)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a" * 250, "b" * 90, "c"], ["a" * 201 + "\n\n[cut]"]),
        (["a" * 201, "b" * 190, "c"], ["a" * 201, "[cut]"]),
        ({"n" * 400: 1}, {"…": "[cut]"}),
        ({"a": "b" * 180, "c": 10**60, "d": "e" * 100}, {"a": "b" * 180, "c": "[cut]"}),
        ([["a" * 402], ["b"]], [["a" * 201 + "\n\n[cut]"]]),
    ],
)
def test_after_the_end_stands_one_statement_and_nothing_else(value: Any, expected: Any) -> None:
    shown = json.dumps(cut_value(value, 301).value)

    assert json.loads(re.sub(r"\[cut: the first 201 of [0-9]+ characters are shown\]", "[cut]", shown)) == expected


@given(values, st.integers(1, 600))
def test_nothing_is_longer_than_its_limit(value: Any, limit: int) -> None:
    cut = cut_value(value, limit)
    stored = cut_to_bytes(value, limit)

    if cut.is_cut and limit > 200:
        assert "[cut: the first" in json.dumps(cut.value)
    if limit > 200:
        assert characters_of(cut.value) <= limit
        assert bytes_of(stored.value) <= limit
    assert characters_of(cut_value(value, limit, states=False).value) <= limit


def test_a_mask_is_kept_whole_or_left_out() -> None:
    mask = "[masked 26 characters, 1f2e3d4c]"
    shown = cut_value("x" * 190 + mask + "y" * 500, 301, states=True).value

    assert shown.startswith("x" * 190 + "\n\n[cut:")


def test_characters_of_several_bytes_are_never_split() -> None:
    assert cut_to_bytes("语" * 1000, 301).value.startswith("语" * 67 + "\n\n[cut: the first 201 of 3,000 bytes")
