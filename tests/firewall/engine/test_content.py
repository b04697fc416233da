"""Content filters: what they find, what becomes of it, and that they end."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from apps.firewall.engine.content import (
    ContentFilter,
    ContentRules,
    ContentUncheckedError,
    Filtered,
    read_filter,
    write_filter,
)
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.snapshot import Snapshot, SnapshotError, build_snapshot, load_snapshot
from apps.firewall.engine.source import SnapshotSource, ToolEntry

DIALECT = dialect_named("2026.9")
CARD = ContentFilter(key="card", pattern=r"\b\d{16}\b")
NUMBER = "4111111111111111"
ROOT = Path(__file__).parents[3]
DEMO = ROOT / "apps/policies/demo/guards.json"
DOCUMENT = ROOT / "docs/permissions.md"


def search(value: Any, *filters: ContentFilter, tool: str = "send", side: Any = "params") -> Filtered:
    return ContentRules(DIALECT, filters).search(tool, side, value, limit_s=5)


def test_every_text_is_looked_at_names_and_numbers_included() -> None:
    found = search({"to": [f"pay {NUMBER} now", {NUMBER: int(NUMBER)}], "n": 1, "b": True, "x": None}, CARD)

    mark = "[masked by card]"
    assert found.value == {"to": [f"pay {mark} now", {mark: mark}], "n": 1, "b": True, "x": None}
    assert [(hit.filter.key, hit.count) for hit in found.hits] == [("card", 3)]
    assert NUMBER not in json.dumps([hit.to_json() for hit in found.hits])


def test_two_names_that_a_mask_makes_alike_are_both_kept() -> None:
    found = search({NUMBER: 1, NUMBER[::-1]: 2}, CARD)

    assert found.value == {"[masked by card]": 1, "[masked by card] 2": 2}


def test_a_filter_that_blocks_or_warns_changes_nothing() -> None:
    block = ContentFilter(key="no-cards", pattern=CARD.pattern, action="block")
    warn = ContentFilter(key="cards", pattern=CARD.pattern, action="warn")

    found = search({"text": NUMBER}, warn, block)

    assert found.value == {"text": NUMBER}
    assert [hit.filter.key for hit in found.hits] == ["no-cards", "cards"]
    assert found.block is not None and found.block.filter == block
    assert not found.is_masked


def test_a_mask_hides_nothing_from_a_filter_that_blocks() -> None:
    block = ContentFilter(key="no-cards", pattern=CARD.pattern, action="block")

    assert search(NUMBER, CARD, block).block is not None


def test_a_filter_looks_where_it_is_told() -> None:
    params = ContentFilter(key="card", pattern=CARD.pattern, where="params", tools=("mail_*", "group:fs"))
    rules = ContentRules(DIALECT, [params])

    assert rules.concerns("mail_send", "params")
    assert rules.concerns("read", "params")
    assert not rules.concerns("mail_send", "result")
    assert not rules.concerns("exec", "params")
    assert search(NUMBER, params, tool="exec").hits == ()


@given(some.recursive(some.text("a1[] mskedby-card") | some.integers(), lambda inner: some.lists(inner, max_size=3)))
def test_masking_what_was_masked_changes_nothing(value: Any) -> None:
    digits = ContentFilter(key="card", pattern=r"\d+")

    once = search(value, digits).value

    assert search(once, digits).value == once


def test_a_text_that_only_looks_like_a_mark_hides_nothing() -> None:
    assert search(f"[masked by {NUMBER}]", CARD).value == "[masked by [masked by card]]"


def test_what_cannot_be_searched_to_its_end_is_refused() -> None:
    deep: Any = NUMBER
    for _ in range(200):
        deep = [deep]
    rules = ContentRules(DIALECT, [CARD])

    with pytest.raises(ContentUncheckedError, match="nested too deeply"):
        rules.search("send", "params", deep, limit_s=5)
    with pytest.raises(ContentUncheckedError, match="too long"):
        rules.search("send", "params", ["x"], limit_s=0)


def test_filters_are_part_of_the_snapshot() -> None:
    block = ContentFilter(key="b", pattern="x", where="result", action="block", tools=("read",), message="no x")
    made = snapshot(CARD, block)

    again = load_snapshot(made.to_bytes(), expected_digest=made.digest)

    assert again.content.filters == (CARD, block)
    assert read_filter(write_filter(block)) == block


def test_an_expression_that_is_refused_makes_no_snapshot() -> None:
    with pytest.raises(SnapshotError, match="repeat inside a repeat"):
        snapshot(ContentFilter(key="slow", pattern="(a+)+"))


def snapshot(*filters: ContentFilter) -> Snapshot:
    return build_snapshot(SnapshotSource(tools=[ToolEntry("read")], filters=filters))


@pytest.mark.parametrize(
    "text", ["3.10685596110685596110685596", "4111111111111112", "0.4111111111111111", "1732100000000000001"]
)
def test_the_demos_filter_of_card_numbers_takes_no_other_number_for_one(text: str) -> None:
    pattern = json.loads(DEMO.read_text(encoding="utf-8"))["contentFilters"]["card numbers"]["pattern"]
    cards = ContentFilter(key="card numbers", pattern=pattern)

    assert search([text, 3.1068559611068559, int(NUMBER) + 1], cards).hits == ()
    assert search(f"card {NUMBER}.", cards).value == "card [masked by card numbers]."
    assert search("3782 822463 10005", cards).value == "[masked by card numbers]"


def test_the_documented_filter_is_the_demos() -> None:
    pattern = json.loads(DEMO.read_text(encoding="utf-8"))["contentFilters"]["card numbers"]["pattern"]
    assert json.dumps(pattern) in DOCUMENT.read_text(encoding="utf-8")
