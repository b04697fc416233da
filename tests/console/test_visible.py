"""Text that strangers wrote, as people see it."""

import pytest

from apps.console.commands import segments
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


def test_a_line_is_cut_at_its_operators_but_not_inside_quotes() -> None:
    drawn = segments("a -x && b 'c; d' | e")
    assert [(segment.program, segment.op) for segment in drawn] == [("a", "&&"), ("b", "|"), ("e", "")]


def test_a_segment_that_shows_a_danger_is_marked() -> None:
    drawn = segments("ls; rm -rf /", dangers=("rm",))
    assert [segment.level for segment in drawn] == ["miss", "bad"]


def test_no_letter_of_a_command_is_lost() -> None:
    text = "FOO=1 env \"a b\" 'x'y $HOME `id` https://h/p --flag=v \\; (q)"
    assert "".join(word.text for segment in segments(text) for word in segment.words) == text


def test_a_masked_secret_is_marked_inside_its_text() -> None:
    shown = json_text({"header": "Bearer [masked 26 characters, 1f2e3d4c]"})
    assert '<span class="m">[masked 26 characters, 1f2e3d4c]</span>' in shown
