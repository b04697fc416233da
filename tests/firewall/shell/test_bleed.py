"""Scripts in which a shell's language bled into another's are found before they run. More in the vectors."""

import os
import time
from pathlib import Path

import pytest

from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.shell.bleed import SCRIPT_LIMIT_BYTES, FolderScripts, Preflight, ShellBleedError, Unread, preflight

NEWER, OLDER = DIALECTS["2026.9"], DIALECTS["2026.2"]
BOTH = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
BLEEDING = "import os\nprint($HOME_DIR)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "work"
    (inside / "sub").mkdir(parents=True)
    for path in ("a.py", "sub/a.py", "b c.py"):
        (inside / path).write_text(BLEEDING, encoding="utf-8")
    (inside / "fine.py").write_text("print('$HOME_DIR')  # $HOME_DIR\n", encoding="utf-8")
    return inside


def _look(folder: Path, command: str, dialect: Dialect = NEWER) -> Preflight:
    return preflight(dialect, command, FolderScripts(str(folder)))


def _kind(folder: Path, command: str, dialect: Dialect = NEWER) -> str:
    bleed = _look(folder, command, dialect).bleed
    return "" if bleed is None else bleed.kind


@BOTH
def test_a_variable_of_the_shell_in_python_is_told_with_its_place(folder: Path, dialect: Dialect) -> None:
    answer = _look(folder, "python3 sub/a.py", dialect)
    with pytest.raises(ShellBleedError) as caught:
        answer.check()
    bleed = caught.value.bleed
    assert (bleed.token, bleed.file, bleed.line, bleed.language) == ("$HOME_DIR", "a.py", 2, "python")
    assert caught.value.message == (
        "`$HOME_DIR` in line 2 of `a.py` is a variable of the shell, not of python: "
        'read it with `os.environ["HOME_DIR"]`'
    )


@pytest.mark.parametrize(
    "command",
    [
        "python a.py",
        "PYTHON3.12 -u -W ignore a.py x",
        "A=1 B='2 3' python -X dev -- a.py",
        "env -i -u HOME A=1 python a.py",
        "/usr/bin/env -C / python ./a.py",
        "python 'b c.py'",
        'python "b c".py',
        "python b\\ c.py # not this",
        "  python\ta.py  ",
    ],
)
def test_scripts_are_found_as_a_shell_would_find_them(folder: Path, command: str) -> None:
    assert _kind(folder, command) == "shell_variable"


@pytest.mark.parametrize(
    "command",
    [
        "",
        "   ",
        "python",
        "python -c 'a.py'",
        "python -m a a.py",
        "python - a.py",
        "python -- a.txt",
        "python -W a.py",
        "python fine.py",
        "python 'a.py",
        "python a.py\\",
        "echo python a.py",
        "'python a.py'",
        "# python a.py",
        "env -- ls a.py",
        "env A=1",
        "node a.py",
        "bash -c 'echo python'",
        "bash script.sh -c 'python a.py; ls'",
        "python --version && cat a.py",
        "python -c 'x' && cat a.py",
        "node -e 1 | cat a.js",
        "ls; echo 'python a.py'",
    ],
)
def test_other_lines_pass(folder: Path, command: str) -> None:
    assert _look(folder, command).bleed is None


@pytest.mark.parametrize(
    "command",
    [
        "ls && python a.py",
        "ls\npython a.py",
        "if true; then python a.py; fi",
        "cat a.py | python",
        "cat a.py | env A=1 python3 -",
        "bash -c 'python a.py'",
        "bash -lc 'cd /; node x.js'",
        "/bin/sh -o pipefail -c 'cat a.py | python'",
        "zsh --login -c 'python a.py'",
        "env -i bash -c 'python a.py'",
        "python <(cat x)",
        "ls; node --import x.js",
        "false || NODE x.js",
        "python `echo a.py`; python a.py",
    ],
)
def test_lines_too_involved_to_tell_are_refused_by_the_newer_release(folder: Path, command: str) -> None:
    assert _kind(folder, command) == "complex_interpreter_invocation"
    assert _kind(folder, command, OLDER) in ("", "shell_variable")


def test_the_older_release_looks_into_javascript_and_the_newer_does_not(folder: Path) -> None:
    (folder / "a.js").write_text("\n \nNODE server\n", encoding="utf-8")
    (folder / "b.js").write_text("log(`$USER_ID`)", encoding="utf-8")
    assert [_kind(folder, f"node {name}.js", OLDER) for name in "ab"] == ["js_shell_syntax", "shell_variable"]
    assert [_kind(folder, f"node {name}.js") for name in "ab"] == ["", ""]


@BOTH
def test_nothing_outside_the_folder_is_read(folder: Path, dialect: Dialect) -> None:
    outside = folder.parent / "out.py"
    outside.write_text(BLEEDING, encoding="utf-8")
    (folder / "link.py").symlink_to(outside)
    (folder / "hard.py").hardlink_to(outside)
    (folder / "loop.py").symlink_to(folder / "loop.py")
    for path in ("../out.py", str(outside), "link.py", "hard.py", "loop.py", "sub/../../out.py", "missing.py"):
        answer = _look(folder, f"python {path}", dialect)
        assert (answer.bleed, answer.unread) == (None, ((path, Unread.MISSING),)), path


@BOTH
def test_a_large_file_is_not_read_and_that_is_said(folder: Path, dialect: Dialect) -> None:
    script = folder / "large.py"
    script.write_text(BLEEDING + "#" * (SCRIPT_LIMIT_BYTES - len(BLEEDING)), encoding="utf-8")
    assert _kind(folder, "python large.py", dialect) == "shell_variable"
    script.write_text(BLEEDING + "#" * SCRIPT_LIMIT_BYTES, encoding="utf-8")
    assert _look(folder, "python large.py", dialect) == Preflight(None, (("large.py", Unread.TOO_LARGE),))


@BOTH
def test_what_is_no_file_stops_nobody(folder: Path, dialect: Dialect) -> None:
    os.mkfifo(folder / "pipe.py")
    (folder / "folder.py").mkdir()
    for path in ("pipe.py", "folder.py"):
        assert _look(folder, f"python {path}", dialect).unread == ((path, Unread.MISSING),)


def test_bytes_that_are_no_text_are_read_all_the_same(folder: Path) -> None:
    (folder / "odd.py").write_bytes(b"\xff\xfe\r\n\xc3(\r$BAD_ONE")
    bleed = _look(folder, "python odd.py").bleed
    assert bleed is not None
    assert (bleed.token, bleed.line) == ("$BAD_ONE", 3)


@pytest.mark.parametrize(
    "command",
    ["python " + "-a " * 5_000 + "x", "python" + " " * 16_000, "&&".join(["python a.py"] * 1_000), "'\\" * 8_000],
)
@BOTH
def test_a_hostile_line_is_read_in_time(folder: Path, dialect: Dialect, command: str) -> None:
    started = time.thread_time()
    _look(folder, command, dialect)
    assert time.thread_time() - started < 5
