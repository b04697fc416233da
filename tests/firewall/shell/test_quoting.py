"""Lines in pieces, held against the standard library's reading where the two mean the same."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.shell.quoting import pieces, segments, split_words, unquoted

_LINES = st.text(st.sampled_from("ab '\"\\ \n;|&#$(`<"), max_size=20)


@given(line=st.text(st.sampled_from("ab '\"\\"), max_size=20))
def test_words_are_those_of_the_standard_library_but_for_empty_ones(line: str) -> None:
    try:
        expected = [word for word in shlex.split(line) if word]
    except ValueError:
        expected = None
    assert split_words(line) == expected


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python \\\na.py", ["python", "\na.py"]),
        ('python "" a.py', ["python", "a.py"]),
        ("a ''#b", ["a"]),
        ("a b# #c", ["a", "b#"]),
    ],
)
def test_line_ends_and_empty_words_are_read_as_openclaw_reads_them(line: str, words: list[str]) -> None:
    assert split_words(line) == words


@given(line=_LINES)
def test_no_character_is_lost_or_read_twice(line: str) -> None:
    places = [piece.at for piece in pieces(line)]
    assert places == sorted(set(places))


@given(line=_LINES)
def test_commands_are_parts_of_the_line_as_written(line: str) -> None:
    at = 0
    for each in segments(line, pipes=True):
        found = line.find(each, at)
        assert found >= at, each
        at = found + len(each)


@pytest.mark.parametrize(
    ("line", "bare"), [("a 'b' c", "a  c"), ('"a"\\|b', "\\|b"), ("'a\\' b", " b"), ("a 'b", None), ("a\\", None)]
)
def test_what_is_quoted_is_left_out(line: str, bare: str | None) -> None:
    assert unquoted(line) == bare


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("a;b&&c||d|e", ["a", "b", "c", "d", "e"]),
        ("a & b", ["a & b"]),
        ("a '; b' \\; c", ["a '; b' \\; c"]),
        ("a\r\nb;;", ["a", "b"]),
        ("a ||| b", ["a ", " b"]),
        ("a; 'b; c", ["a", " 'b; c"]),
    ],
)
def test_commands_end_where_a_shell_ends_them(line: str, found: list[str]) -> None:
    assert segments(line, pipes=True) == found
