"""How a line is read: words when it is one plain command, and every sign that needs a shell."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.firewall.shell import read_line


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("ls -la", ("ls", "-la")),
        ("  ls\t-l  ", ("ls", "-l")),
        ("l's' \"-la\"", ("ls", "-la")),
        ("echo '$HOME `id` *'", ("echo", "$HOME `id` *")),
        (r"echo a\ b \$HOME", ("echo", "a b", "$HOME")),
        (r'echo "a \"b\" \\ \n"', ("echo", 'a "b" \\ \\n')),
        ("echo '' \"\"", ("echo", "", "")),
        ("echo hi!", ("echo", "hi!")),
        ("git log --format=%H a#b", ("git", "log", "--format=%H", "a#b")),
        ("'A=1' b", ("A=1", "b")),
    ],
)
def test_a_plain_command_is_its_words(text: str, argv: tuple[str, ...]) -> None:
    line = read_line(text)

    assert (line.argv, line.syntax, line.unreadable) == (argv, (), "")


@pytest.mark.parametrize(
    "text",
    [
        "ls; rm x", "ls && rm x", "ls || rm x", "ls | sh", "ls &", "ls > x", "ls 2>&1", "cat < x", "echo $HOME",
        "echo `id`", "echo $(id)", 'echo "$HOME"', 'echo "`id`"', "(ls)", "{ ls; }", "ls *.txt", "ls a?", "ls [ab]",
        "ls ~", "ls #x", "ls\nrm x", "ls\rrm x", "ls \\\n-l", "cat <<EOF", "echo $'a'", "echo {a,b}",
    ],
)  # fmt: skip
def test_whatever_a_shell_would_read_differently_is_named(text: str) -> None:
    assert {finding.code for finding in read_line(text).syntax} == {"shell_syntax"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("A=1 ls", "assignment"),
        ("PATH+=x ls", "assignment"),
        ("if true", "reserved_word"),
        ("! ls", "reserved_word"),
        ("ls \u202egpj.x", "invisible_character"),
        ("ls a\u00a0b", "invisible_character"),
        ("ls 'a\u200bb'", "invisible_character"),
        ("ls \x1b", "invisible_character"),
        ("ls \\\x07", "invisible_character"),
    ],
)
def test_what_a_person_would_overlook_is_named(text: str, code: str) -> None:
    assert code in {finding.code for finding in read_line(text).syntax}


@pytest.mark.parametrize("text", ["ls 'a", 'ls "a', "ls \\", "ls a\0b", "x" * 20_000])
def test_what_no_shell_could_run_is_unreadable(text: str) -> None:
    assert read_line(text).unreadable


@given(st.lists(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=8), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(words: list[str]) -> None:
    line = read_line(shlex.join(words))

    assert line.argv == tuple(words)
    assert {finding.code for finding in line.syntax} <= {"invisible_character", "assignment", "reserved_word"}


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader_and_plain_ones_agree_with_the_standard_library(text: str) -> None:
    line = read_line(text)

    if not line.syntax and not line.unreadable:
        assert list(line.argv) == shlex.split(text)
