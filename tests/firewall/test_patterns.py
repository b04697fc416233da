"""Expressions that people write: what is accepted, what is refused, and that every search ends."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.patterns import PatternError, compile_pattern, search_bounded


def spans(written: str, text: str) -> list[tuple[int, int] | int]:
    found = search_bounded(compile_pattern(written), text, limit_s=5)
    return [match if isinstance(match, int) else match.span() for match in found]


@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        (r"\d+", "a 12 b 345", [(2, 4), (7, 10)]),
        (r"/ID=(\d+)/i", "id=7", [(0, 4)]),
        (r"(?:foo|bar)+", "xfoobarx", [(1, 7)]),
        (r"(?<name>x+)", "axx", [(1, 3)]),
        (r"(?<=k=)\d+", "k=12", [(2, 4)]),
        (r"(\w+)\s*=\s*(\w+)", "a = b", [(0, 5)]),
        ("a$", "a\n", []),
        (r"\d", "٣", []),
        (r"\w+", "é", []),
    ],
)
def test_it_reads_expressions_as_javascript_writes_them(
    written: str, text: str, expected: list[tuple[int, int]]
) -> None:
    assert spans(written, text) == expected


@pytest.mark.parametrize(
    "written",
    [
        "",
        "   ",
        "[",
        "(a+)+$",
        "(a|aa)+",
        r"(\w+\.?)+",
        "([а-я]+[а-я]+)+$",
        "([а-я]+)+$",
        r"(a)\1",
        "(a*)*b",
        "(?:a?b?)+",
        "/a/q",
        "a" * 501,
    ],
)
def test_it_refuses_what_cannot_be_used(written: str) -> None:
    with pytest.raises(PatternError):
        compile_pattern(written)


@pytest.mark.parametrize(
    ("written", "text", "expected"),
    [
        (r"^[a-z0-9]+(?:-[a-z0-9]+)*$", "a-slug-1", [(0, 8)]),
        (r"^(\d{1,3}\.){3}\d{1,3}$", "10.0.0.255", [(0, 10)]),
        (r"^(\w+\.)+\w+$", "one.two.three", [(0, 13)]),
        (r"^(,?[a-z])+$", "a,b,c", [(0, 5)]),
        (r"^([a-z]+([.-][0-9]+)*;)*$", "a.1-2;b;", [(0, 8)]),
    ],
)
def test_a_repeat_inside_a_repeat_is_accepted_where_each_character_has_one_place(
    written: str, text: str, expected: list[tuple[int, int]]
) -> None:
    assert spans(written, text) == expected


@pytest.mark.parametrize("written", [r"^[a-z0-9]+(?:-[a-z0-9]+)*$", r"^(\w+\.)+\w+$", r"^(,?[a-z])+$"])
@pytest.mark.parametrize("text", ["a" * 3_000 + "!", "a-" * 1_500 + "!", "a." * 1_500 + "!", ",a" * 1_500 + "!"])
def test_and_what_does_not_match_is_known_soon(written: str, text: str) -> None:
    started = time.monotonic()
    assert compile_pattern(written).search(text) is None
    assert time.monotonic() - started < 5


def test_a_match_across_two_windows_is_found_whole() -> None:
    text = " " * 16_380 + "secret-0123456789" + " " * 100
    assert spans(r"secret-\d+", text) == [(16_380, 16_397)]


@pytest.mark.unhurried
@pytest.mark.parametrize("written", [r"(.*)(.*)(.*)(.*)(.*)z", r"(\S+)@(\S+)", "a*b", r"\w+x\w+y\w+z", ".*.*.*x"])
@pytest.mark.slow
def test_a_search_without_a_match_ends_and_says_how_far_it_came(written: str) -> None:
    began = time.monotonic()
    found = list(search_bounded(compile_pattern(written), "a" * 200_000, limit_s=0.2))
    assert time.monotonic() - began < 60
    assert all(isinstance(match, int) for match in found)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab()|*+?[]{}\\1,.^$", max_size=14))
def test_any_text_is_an_expression_that_ends_or_is_refused(written: str) -> None:
    try:
        pattern = compile_pattern(written)
    except PatternError:
        return
    *matches, last = [None, *search_bounded(pattern, "ab" * 500 + "c", limit_s=0.5)]
    assert not any(isinstance(each, int) for each in matches), "how far it came is said last"
    assert last is None or isinstance(last, int) or last.end() <= 1001
