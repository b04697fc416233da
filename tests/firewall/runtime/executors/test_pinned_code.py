"""The code that runs is the code that was accepted: its module, what that imports, and nothing else of its folder."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.authoring.errors import CodeChangedError
from apps.firewall.tools.code import CodeReader, CodeUnreadableError
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.folder import look_folder
from apps.firewall.tools.executors import PythonExecutor, executor_json, read_executor
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.running import ToolOutcome

MAIN = """
from openclaw_admin.tools import tool
import part
import box.inner

@tool
def tell() -> str:
    \"\"\"Tell what the parts say.\"\"\"
    import late
    return f"{part.WORD} {box.inner.WORD} {late.WORD}"
"""
FILES = {
    "say_tool.py": MAIN,
    "part.py": "WORD = 'one'\n",
    "box/__init__.py": "",
    "box/inner.py": "from . import deep\nWORD = deep.WORD\n",
    "box/deep.py": "WORD = 'two'\n",
    "late.py": "WORD = 'three'\n",
    "other_tool.py": "from openclaw_admin.tools import tool\n\n@tool\ndef other() -> str:\n    return 'x'\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tools"
    write(made, FILES)
    return made


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module")
def python() -> PythonTools:
    return PythonTools()


def accepted(python: PythonTools, folder: Path, name: str = "tell", **settings: Any) -> PythonExecutor:
    """Look through the folder and give what runs a tool of it, as an admin accepts it."""
    connection = Connection(source="s", kind="folder", settings={"scan_directories": [str(folder)], **settings})
    look = asyncio.run(look_folder(connection, python=python))
    found = {each.definition.name: each for each in look.found if each.definition is not None}
    executor = found[name].executor
    assert isinstance(executor, PythonExecutor)
    if executor.code:
        assert "say_tool.py" in found["tell"].code
    return executor


def run(python: PythonTools, executor: PythonExecutor, workspace: Path, name: str = "tell") -> ToolOutcome:
    order: dict[str, Any] = {
        "name": name,
        "params": {},
        "config": {},
        "context": {"session": {}, "sandboxed": False, "call_id": "c"},
    }
    workspace.mkdir(exist_ok=True)
    return asyncio.run(python.run(executor, order, workspace=str(workspace)))


def test_the_code_of_a_tool_is_its_module_and_what_that_imports_from_its_folder(
    python: PythonTools, folder: Path, tmp_path: Path
) -> None:
    executor = accepted(python, folder)
    code = CodeReader(python="/usr/bin/python3").code(executor)
    assert code is not None and code.digest == executor.code
    assert sorted(code.files) == sorted(set(FILES) - {"other_tool.py"})
    assert read_executor(executor_json(executor)) == executor
    assert (
        run(python, executor, tmp_path / "w").result == {"result": "one two three"}
        or run(python, executor, tmp_path / "w").ended == "completed"
    )


CHANGES: dict[str, Callable[[Path], None]] = {
    "its body": lambda folder: write(folder, {"say_tool.py": MAIN.replace("three", "four") + "# changed\n"}),
    "an import": lambda folder: write(folder, {"part.py": "WORD = 'evil'\n"}),
    "an import of an import": lambda folder: write(folder, {"box/deep.py": "WORD = 'evil'\n"}),
    "an import within a function": lambda folder: write(folder, {"late.py": "WORD = 'evil'\n"}),
    "a package in the place of a module": lambda folder: write(folder, {"part/__init__.py": "WORD = 'evil'\n"}),
    "an import that went": lambda folder: (folder / "late.py").unlink(),
}


@pytest.mark.parametrize("what", sorted(CHANGES))
def test_changed_code_does_not_run(python: PythonTools, folder: Path, tmp_path: Path, what: str) -> None:
    executor = accepted(python, folder)
    CHANGES[what](folder)

    outcome = run(python, executor, tmp_path / "w")

    assert outcome.ended == "failed" and outcome.error is not None
    assert outcome.error["code"] == "tool_code_changed"


def test_another_tool_of_the_folder_may_change(python: PythonTools, folder: Path, tmp_path: Path) -> None:
    executor = accepted(python, folder)
    write(folder, {"other_tool.py": "raise SystemExit\n", "unrelated.py": "x = 1\n"})
    assert run(python, executor, tmp_path / "w").ended == "completed"


def test_code_is_compared_again_by_the_process_that_loads_it(
    python: PythonTools, folder: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    """What changes after the server has looked is refused by the loader: it compiles the bytes that it compared."""
    executor = accepted(python, folder)
    check = python._codes.check

    def check_then_change(wanted: PythonExecutor) -> Any:
        code = check(wanted)
        write(folder, {"part.py": "WORD = 'evil'\n"})
        return code

    monkeypatch.setattr(python._codes, "check", check_then_change)
    outcome = run(python, executor, tmp_path / "w")
    assert outcome.error is not None and outcome.error["code"] == "tool_code_changed"
    assert "part.py" in outcome.error["message"]


def test_a_trusted_folder_runs_what_is_there(python: PythonTools, folder: Path, tmp_path: Path) -> None:
    executor = accepted(python, folder, trust_code=True)
    assert executor.code == ""
    write(folder, {"part.py": "WORD = 'new'\n"})
    outcome = run(python, executor, tmp_path / "w")
    assert outcome.ended == "completed" and "new" in str(outcome.result)


def test_a_module_that_finds_others_at_run_time_is_bound_to_its_whole_folder(folder: Path) -> None:
    write(folder, {"part.py": "import importlib\nWORD = importlib.import_module('late').WORD\n"})
    executor = PythonExecutor(attribute="tell", file=str(folder / "say_tool.py"), folder=str(folder))
    reader = CodeReader(python="/usr/bin/python3")
    code = reader.code(executor)
    assert code is not None and "other_tool.py" in code.files

    pinned = replace(executor, code=code.digest)
    assert reader.check(pinned) is not None
    write(folder, {"new.py": "x = 1\n"})
    write(folder, {"part.py": "import importlib\nWORD = importlib.import_module('new').WORD\n"})
    with pytest.raises(CodeChangedError):
        reader.check(pinned)


def test_code_beyond_the_bounds_is_no_tool(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("apps.firewall.tools.code.FILES_LIMIT", 3)
    with pytest.raises(CodeUnreadableError, match="more than"):
        CodeReader(python="/usr/bin/python3").code(
            PythonExecutor(attribute="tell", file=str(folder / "say_tool.py"), folder=str(folder))
        )
