"""`read` and `write` in real processes, and every way out of the workspace that we could think of."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.files.beneath import FILE_LIMIT_BYTES, folder_beneath
from apps.firewall.tools.running import Command, Place, ToolOutcome

pytestmark = pytest.mark.unhurried


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = tmp_path / "desk"
    root.mkdir(mode=0o700)
    (tmp_path / "secret").write_text("outside")
    return Place(root=str(root), python=sys.executable)


async def call(tool: str, place: Place, **params: Any) -> ToolOutcome:
    return await BUILTINS[tool].run(params, place, None)


def code(outcome: ToolOutcome) -> str:
    assert outcome.error is not None
    return outcome.error["code"]


async def test_what_was_written_is_read_again(place: Place) -> None:
    wrote = await call("write", place, path="notes/today.txt", content="one\ntwo 二\n")
    read = await call("read", place, path="notes/today.txt")

    assert wrote.result == {"path": "notes/today.txt", "bytes": 12, "created": True}
    assert read.result is not None
    assert read.result["content"] == "one\ntwo 二\n"
    assert read.result["truncated"] is False
    assert Path(place.root, "notes/today.txt").stat().st_mode & 0o777 == 0o600


async def test_reading_takes_lines_from_an_offset_and_states_the_cut(place: Place) -> None:
    Path(place.root, "long").write_text("".join(f"line {number}\n" for number in range(1, 11)))

    part = await call("read", place, path="long", offset=4, limit=2)

    assert part.result == {
        "path": "long",
        "content": "line 4\nline 5\n",
        "first_line": 4,
        "lines": 2,
        "total_lines": 10,
        "truncated": True,
    }


async def test_an_offset_behind_the_end_reads_nothing(place: Place) -> None:
    Path(place.root, "short").write_text("one\n")

    part = await call("read", place, path="short", offset=9)

    assert part.result is not None
    assert (part.result["content"], part.result["total_lines"]) == ("", 1)


async def test_replacing_keeps_the_mode_and_leaves_no_draft(place: Place) -> None:
    script = Path(place.root, "run.sh")
    script.write_text("old")
    script.chmod(0o750)

    wrote = await call("write", place, path="run.sh", content="new")

    assert wrote.result is not None
    assert wrote.result["created"] is False
    assert script.stat().st_mode & 0o777 == 0o750
    assert [entry.name for entry in Path(place.root).iterdir()] == ["run.sh"]


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc/passwd", "~/secret", "./../secret", "x\0y"])
@pytest.mark.parametrize("tool", ["read", "write"])
async def test_a_path_cannot_climb(place: Place, tool: str, path: str) -> None:
    content = {"content": "mine"} if tool == "write" else {}

    outcome = await call(tool, place, path=path, **content)

    assert code(outcome) in {"path_outside_workspace", "path_invalid"}
    assert Path(place.root, "../secret").read_text() == "outside"


@pytest.mark.parametrize("tool", ["read", "write"])
async def test_a_link_to_a_file_outside_is_not_followed(place: Place, tool: str) -> None:
    Path(place.root, "link").symlink_to("../secret")
    content = {"content": "mine"} if tool == "write" else {}

    outcome = await call(tool, place, path="link", **content)

    assert code(outcome) == "symbolic_link"
    assert Path(place.root, "../secret").read_text() == "outside"


@pytest.mark.parametrize("tool", ["read", "write"])
async def test_a_link_to_a_folder_outside_is_not_entered(place: Place, tool: str) -> None:
    Path(place.root, "away").symlink_to("..")
    content = {"content": "mine"} if tool == "write" else {}

    outcome = await call(tool, place, path="away/secret", **content)

    assert code(outcome) in {"symbolic_link", "not_a_folder"}
    assert Path(place.root, "../secret").read_text() == "outside"


async def test_a_hard_link_to_a_file_outside_is_not_read(place: Place) -> None:
    os.link(Path(place.root, "../secret"), Path(place.root, "twin"))

    assert code(await call("read", place, path="twin")) == "path_outside_workspace"


async def test_writing_over_a_hard_link_leaves_the_other_name_alone(place: Place) -> None:
    os.link(Path(place.root, "../secret"), Path(place.root, "twin"))

    await call("write", place, path="twin", content="mine")

    assert Path(place.root, "../secret").read_text() == "outside"


async def test_a_pipe_is_refused_and_holds_nobody_up(place: Place) -> None:
    os.mkfifo(Path(place.root, "pipe"))

    assert code(await call("read", place, path="pipe")) == "not_a_file"


async def test_what_is_no_readable_text_file_says_so(place: Place) -> None:
    Path(place.root, "folder").mkdir()
    Path(place.root, "binary").write_bytes(b"\xff\xfe")

    assert code(await call("read", place, path="folder")) == "not_a_file"
    assert code(await call("read", place, path=".")) == "not_a_file"
    assert code(await call("read", place, path="binary")) == "not_text"
    assert code(await call("read", place, path="missing")) == "not_found"
    assert code(await call("write", place, path="folder", content="")) == "not_a_file"


async def test_a_file_that_is_too_large_is_refused(place: Place) -> None:
    with Path(place.root, "big").open("wb") as file:
        file.truncate(FILE_LIMIT_BYTES + 1)

    assert code(await call("read", place, path="big")) == "file_too_large"


async def test_a_swap_of_a_folder_for_a_link_during_the_walk_never_leads_out(place: Place) -> None:
    root = Path(place.root)
    for _ in range(20):
        (root / "door").mkdir(exist_ok=True)
        with folder_beneath(place.root, ["door"]) as folder:
            (root / "door").rmdir()
            (root / "door").symlink_to("..")
            assert os.listdir(folder) == []
        (root / "door").unlink()


async def test_a_command_runs_in_the_workspace_with_its_own_environment(place: Place) -> None:
    command = Command(argv=("env",), executable="/usr/bin/env", cwd=place.root)

    outcome = await BUILTINS["exec"].run({"command": "env"}, place, command)

    assert outcome.result is not None
    assert outcome.result["exit_code"] == 0
    assert {line.split("=")[0] for line in outcome.result["stdout"].split()} == {
        *("PATH", "HOME", "LANG", "TERM", "TMPDIR")
    }


async def test_a_command_that_takes_too_long_is_a_failed_call_that_says_why(place: Place) -> None:
    command = Command(argv=("sleep", "60"), executable="/bin/sleep", cwd=place.root)

    outcome = await BUILTINS["exec"].run({"command": "sleep 60", "timeout": 1}, place, command)

    assert (outcome.ended, code(outcome)) == ("failed", "command_timed_out")


async def test_exec_without_a_judged_command_runs_nothing(place: Place) -> None:
    assert code(await call("exec", place, command="touch made")) == "command_missing"
    assert list(Path(place.root).iterdir()) == []


@pytest.mark.parametrize(
    ("tool", "params"),
    [("edit", {}), ("edit", {"path": "a"}), ("edit", {"path": "a", "edits": [{}]}), ("apply_patch", {"patch": "x"})],
)
async def test_params_that_nobody_checked_are_told_of(place: Place, tool: str, params: dict[str, Any]) -> None:
    assert code(await call(tool, place, **params)) == "params_incomplete"


@pytest.mark.parametrize(
    "params", [{"edits": [{"oldText": "one", "newText": "1"}]}, {"oldText": "one", "newText": "1"}], ids=["new", "old"]
)
async def test_edit_takes_the_params_of_both_releases(place: Place, params: dict[str, Any]) -> None:
    Path(place.root, "a").write_text("one\n")

    await call("edit", place, path="a", **params)

    assert Path(place.root, "a").read_text() == "1\n"
