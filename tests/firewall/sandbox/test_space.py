"""What workspaces hold: measured before calls and while they run, and kept within a quota. Real files and processes."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.testing import FakeWorld, call_of
from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.limits import MEGABYTE, Limits
from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.sandbox.space import (
    DiskReserveError,
    InstallationFullError,
    Quota,
    Space,
    SpaceRefusedError,
    Used,
    measure,
)
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.sandboxing import Allowance, Sandbox
from openclaw_admin.disk import Reserve

MUCH = Used(1 << 50, 1 << 30)


def space_of(folder: Path, *, workspace: Used = MUCH, installation: Used = MUCH, free_bytes: int = 1) -> Space:
    quota = Quota(workspace=workspace, installation=installation, free_bytes=free_bytes)
    return Space(folder / "workspaces", quota)


def workspace_in(folder: Path, agent: str = "bot") -> Path:
    path = folder / "workspaces" / "production" / agent
    path.mkdir(parents=True)
    return path


def fill(folder: Path, files: int, size_bytes: int = 0) -> None:
    for number in range(files):
        (folder / f"f{number}").write_bytes(b"x" * size_bytes)


def test_files_folders_and_links_count_and_other_names_add_no_bytes(tmp_path: Path) -> None:
    fill(tmp_path, 2, 100_000)
    (tmp_path / "below" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("/usr")
    before = measure(str(tmp_path), MUCH)
    (tmp_path / "other-name").hardlink_to(tmp_path / "f0")

    assert before.files == 5
    assert 200_000 <= before.size_bytes < 300_000
    assert measure(str(tmp_path), MUCH) == Used(before.size_bytes, 6)


def test_measuring_ends_soon_after_the_quota(tmp_path: Path) -> None:
    fill(tmp_path, 50)

    assert measure(str(tmp_path), Used(1 << 50, 10)).files == 11


def test_a_folder_that_its_tool_has_closed_is_counted(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    fill(closed, 3)
    closed.chmod(0)

    assert measure(str(tmp_path), MUCH).files == 4


@pytest.mark.parametrize("quota", [Used(1 << 50, 5), Used(20_000, 1 << 30)])
def test_a_full_workspace_refuses_and_says_what_it_holds(tmp_path: Path, quota: Used) -> None:
    workspace = workspace_in(tmp_path)
    space = space_of(tmp_path, workspace=quota)
    space.check(str(workspace))
    fill(workspace, 5, 5_000)
    with pytest.raises(SpaceRefusedError, match="the workspace is full: it uses 0 of") as caught:
        space_of(tmp_path, workspace=quota).check(str(workspace))

    assert (caught.value.code, "WORKSPACE_QUOTA_MB" in caught.value.message) == ("workspace_full", True)


def test_all_workspaces_together_have_a_quota(tmp_path: Path) -> None:
    fill(workspace_in(tmp_path, "one"), 4)
    two = workspace_in(tmp_path, "two")
    fill(two, 4)
    with pytest.raises(InstallationFullError) as caught:
        space_of(tmp_path, installation=Used(1 << 50, 8)).check(str(two))

    assert caught.value.code == "workspaces_full"
    space_of(tmp_path, installation=Used(1 << 50, 9)).check(str(two))


def test_what_is_kept_for_records_stays_free(tmp_path: Path) -> None:
    with pytest.raises(DiskReserveError, match="are kept for records") as caught:
        space_of(tmp_path, free_bytes=1 << 60).check(str(workspace_in(tmp_path)))

    assert caught.value.code == "disk_reserve"


async def run(code: str, workspace: Path, space: Space, **changes: Any) -> ProcessResult:
    return await run_process(
        [sys.executable, "-I", "-S", "-c", code],
        cwd=str(workspace),
        env={"PATH": "/usr/bin:/bin"},
        limits=Limits(),
        time_limit_s=60.0,
        output_limit_bytes=4096,
        space=space,
        **changes,
    )


@pytest.mark.unhurried
@pytest.mark.every_loop
@pytest.mark.parametrize(
    "code",
    [
        "import time\nfor n in range(3000): open(f'f{n}', 'w').close()\ntime.sleep(60)",
        "import time\nfor n in range(20): open(f'f{n}', 'wb').write(b'x' * 1_000_000)\ntime.sleep(60)",
        "import os, time\nos.mkdir('d')\nfor n in range(3000): open(f'd/f{n}', 'w').close()\n"
        "os.chmod('d', 0)\ntime.sleep(60)",
    ],
    ids=["files", "bytes", "a closed folder"],
)
async def test_a_command_that_fills_its_workspace_is_ended_for_that(tmp_path: Path, code: str) -> None:
    workspace = workspace_in(tmp_path)
    result = await run(code, workspace, space_of(tmp_path, workspace=Used(8 * MEGABYTE, 2000)))

    assert result.ended == "space_limit"
    assert "the workspace is full" in result.error


async def test_a_folder_that_is_no_workspace_has_no_quota(tmp_path: Path) -> None:
    result = await run("open('f', 'w').close()", tmp_path, space_of(tmp_path, workspace=Used(1, 1)))

    assert result.exit_code == 0


def world_of(folder: Path, space: Space) -> FakeWorld:
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    allow = {
        "agents": {
            "bot": {"allowlist": [{"pattern": "/usr/bin/*"}, {"pattern": "/usr/bin/*", "argPattern": r"^\w+\.py$"}]}
        }
    }
    source = SnapshotSource(environment="production", tools=entries, agents=[AgentSource("bot")], exec_approvals=allow)
    here = FakeWorld(build_snapshot(source))
    runner = BuiltinRunner(sandbox=Sandbox(Allowance(), offer(), space))
    here.executor = Executors(Workspaces(space.folder), (runner,), space)  # type: ignore[assignment]
    return here


@pytest.mark.unhurried
async def test_a_full_workspace_refuses_calls_that_write_and_lets_others_read(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    fill(workspace, 5, 10)
    here = world_of(tmp_path, space_of(tmp_path, workspace=Used(1 << 50, 5)))

    wrote = await invoke(call_of("write", path="new", content="x"), here.ports)
    ran = await invoke(call_of("exec", command="ls"), here.ports)
    read = await invoke(call_of("read", path="f0"), here.ports)

    assert [each.error and each.error["code"] for each in (wrote, ran, read)] == [
        "workspace_full",
        "workspace_full",
        None,
    ]
    assert (wrote.status, wrote.judgement and wrote.judgement.layer) == ("denied", "sandbox")
    assert [kind for kind, _ in here.ledger.kinds][:2] == ["denial", "denial"]


@pytest.mark.unhurried
async def test_a_call_that_fills_its_workspace_says_so_and_the_next_is_refused(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    (workspace / "fill.py").write_text("import time\nfor n in range(500): open(f'f{n}', 'w').close()\ntime.sleep(50)")
    here = world_of(tmp_path, space_of(tmp_path, workspace=Used(1 << 50, 400)))

    filled = await invoke(call_of("exec", command="python3 fill.py"), here.ports)
    refused = await invoke(call_of("write", path="new", content="x"), here.ports)

    assert filled.error is not None and refused.error is not None
    assert (filled.error["code"], refused.error["code"]) == ("command_space_limit", "workspace_full")
    assert "WORKSPACE_QUOTA_FILES" in filled.error["message"]


def test_workspaces_are_listed_the_fullest_first_and_old_ones_named(tmp_path: Path) -> None:
    one, two = workspace_in(tmp_path, "one"), workspace_in(tmp_path, "two")
    fill(two, 3, 100_000)
    space = space_of(tmp_path)
    space.check(str(one))
    os.utime(two, (1, 1))

    assert [(each.environment, each.agent) for each in space.uses()] == [("production", "two"), ("production", "one")]
    assert [each.agent for each in space.unused_since(time.time() - 60)] == ["two"]


def test_a_tool_cannot_make_its_workspace_look_older_or_younger(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    space = space_of(tmp_path)
    space.check(str(workspace))
    os.utime(workspace, (1, 1))

    assert space.unused_since(time.time() - 60) == []


@pytest.mark.slow
def test_a_removed_workspace_is_gone_however_deep_and_closed(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    subprocess.run(["python3", "-c", "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"], cwd=workspace)
    (workspace / "closed").mkdir(mode=0)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    (workspace / "link").symlink_to(outside)
    space = space_of(tmp_path)

    assert space.remove("production", "bot")
    assert not space.remove("production", "bot")
    assert not space.remove("..", "outside")
    assert list((tmp_path / "workspaces").rglob("*")) == [tmp_path / "workspaces" / "production"]
    assert (outside / "kept").exists()


@pytest.mark.slow
def test_a_tree_too_deep_to_measure_refuses_instead_of_hiding_its_files(tmp_path: Path) -> None:
    workspace = workspace_in(tmp_path)
    subprocess.run(["python3", "-c", "import os\nfor _ in range(3000): os.mkdir('d'); os.chdir('d')"], cwd=workspace)
    other = workspace_in(tmp_path, "other")
    space = space_of(tmp_path, workspace=Used(1 << 40, 2500))
    with pytest.raises(SpaceRefusedError, match="cannot be measured"):
        space.check(str(workspace))
    space.check(str(other))

    assert {each.agent: each.used.files for each in space.uses()} == {"bot": 2500, "other": 0}
    assert space.remove("production", "bot")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a disk of its own")
def test_the_reserve_is_given_up_on_a_full_disk_and_made_again_where_there_is_room(tmp_path: Path) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(tmp_path)], check=True)
    try:
        reserve = Reserve(
            tmp_path / "db.reserve", wanted_free_bytes=MEGABYTE, size_bytes=2 * MEGABYTE, short_bytes=MEGABYTE
        )
        reserve.look()
        was_there = reserve.is_there
        with pytest.raises(OSError, match="No space"), (tmp_path / "flood").open("wb") as flood:
            while True:
                flood.write(b"x" * 65536)
                flood.flush()
        reserve.look()
        (tmp_path / "record").write_bytes(b"x" * MEGABYTE)
        reserve.look()
        is_given_up = not reserve.is_there
        (tmp_path / "flood").unlink()
        reserve.look()

        assert (was_there, is_given_up, reserve.is_there) == (True, True, True)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
