"""Text that strangers wrote, as people see it."""

import pytest

from apps.console.commands import clipped, drawn, guessed_spans, spans_of
from apps.console.line_parts import is_dangerous
from apps.console.templatetags.console import json_text, milliseconds, visible, visible_text

HIDDEN = ["\u202e", "\u2066", "\u200b", "\x07", "\x1b", "\u2028", "\ufeff", "\u00ad", "\u3164", "\ue000", "\U000e0041"]


@pytest.mark.parametrize("letter", HIDDEN)
def test_a_hidden_letter_becomes_its_code(letter: str) -> None:
    shown = visible(f"a{letter}b")
    assert letter not in shown
    assert f"U+{ord(letter):04X}" in shown
    assert visible_text(f"a{letter}b") == f"a[U+{ord(letter):04X}]b"


@pytest.mark.parametrize("text", ["plain", "naïve", "中文，标点", "🙂", "two\nlines\tand a tab", "العربية"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_markup_is_escaped() -> None:
    assert visible("<b>&'\"\u202e") == (
        '&lt;b&gt;&amp;&#x27;&quot;<span class="hidden-char" title="RIGHT-TO-LEFT OVERRIDE">U+202E</span>'
    )


def test_json_is_escaped_in_keys_and_values() -> None:
    shown = json_text({"<k>": ["<v>\u202e", 1, None, True, {}]})
    assert "<k>" not in shown
    assert "&lt;v&gt;" in shown
    assert "U+202E" in shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (88, "88 ms"), (14_900, "14.9 s"), (125_000, "2 min 5 s"), (11_040_000, "3 h 4 min")],
)
def test_a_duration_reads_as_people_say_it(value: int | None, shown: str) -> None:
    assert milliseconds(value) == shown


LINE = "FOO=1 env \"a b\" 'x'y $HOME `id` https://h/p --flag=v \\; (q) && b 'c; d'\n | e ;"


def test_a_line_that_nobody_judged_is_cut_at_its_operators_but_not_inside_quotes() -> None:
    line = "a -x && b 'c; d' | e"
    assert [line[span.start : span.end] for span in guessed_spans(line)] == ["a -x", "b 'c; d'", "e"]


@pytest.mark.parametrize(
    ("line", "danger", "is_marked"),
    [("rm -rf /", "rm", True), ("firm x", "rm", False), ("curl x", "curl x | sh", True), ("ls", "rm", False)],
)
def test_a_command_that_shows_a_danger_is_marked(line: str, danger: str, is_marked: bool) -> None:
    assert is_dangerous(line, (danger,)) == is_marked


def test_no_letter_of_a_command_is_lost() -> None:
    assert "".join(piece.text for piece in drawn(LINE, guessed_spans(LINE))) == LINE


def test_commands_that_stand_inside_others_are_marked_once() -> None:
    parts = [{"start": 0, "end": 9}, {"start": 4, "end": 8}, {"start": 12, "end": 13}]
    spans = spans_of(parts, ["miss", "miss", ""])
    assert [(span.start, span.number) for span in spans] == [(0, 1), (12, 3)]
    assert "".join(piece.text for piece in drawn("ls $(rm x) ; b", spans)) == "ls $(rm x) ; b"


@pytest.mark.parametrize("head", [0, 1, 7, 30])
def test_a_clipped_line_keeps_both_ends_and_counts_the_rest(head: int) -> None:
    pieces = clipped(drawn(LINE, guessed_spans(LINE)), head=head, tail=9)
    cut = next(number for number, piece in enumerate(pieces) if piece.cut)
    first, last = ("".join(piece.text for piece in part) for part in (pieces[:cut], pieces[cut + 1 :]))
    assert (first, last) == (LINE[:head], LINE[-9:])
    assert pieces[cut].cut == len(LINE) - head - 9


def test_a_masked_secret_is_marked_inside_its_text() -> None:
    shown = json_text({"header": "Bearer [masked 26 characters, 1f2e3d4c]"})
    assert '<span class="m">[masked 26 characters, 1f2e3d4c]</span>' in shown
