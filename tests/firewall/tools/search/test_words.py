"""The terms of a text: what a query and a tool must share."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.tools.search.intents import meanings
from apps.firewall.tools.search.words import TEXT_LIMIT, terms

ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text("aZ_9é汉的\ud800\x00\u202e\ufdfa ")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("createIssue", "create_issue"),
        ("HTTPServer", "http-server"),
        ("scheduling recurring", "Schedule recurs"),
        ("GitHub", "github"),
        ("S3", "s3"),
        ("list URLs", "lists url"),
        ("organise colours", "organizing color"),
        ("I sent and wrote", "send, write"),
        ("café", "CAFE"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
        ("查询天气", "天气"),
        ("production", "PRODUCTION"),
    ],
)
def test_texts_that_mean_the_same_share_a_term(one: str, other: str) -> None:
    assert set(terms(one)) & set(terms(other))


@pytest.mark.parametrize(
    ("one", "other"), [("production", "products"), ("of the tools", "which tool"), ("请我", "你的")]
)
def test_texts_that_mean_other_things_share_none(one: str, other: str) -> None:
    assert not set(terms(one)) & set(terms(other))


def test_words_that_say_nothing_are_no_terms() -> None:
    assert terms("I would like you to use the tool, please") == []


def test_chinese_counts_by_characters_and_pairs() -> None:
    assert terms("查天气") == ["查", "天", "气", "查天", "天气"]


def test_a_long_text_counts_to_its_limit() -> None:
    assert terms("x" * TEXT_LIMIT + " end") == ["x" * 64]
    assert terms("one two", limit=3) == ["one"]


@given(text=ANY_TEXT)
def test_any_text_has_terms_without_space(text: str) -> None:
    found = terms(text)

    assert found == terms(text)
    assert all(term and len(term) <= 64 and not any(map(str.isspace, term)) for term in found)


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "a_" * 500_000, "汉" * 1_000_000, "\ufdfa" * 1_000_000, "\ud800" * 10**6]
)
def test_a_megabyte_takes_no_longer_than_its_beginning(text: str) -> None:
    started = time.process_time()

    assert len(terms(text)) <= 2 * TEXT_LIMIT
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("look up the price", {"search", "web"}),
        ("remove it", {"delet"}),
        ("turn it off", {"disabl"}),
        ("turn the kitchen lights off", {"disabl"}),
        ("pictures", {"imag"}),
        ("查找", {"搜索"}),
    ],
)
def test_a_query_means_more_than_its_words(query: str, expected: set[str]) -> None:
    meant = {term for meaning in meanings(terms(query)) for term in (meaning.term, *meaning.others)}

    assert expected <= meant


def test_each_meaning_is_said_once_and_stands_for_others() -> None:
    found = meanings(terms("delete, remove and delete pictures"))

    assert [meaning.term for meaning in found] == ["delet", "remov", "pictur"]
    assert all(meaning.term not in meaning.others for meaning in found)


@given(text=ANY_TEXT)
def test_any_text_has_meanings(text: str) -> None:
    found = meanings(terms(text))

    assert [meaning.term for meaning in found] == list(dict.fromkeys(meaning.term for meaning in found))
    assert all(0 < meaning.weight <= 1 for meaning in found)
