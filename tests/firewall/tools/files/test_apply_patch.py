"""`apply_patch`: the grammar, where hunks belong, and that a patch is applied as a whole or not at all."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.files.writing import draft_file
from tests.firewall.tools.files.conftest import Order


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch"))


def everything(desk: Path) -> dict[str, str]:
    return {str(each.relative_to(desk)): each.read_text() for each in desk.rglob("*") if each.is_file()}


@pytest.fixture
def files(desk: Path) -> Path:
    (desk / "src").mkdir()
    (desk / "src/app.py").write_text(
        "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 1\n"
    )
    (desk / "old.txt").write_text("bye\n")
    return desk


def test_several_files_are_added_changed_moved_and_deleted_at_once(files: Path, order: Order) -> None:
    text = patch(
        "*** Add File: docs/new.txt",
        "+first",
        "+",
        "+third",
        "*** Update File: src/app.py",
        "*** Move to: lib/app.py",
        "@@ class B:",
        "     def f(self):",
        "-        return 1",
        "+        return 2",
        "*** Delete File: old.txt",
    )

    told = order("apply_patch", patch=text)

    assert told == {
        "added": ["docs/new.txt"],
        "changed": [],
        "deleted": ["old.txt"],
        "moved": [{"from": "src/app.py", "to": "lib/app.py"}],
    }
    assert everything(files) == {
        "docs/new.txt": "first\n\nthird\n",
        "lib/app.py": "class A:\n    def f(self):\n        return 1\n\nclass B:\n    def f(self):\n        return 2\n",
    }


HUNKS: dict[str, tuple[str, list[str], str]] = {
    "the first hunk needs no mark": ("a\nb\n", [" a", "-b", "+c"], "a\nc\n"),
    "hunks follow each other": ("a\nb\na\nb\n", ["@@", "-a", "+1", "@@", "-a", "+2"], "1\nb\n2\nb\n"),
    "headers narrow step by step": ("x\ny\nk\nz\ny\nk\n", ["@@ z", "@@ y", "-k", "+K"], "x\ny\nk\nz\ny\nK\n"),
    "lines at the end": ("k\nx\nk\n", ["@@", "-k", "+K", "*** End of File"], "k\nx\nK\n"),
    "lines added at the end": ("a\n", ["@@", "+b", "*** End of File"], "a\nb\n"),
    "lines added to an end without a line end": ("a", ["@@", "+b"], "a\nb\n"),
    "lines added behind a header": ("a\nb\n", ["@@ a", "+x"], "a\nx\nb\n"),
    "an empty line is an empty line of context": ("a\n\nb\n", ["@@", " a", "", "-b", "+c"], "a\n\nc\n"),
    "spaces at line ends do not matter, and stay": ("a  \nb\n", ["@@", " a", "-b", "+c"], "a  \nc\n"),
    "indentation does not matter, and stays": ("    a\n    b\n", ["@@", " a", "-b", "+    c"], "    a\n    c\n"),
    "line ends stay as they are": ("a\r\nb\r\n", ["@@", " a", "-b", "+c"], "a\r\nc\r\n"),
    "an end without a line end stays so": ("a\nb", ["@@", "-a", "+c"], "c\nb"),
    "everything can go": ("a\nb\n", ["@@", "-a", "-b"], ""),
}


@pytest.mark.parametrize("name", HUNKS)
def test_a_hunk_finds_its_place(desk: Path, order: Order, name: str) -> None:
    before, lines, after = HUNKS[name]
    (desk / "f").write_bytes(before.encode())

    told = order("apply_patch", patch=patch("*** Update File: f", *lines))

    assert told.get("changed") == ["f"], told
    assert (desk / "f").read_bytes() == after.encode()


WRONG: dict[str, tuple[str, str, str]] = {
    "no beginning": ("*** Update File: f", "patch_invalid", "the first line must be `*** Begin Patch`"),
    "no end": ("*** Begin Patch\n*** Delete File: f", "patch_invalid", "the last line must be `*** End Patch`"),
    "nothing in it": (patch(), "patch_invalid", "changes no file"),
    "an unknown header": (patch("*** Rename File: f"), "patch_invalid", "line 2 of the patch"),
    "no name": (patch("*** Delete File: "), "patch_invalid", "line 2 of the patch"),
    "a unified diff": (patch("--- a/f", "+++ b/f"), "patch_invalid", "line 2 of the patch `--- a/f` begins no change"),
    "no hunk": (patch("*** Update File: f"), "patch_invalid", "changes nothing in `f`"),
    "an empty hunk": (patch("*** Update File: f", "@@"), "patch_invalid", "is followed by no line"),
    "a bare line": (patch("*** Update File: f", "@@", "-one", "oops"), "patch_invalid", "line 5 of the patch `oops`"),
    "no such file": (patch("*** Update File: g", "@@", "-a"), "not_found", "`g` does not exist"),
    "nothing to delete": (patch("*** Delete File: g"), "not_found", "`g` does not exist"),
    "a file that is there": (patch("*** Add File: f", "+x"), "file_exists", "`f` exists already"),
    "a move onto a file": (patch("*** Update File: f", "*** Move to: h"), "file_exists", "`h` exists already"),
    "a folder": (patch("*** Delete File: d"), "not_a_file", "`d` is a folder"),
    "lines that differ": (
        patch("*** Update File: f", "@@", " one", "-three"),
        "hunk_not_found",
        "the hunk at line 3 of the patch does not fit `f`: line 1 reads `one`, but what follows there differs",
    ),
    "no such line": (patch("*** Update File: f", "@@", "-nine"), "hunk_not_found", "no line reads `nine`"),
    "no such header": (
        patch("*** Update File: f", "@@ nine", "+x"),
        "hunk_not_found",
        "no line from 1 on reads `nine`",
    ),
    "the wrong order": (
        patch("*** Update File: f", "@@", "-two", "@@", "-one"),
        "hunk_not_found",
        "`one` stands at line 1, before the end of the hunk before it",
    ),
    "not at the end": (
        patch("*** Update File: f", "@@", "-one", "*** End of File"),
        "hunk_not_found",
        "the file does not end with its lines",
    ),
    "too many files": (patch(*(f"*** Add File: n{n}\n+x" for n in range(51))), "patch_too_large", "50 files at most"),
    "bytes": (patch("*** Update File: bytes", "@@", "-x"), "not_text", "is not text"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_patch_that_cannot_be_applied_says_where_and_why(desk: Path, order: Order, name: str) -> None:
    text, code, says = WRONG[name]
    (desk / "f").write_text("one\ntwo\n")
    (desk / "h").write_text("here\n")
    (desk / "bytes").write_bytes(b"\xff")
    (desk / "d").mkdir()

    told = order("apply_patch", patch=text)

    assert (told["code"], says in told["message"]) == (code, True), told
    assert sorted(each.name for each in desk.iterdir()) == ["bytes", "d", "f", "h"]


def test_a_file_that_was_deleted_before_may_be_added_again(desk: Path, order: Order) -> None:
    (desk / "f").write_text("one\n")

    told = order("apply_patch", patch=patch("*** Delete File: f", "*** Add File: f", "+new"))

    assert (told["deleted"], told["added"]) == (["f"], ["f"])
    assert (desk / "f").read_text() == "new\n"


def test_marks_of_a_shell_around_the_patch_are_taken_off(desk: Path, order: Order) -> None:
    told = order("apply_patch", patch="<<'EOF'\n" + patch("*** Add File: f", "+x") + "\nEOF\n")

    assert told["added"] == ["f"]


def test_a_changed_or_moved_file_keeps_its_mode(desk: Path, order: Order) -> None:
    (desk / "f").write_text("one\n")
    (desk / "f").chmod(0o754)

    order("apply_patch", patch=patch("*** Update File: f", "*** Move to: g", "@@", "-one", "+1"))

    assert (desk / "g").stat().st_mode & 0o777 == 0o754
    assert not (desk / "f").exists()


def test_one_operation_that_fails_leaves_every_file_as_it_was(files: Path, order: Order) -> None:
    before = everything(files)

    told = order("apply_patch", patch=patch("*** Delete File: old.txt", "*** Add File: a", "+x", "*** Delete File: b"))

    assert told["code"] == "not_found"
    assert everything(files) == before


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, int], None]:
    """Let one call of a function of `os` fail, by its number."""

    def fail(name: str, number: int) -> None:
        genuine, calls = getattr(os, name), [0]

        def call(*args: Any, **options: Any) -> Any:
            calls[0] += 1
            if calls[0] == number:
                raise OSError(5, "Input/output error")
            return genuine(*args, **options)

        monkeypatch.setattr(os, name, call)

    return fail


FOUR = patch(
    "*** Delete File: old.txt",
    "*** Add File: one",
    "+x",
    "*** Update File: src/app.py",
    "@@",
    "-class A:",
    "+class C:",
    "*** Add File: two",
    "+y",
)


@pytest.mark.parametrize(("step", "number"), [("replace", 1), *(("link", at) for at in (1, 2, 3, 4)), ("unlink", 1)])
def test_a_disk_that_fails_on_the_way_leaves_every_file_as_it_was(
    files: Path, order: Order, failing: Callable[[str, int], None], step: str, number: int
) -> None:
    before = everything(files)
    failing(step, number)

    assert order("apply_patch", patch=FOUR)["code"] == "file_error"
    assert everything(files) == before


def test_a_draft_that_cannot_be_taken_away_is_told_of(
    files: Path, order: Order, failing: Callable[[str, int], None]
) -> None:
    failing("unlink", 2)

    told = order("apply_patch", patch=FOUR)

    assert told["added"] == ["one", "two"]
    assert [name for name in everything(files) if name.endswith(".draft")] == told["left_over"]


OUTSIDE = ["../secret", "/etc/hostname", "away/secret", "link", "twin", "~/secret", "a/../../secret"]


@pytest.mark.parametrize("path", OUTSIDE)
@pytest.mark.parametrize(
    "lines",
    [
        ("*** Delete File: {}",),
        ("*** Update File: {}", "@@", "-outside", "+mine"),
        ("*** Update File: f", "*** Move to: {}"),
    ],
    ids=["delete", "update", "move"],
)
def test_nothing_outside_is_touched(desk: Path, order: Order, path: str, lines: tuple[str, ...]) -> None:
    (desk / "f").write_text("one\n")
    (desk / "link").symlink_to("../secret")
    (desk / "away").symlink_to("..")
    (desk / "twin").hardlink_to(desk / "../secret")

    told = order("apply_patch", patch=patch(*(line.format(path) for line in lines)))

    assert told["code"] in {"path_outside_workspace", "symbolic_link", "not_a_folder"}
    assert (desk / "../secret").read_text() == "outside"
    assert (desk / "f").read_text() == "one\n"


def test_a_new_file_is_not_made_through_a_link(desk: Path, order: Order) -> None:
    (desk / "away").symlink_to("..")

    assert order("apply_patch", patch=patch("*** Add File: away/new", "+x"))["code"] in {
        "symbolic_link",
        "not_a_folder",
    }
    assert not (desk / "../new").exists()


def test_a_name_that_is_taken_while_the_patch_is_written_is_not_overwritten(
    desk: Path, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:

    def and_then_another_makes_it(folder: int, body: bytes, mode: int) -> str:
        (desk / "f").write_text("theirs\n")
        return draft_file(folder, body, mode)

    monkeypatch.setattr("apps.firewall.tools.files.patching.draft_file", and_then_another_makes_it)

    assert order("apply_patch", patch=patch("*** Add File: f", "+mine"))["code"] == "file_error"
    assert (desk / "f").read_text() == "theirs\n"
    assert [each.name for each in desk.iterdir()] == ["f"]
