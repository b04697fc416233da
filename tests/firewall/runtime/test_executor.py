"""The real executor: one private folder an agent, and identities that change with the content."""

import os
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.runtime.call import Call
from apps.firewall.runtime.executor import BuiltinExecutor, WorkdirError, folder_name


def call(agent: str = "bot", **params: Any) -> Call:
    return Call(environment="production", agent=agent, tool="exec", params=params)


def test_each_agent_has_a_folder_that_only_we_may_enter(tmp_path: Path) -> None:
    executor = BuiltinExecutor(tmp_path / "workspaces")

    first, second = executor.workspace(call("a")), executor.workspace(call("b"))

    assert first != second
    for folder in (first, second, str(tmp_path / "workspaces")):
        assert Path(folder).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("agent", ["../../etc", "a/b", "", ".", "Ä", "x" * 300])
def test_an_agent_name_cannot_choose_a_folder_elsewhere(tmp_path: Path, agent: str) -> None:
    executor = BuiltinExecutor(tmp_path)

    assert Path(executor.workspace(call(agent))).parent == Path(os.path.realpath(tmp_path / "production"))
    assert folder_name(agent).startswith("x-")


@pytest.mark.parametrize("workdir", ["..", "/", "link", "missing", "file", "a\0b"])
def test_a_command_starts_in_a_folder_of_its_workspace_only(tmp_path: Path, workdir: str) -> None:
    executor = BuiltinExecutor(tmp_path)
    root = Path(executor.workspace(call()))
    (root / "link").symlink_to("/etc")
    (root / "file").touch()
    (root / "sub").mkdir()

    assert executor.workdir(call(), {"workdir": "sub"}) == str(root / "sub")
    with pytest.raises(WorkdirError):
        executor.workdir(call(), {"workdir": workdir})


def test_the_identity_covers_the_program_and_the_files_among_its_arguments(tmp_path: Path) -> None:
    executor = BuiltinExecutor(tmp_path)
    script = tmp_path / "run.py"
    script.write_text("one")

    before = executor.identities("/bin/ls", ["ls", "run.py", "-l", "missing"], str(tmp_path))
    script.write_text("two")
    after = executor.identities("/bin/ls", ["ls", "run.py", "-l", "missing"], str(tmp_path))

    assert set(before) == {"/bin/ls", str(script)}
    assert before["/bin/ls"] == after["/bin/ls"]
    assert before[str(script)] != after[str(script)]
