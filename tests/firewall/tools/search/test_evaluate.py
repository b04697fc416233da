"""The labelled set, and what ranking by words reaches on it."""

import pytest

from apps.firewall.tools.search.evaluate import (
    Labelled,
    quality,
    ranking,
    recall_at,
    reciprocal_rank,
    shipped_queries,
    shipped_tools,
)
from apps.firewall.tools.search.index import SearchIndex


@pytest.fixture(scope="module")
def index() -> SearchIndex:
    return SearchIndex(shipped_tools())


def is_chinese(text: str) -> bool:
    return any("\u4e00" <= each <= "\u9fff" for each in text)


def test_the_labelled_set_is_whole() -> None:
    ids = [each.id for each in shipped_tools()]
    queries = shipped_queries()

    assert len(ids) == len(set(ids)) >= 300
    assert len(queries) == len({each.query for each in queries}) >= 150
    assert all(each.right and each.right <= set(ids) for each in queries)
    assert sum(is_chinese(each.query) for each in queries) >= 12
    assert {each.source for each in shipped_tools()} == {"core", "plugin", "mcp", "client"}
    assert {each.source for each in shipped_tools() if not each.is_trusted} == {"mcp", "client"}
    assert 0.25 <= sum(each.is_held_out for each in queries) / len(queries) <= 0.35


def test_nine_of_ten_right_tools_are_among_the_first_five(index: SearchIndex) -> None:
    reached = quality(ranking(index), shipped_queries())

    assert reached.recall >= 0.9 and reached.mrr >= 0.75


def test_queries_that_nothing_was_fitted_to_are_answered_nearly_as_well(index: SearchIndex) -> None:
    reached = quality(ranking(index), [each for each in shipped_queries() if each.is_held_out])

    assert reached.recall >= 0.85


def test_chinese_queries_find_tools_described_in_chinese(index: SearchIndex) -> None:
    reached = quality(ranking(index), [each for each in shipped_queries() if is_chinese(each.query)])

    assert reached.recall >= 0.9


@pytest.mark.parametrize(
    ("ranked", "right", "recall", "reciprocal"),
    [
        (["a", "b", "c"], {"a"}, 1.0, 1.0),
        (["a", "b", "c"], {"b", "z"}, 0.5, 0.5),
        (["a", "b", "c"], {"c"}, 0.0, 1 / 3),
        (["a", "b", "c"], {"a", "b", "c"}, 1.0, 1.0),
        ([], {"a"}, 0.0, 0.0),
    ],
)
def test_a_ranking_is_judged_by_its_first_places(
    ranked: list[str], right: set[str], recall: float, reciprocal: float
) -> None:
    assert recall_at(2, ranked, right) == recall
    assert reciprocal_rank(ranked, right) == reciprocal


def test_the_quality_is_an_average_over_queries_that_have_a_right_tool() -> None:
    answers = {"one": ["a"], "two": ["b", "a"], "three": ["b"]}
    asked = [Labelled(query, frozenset(["a"])) for query in answers] + [Labelled("none is right", frozenset())]

    reached = quality(lambda query: answers[query], asked, k=1)

    assert (reached.queries, reached.k, reached.recall, reached.mrr) == (3, 1, 1 / 3, 0.5)


def test_without_queries_a_ranking_is_worth_nothing() -> None:
    assert quality(lambda _: [], []).recall == 0.0
