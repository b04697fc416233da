"""Where a `$NAME` in a Python file is a mistake, and where it is text."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.shell.python_source import shell_variable_in_python


def _found(text: str) -> str | None:
    match = shell_variable_in_python(text)
    return None if match is None else match[0]


@pytest.mark.parametrize(
    "text",
    [
        "x = $FOO",
        "x = $_",
        "f'{$FOO}'",
        "f'{x[$FOO]}'",
        "f'{(lambda: $FOO)()}'",
        "rF'{{{$FOO}}}'",
        "f'{x:{$FOO}}'",
        "f'''\n{\n$FOO}'''",
        "f'{\"a\" + $FOO}'",
        "f'\\{$FOO}'",
        "'a' $FOO",
        "'open\n$FOO",
        "# a\n$FOO",
        "# a\r$FOO",
        "f'{a # b }\n}' + $FOO",
        "f'{lambda x: $FOO}'",
        "f'}}{a}' + $FOO",
    ],
)
def test_code_with_a_variable_of_the_shell_is_found(text: str) -> None:
    assert (_found(text) or "")[:2] in ("$F", "$_")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = $foo",
        "x = $1",
        "x = $",
        "'$FOO'",
        "b'''\n$FOO\n'''",
        "'\\'$FOO'",
        "'a\\\r\n$FOO'",
        "# $FOO",
        "f'$FOO'",
        "f'{x:$FOO}'",
        "f'{x!r:>{w}$FOO}'",
        "f'{{$FOO}}'",
        "f'{x}$FOO'",
        "f'{d[\"$FOO\"]}'",
        "f'{lambdas:$FOO}'",
        "fr'\\$FOO'",
        "xf'{$FOO}'",
        "'''open $FOO",
    ],
)
def test_text_and_comments_may_hold_what_they_like(text: str) -> None:
    assert _found(text) is None


@given(st.text(st.sampled_from("a$FO'\"\\{}#\n :"), max_size=30), st.sampled_from(["", "b", "r"]))
def test_no_string_that_python_writes_hides_or_shows_a_variable(content: str, prefix: str) -> None:
    literal = repr(content) if prefix != "b" else repr(content.encode())
    assert _found(f"x = {literal}\n") is None
    assert _found(f"x = {literal}; y = $FOO\n") == "$FOO"


@settings(max_examples=200)
@given(st.text(st.sampled_from("af$O'\"\\{}[]()#\n\r:l ambd"), max_size=60))
def test_any_text_is_read_to_its_end(text: str) -> None:
    match = shell_variable_in_python(text)
    assert match is None or match[0].startswith("$")


@pytest.mark.parametrize("piece", ["f'{", "\\'", "'", "{", 'f"{x:{', "l", "#\n", "''''"])
def test_a_large_text_of_anything_is_read_in_time(piece: str) -> None:
    started = time.thread_time()
    shell_variable_in_python(piece * (100_000 // len(piece)))
    assert time.thread_time() - started < 5
