"""`edit`: which texts are replaced, and what a model is told that copied one wrongly."""

from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.files.beneath import see_text
from tests.firewall.tools.files.conftest import Order


def edits(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"oldText": old, "newText": new} for old, new in pairs]


def test_texts_are_replaced_and_shown_line_by_line(desk: Path, order: Order) -> None:
    (desk / "a").write_text("one\ntwo\nthree\n")

    told = order("edit", path="a", edits=edits(("three", "3"), ("one", "1\n1b")))

    assert (desk / "a").read_text() == "1\n1b\ntwo\n3\n"
    assert (told["replacements"], told["first_line"]) == (2, 1)
    assert told["diff"] == "@@ line 1 @@\n-one\n+1\n+1b\n@@ line 3 @@\n-three\n+3"
    assert "matched_loosely" not in told


def test_mode_line_ends_and_the_mark_at_the_beginning_stay(desk: Path, order: Order) -> None:
    script = desk / "run.sh"
    script.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\nfour")
    script.chmod(0o750)

    order("edit", path="run.sh", edits=edits(("one\ntwo", "1\n2\n2b")))

    assert script.read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree\nfour"
    assert script.stat().st_mode & 0o777 == 0o750
    assert [each.name for each in desk.iterdir()] == ["run.sh"]


@pytest.mark.parametrize(
    ("content", "old"),
    [
        ("say \u201chello\u201d \u2013 now\n", 'say "hello" - now'),
        ("a = 1  \nb = 2\n", "a = 1\nb = 2"),
        ("10\u00a0km\n", "10 km"),
    ],
)
def test_quotes_dashes_and_spaces_need_not_be_the_same_and_that_is_said(
    desk: Path, order: Order, content: str, old: str
) -> None:
    (desk / "a").write_text(content)

    told = order("edit", path="a", edits=edits((old, "new")))

    assert (desk / "a").read_text() == "new\n"
    assert told["matched_loosely"] == [1]


def test_a_text_that_stands_there_exactly_goes_before_one_that_is_only_alike(desk: Path, order: Order) -> None:
    (desk / "a").write_text("\u2018x\u2019 'x'\n")

    order("edit", path="a", edits=edits(("'x'", "y")))

    assert (desk / "a").read_text() == "\u2018x\u2019 y\n"


@pytest.mark.parametrize(
    ("changes", "code", "says"),
    [
        (edits(("four", "4")), "old_text_not_found", "edit 1: the text is not in `a`; no line of it reads `four`"),
        (edits(("  two\nfour", "4")), "old_text_not_found", "line 2 reads `two`; what follows there differs"),
        (edits(("t", "T")), "old_text_ambiguous", "edit 1: the text stands in `a` 2 times, at lines 2, 3"),
        (edits(("one\ntwo", "1"), ("two\nthree", "3")), "edits_overlap", "edits 1 and 2 overlap at line 2 of `a`"),
        (edits(("two", "two")), "nothing_changed", "`a` stays as it is"),
        (edits(("", "x")), "old_text_empty", "edit 1"),
        (edits(("two", "\ud800")), "not_text", "half a character"),
    ],
)
def test_what_cannot_be_replaced_is_told_so_that_a_model_can_mend_it(
    desk: Path, order: Order, changes: list[dict[str, str]], code: str, says: str
) -> None:
    (desk / "a").write_text("one\ntwo\nthree\n")

    told = order("edit", path="a", edits=changes)

    assert told["code"] == code
    assert says in told["message"]
    assert (desk / "a").read_text() == "one\ntwo\nthree\n"


def test_places_that_overlap_count_as_two(desk: Path, order: Order) -> None:
    (desk / "a").write_text("aaa")

    assert order("edit", path="a", edits=edits(("aa", "b")))["code"] == "old_text_ambiguous"


def test_one_wrong_edit_keeps_the_others_from_being_made(desk: Path, order: Order) -> None:
    (desk / "a").write_text("one\n")

    assert order("edit", path="a", edits=edits(("one", "1"), ("two", "2")))["code"] == "old_text_not_found"
    assert (desk / "a").read_text() == "one\n"


def test_a_long_diff_is_cut_and_says_so(desk: Path, order: Order) -> None:
    (desk / "a").write_text("one\n")

    told = order("edit", path="a", edits=edits(("one", "x" * 20_000)))

    assert told["diff"].endswith("more characters …")


def test_what_somebody_else_wrote_meanwhile_is_not_lost(
    desk: Path, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    (desk / "a").write_text("one\n")

    def and_then_another_writes(root: str, path: str) -> Any:
        seen = see_text(root, path)
        (desk / "a").write_text("theirs, longer\n")
        return seen

    monkeypatch.setattr("apps.firewall.tools.files.editing.see_text", and_then_another_writes)

    assert order("edit", path="a", edits=edits(("one", "1")))["code"] == "changed_meanwhile"
    assert (desk / "a").read_text() == "theirs, longer\n"


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "link", "away/secret", "twin", "~/secret"])
def test_nothing_outside_is_edited(desk: Path, order: Order, path: str) -> None:
    (desk / "link").symlink_to("../secret")
    (desk / "away").symlink_to("..")
    (desk / "twin").hardlink_to(desk / "../secret")

    told = order("edit", path=path, edits=edits(("outside", "mine")))

    assert told["code"] in {"path_outside_workspace", "symbolic_link", "not_a_folder"}
    assert (desk / "../secret").read_text() == "outside"


def test_an_absolute_path_within_the_folder_is_taken(desk: Path, order: Order) -> None:
    (desk / "a").write_text("one\n")

    assert order("edit", path=f"{desk}/a", edits=edits(("one", "1")))["replacements"] == 1
