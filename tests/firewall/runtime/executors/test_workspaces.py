"""One private folder an agent, and identities that change with the content."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from apps.firewall.runtime.call import Call
from apps.firewall.runtime.executors.identifying import FileUnreadableError, identities
from apps.firewall.runtime.executors.workspaces import (
    WorkdirError,
    Workspaces,
    folder_name,
)


def call(agent: str = "bot", **params: Any) -> Call:
    return Call(environment="production", agent=agent, tool="exec", params=params)


def test_each_agent_has_a_folder_that_only_we_may_enter(tmp_path: Path) -> None:
    workspaces = Workspaces(tmp_path / "workspaces")

    first, second = workspaces.workspace(call("a")), workspaces.workspace(call("b"))

    assert first != second
    for folder in (first, second, str(tmp_path / "workspaces")):
        assert Path(folder).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("agent", ["../../etc", "a/b", "", ".", "Ä", "x" * 300])
def test_an_agent_name_cannot_choose_a_folder_elsewhere(tmp_path: Path, agent: str) -> None:
    workspaces = Workspaces(tmp_path)

    assert Path(workspaces.workspace(call(agent))).parent == Path(os.path.realpath(tmp_path / "production"))
    assert folder_name(agent).startswith("x-")


@pytest.mark.parametrize("workdir", ["..", "/", "link", "missing", "file", "a\0b"])
def test_a_command_starts_in_a_folder_of_its_workspace_only(tmp_path: Path, workdir: str) -> None:
    workspaces = Workspaces(tmp_path)
    root = Path(workspaces.workspace(call()))
    (root / "link").symlink_to("/etc")
    (root / "file").touch()
    (root / "sub").mkdir()

    assert workspaces.workdir(call(), {"workdir": "sub"}) == str(root / "sub")
    with pytest.raises(WorkdirError):
        workspaces.workdir(call(), {"workdir": workdir})


def test_the_identity_covers_the_program_and_the_files_among_its_arguments(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text("one")

    before = identities("/bin/ls", ["ls", "run.py", "-l", "missing"], str(tmp_path))
    script.write_text("two")
    after = identities("/bin/ls", ["ls", "run.py", "-l", "missing"], str(tmp_path))

    assert set(before) == {"/bin/ls", str(script)}
    assert before["/bin/ls"] == after["/bin/ls"]
    assert before[str(script)] != after[str(script)]


def test_a_file_among_the_arguments_that_cannot_be_read_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "closed").write_text("x")

    def refuse(path: Path, *_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    for door in ("open", "stat"):  # the file is closed to us, and the folder that it lies in
        with patch.object(Path, door, refuse), pytest.raises(FileUnreadableError) as refusal:
            identities(str(tmp_path / "closed"), ["closed"], str(tmp_path))
        assert refusal.value.code == "file_unreadable"
        assert refusal.value.message == f"`{tmp_path}/closed` cannot be read: permission denied"


def test_a_long_argument_is_no_file(tmp_path: Path) -> None:
    assert set(identities("/bin/ls", ["ls", "x" * 1000], str(tmp_path))) == {"/bin/ls"}


def test_a_program_that_is_gone_cannot_be_identified(tmp_path: Path) -> None:
    with pytest.raises(FileUnreadableError):
        identities(str(tmp_path / "gone"), ["gone"], str(tmp_path))
