"""`fs_read`, `fs_write` and `fs_list`: in the workspace and in open folders, and nowhere else."""

import base64
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.work import Work
from tests.firewall.tools.configured.works import code, run, work_in

pytestmark = pytest.mark.unhurried


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """`desk` is the workspace, `shared` may be read, `out` be written, `secret` lies beside them."""
    for name in ("desk", "shared", "out"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "shared/a.txt").write_text("one\ntwo\n")
    return tmp_path


@pytest.fixture
def work(folders: Path) -> Work:
    return opened(folders)


def opened(folders: Path, **more: Any) -> Work:
    settings = {"read_folders": [str(folders / "shared")], "write_folders": [str(folders / "out")], **more}
    return work_in(folders / "desk", "own_files", **settings)


async def test_what_was_written_and_added_is_read_again(work: Work) -> None:
    wrote = await run("fs_write", work, path="notes/a.txt", content="one\n")
    added = await run("fs_write", work, path="notes/a.txt", content="two\n", mode="append")
    read = await run("fs_read", work, path="notes/a.txt")

    assert wrote.result == {"path": "notes/a.txt", "bytes": 4, "created": True}
    assert added.result == {"path": "notes/a.txt", "bytes": 4, "created": False, "size": 8}
    assert read.result == {
        "path": "notes/a.txt",
        "size": 8,
        "encoding": "utf-8",
        "content": "one\ntwo\n",
        "lines": 2,
        "total_lines": 2,
        "truncated": False,
    }


async def test_open_folders_are_used_by_their_absolute_paths(folders: Path, work: Work) -> None:
    read = await run("fs_read", work, path=str(folders / "shared/a.txt"), limit=1)
    wrote = await run("fs_write", work, path=str(folders / "out/new/b.txt"), content="x")
    listed = await run("fs_list", work, path=str(folders / "out"), recursive=True)

    assert read.result is not None and (read.result["content"], read.result["truncated"]) == ("one\n", True)
    assert wrote.ended == "completed"
    assert (folders / "out/new/b.txt").read_text() == "x"
    assert listed.result is not None
    assert [entry["path"] for entry in listed.result["entries"]] == ["new", "new/b.txt"]


async def test_a_folder_behind_a_link_is_known_by_both_paths(folders: Path) -> None:
    (folders / "alias").symlink_to("shared")
    work = opened(folders, read_folders=[str(folders / "alias")])

    for path in (folders / "alias/a.txt", folders / "shared/a.txt"):
        assert (await run("fs_read", work, path=str(path))).ended == "completed"


async def test_other_encodings_and_bytes_are_read_as_asked(folders: Path, work: Work) -> None:
    (folders / "desk/gb").write_bytes("中文\n".encode("gb18030"))

    as_text = await run("fs_read", work, path="gb", encoding="gb18030")
    as_bytes = await run("fs_read", work, path="gb", encoding="base64")

    assert as_text.result is not None and as_text.result["content"] == "中文\n"
    assert as_bytes.result is not None
    assert base64.b64decode(as_bytes.result["content"]) == "中文\n".encode("gb18030")
    assert code(await run("fs_read", work, path="gb")) == "not_text"


async def test_a_listing_goes_by_patterns_and_shows_links_without_following_them(folders: Path, work: Work) -> None:
    desk = folders / "desk"
    (desk / "src/deep").mkdir(parents=True)
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.txt"):
        (desk / name).write_text("x")
    (desk / "away").symlink_to("..")

    plain = await run("fs_list", work)
    names = await run("fs_list", work, pattern="*.py", recursive=True)
    paths = await run("fs_list", work, pattern="src/**/*.py", recursive=True)

    assert plain.result is not None and names.result is not None and paths.result is not None
    assert [(entry["path"], entry["kind"]) for entry in plain.result["entries"]] == [
        ("a.py", "file"),
        ("away", "link"),
        ("src", "folder"),
    ]
    assert [entry["path"] for entry in names.result["entries"]] == ["a.py", "src/b.py", "src/deep/c.py"]
    assert [entry["path"] for entry in paths.result["entries"]] == ["src/b.py", "src/deep/c.py"]


async def test_a_long_listing_is_cut_and_says_so(folders: Path, work: Work) -> None:
    for number in range(1_010):
        (folders / f"desk/{number:04}").touch()

    listed = await run("fs_list", work)

    assert listed.result is not None
    assert (listed.result["count"], listed.result["truncated"]) == (1_000, True)


async def test_denied_patterns_hold_in_every_folder_and_are_not_listed(folders: Path) -> None:
    work = opened(folders, deny_patterns=["*.pem", ".git", "private/*"])
    desk = folders / "desk"
    for name in ("key.pem", ".git/config", "private/a", "public"):
        (desk / name).parent.mkdir(exist_ok=True)
        (desk / name).write_text("x")

    for path in ("key.pem", "./key.pem", ".git/config", "private/a", f"{desk}/key.pem", "private//a"):
        assert code(await run("fs_read", work, path=path)) == "path_denied"
        assert code(await run("fs_write", work, path=path, content="")) == "path_denied"
    listed = await run("fs_list", work, recursive=True)
    assert listed.result is not None
    assert [entry["path"] for entry in listed.result["entries"]] == ["private", "public"]


OUTSIDE = ["../secret", "{}/secret", "/etc/passwd", "away/secret", "link", "twin", "~/secret", "{}/shared/../secret"]


@pytest.mark.parametrize("path", OUTSIDE)
async def test_nothing_outside_is_read_or_written(folders: Path, work: Work, path: str) -> None:
    desk = folders / "desk"
    (desk / "link").symlink_to("../secret")
    (desk / "away").symlink_to("..")
    os.link(folders / "secret", desk / "twin")
    path = path.format(folders)

    read = await run("fs_read", work, path=path)
    added = await run("fs_write", work, path=path, content="mine", mode="append")

    refusals = {"path_outside_workspace", "path_outside_folders", "folder_read_only", "symbolic_link", "not_a_folder"}
    assert {code(read), code(added)} <= refusals
    assert (folders / "secret").read_text() == "outside"


async def test_a_folder_of_a_similar_name_is_another_one(folders: Path, work: Work) -> None:
    (folders / "shared2").mkdir()
    (folders / "shared2/a.txt").write_text("outside")

    assert code(await run("fs_read", work, path=str(folders / "shared2/a.txt"))) == "path_outside_folders"


async def test_a_folder_to_read_is_not_written(folders: Path, work: Work) -> None:
    outcome = await run("fs_write", work, path=str(folders / "shared/a.txt"), content="x")

    assert code(outcome) == "folder_read_only"
    assert (folders / "shared/a.txt").read_text() == "one\ntwo\n"


async def test_folders_of_the_installation_stay_closed_even_when_a_source_opens_them(folders: Path) -> None:
    work = opened(folders, read_folders=[str(folders)])
    closed = replace(work, connection=replace(work.connection, closed=(str(folders / "shared"),)))

    for path in ("secret", "shared/a.txt"):
        assert code(await run("fs_read", closed, path=str(folders / path))) == "path_outside_folders"


async def test_what_would_be_too_large_is_not_added(folders: Path, work: Work) -> None:
    with (folders / "desk/big").open("wb") as file:
        file.truncate(10 * 1024 * 1024)

    assert code(await run("fs_write", work, path="big", content="x", mode="append")) == "file_too_large"
    assert (folders / "desk/big").stat().st_size == 10 * 1024 * 1024


async def test_a_pipe_holds_nobody_up(folders: Path, work: Work) -> None:
    os.mkfifo(folders / "desk/pipe")

    assert code(await run("fs_read", work, path="pipe")) == "not_a_file"
    assert code(await run("fs_write", work, path="pipe", content="x", mode="append")) == "not_a_file"


async def test_a_long_file_comes_in_parts_that_say_how_to_go_on(folders: Path, work: Work) -> None:
    (folders / "desk/long.txt").write_text("".join(f"line {number}\n" for number in range(5_000)))
    content, offset = "", 1
    while True:
        read = (await run("fs_read", work, path="long.txt", offset=offset)).result
        assert read is not None
        content += read["content"]
        if not read["truncated"]:
            break
        offset = read["next_offset"]

    assert content == (folders / "desk/long.txt").read_text() and "next_offset" not in read
    assert read["total_lines"] == 5_000


async def test_bytes_come_in_parts_too(folders: Path, work: Work) -> None:
    (folders / "desk/x.bin").write_bytes(bytes(range(256)) * 2)
    part = (await run("fs_read", work, path="x.bin", encoding="base64", offset=257, limit=4)).result
    past = (await run("fs_read", work, path="x.bin", encoding="base64", offset=1_000)).result

    assert part is not None and base64.b64decode(part["content"]) == bytes(range(4))
    assert (part["truncated"], part["next_offset"]) == (True, 261)
    assert past is not None and (past["content"], past["truncated"]) == ("", False)
