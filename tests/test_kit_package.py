"""The kit for authors is a package of its own: it works in their folder and their virtual environment."""

import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
GUIDE = ROOT / "docs" / "writing-tools.md"
CODE_OF_KIT = ("apps/__init__.py", "apps/firewall", "openclaw_admin", "kit")

TOOL = '''
from openclaw_admin.tools import tool


@tool
def double_number(number: int) -> dict:
    """Double a number.

    Args:
        number: which one.
    """
    return {"double": 2 * number}


@tool
def break_down() -> dict:
    """Break down."""
    raise ValueError("no luck today")
'''
TESTS = """
from openclaw_admin.testing import run_tool


def test_it_doubles():
    assert run_tool(".", "double_number", {"number": "4"}).result == {"double": 8}


def test_it_breaks():
    answer = run_tool(".", "break_down")
    assert (answer.cause.exception, answer.cause.message) == ("ValueError", "no luck today")
    assert answer.status == "completed", "so that its author sees the traceback"
"""


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(each) for each in command], cwd=cwd, capture_output=True, text=True, timeout=400)


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of an author with a virtual environment in which the kit is installed, and nothing else of ours."""
    folder = tmp_path_factory.mktemp("author")
    source = folder / "source"  # so that building leaves nothing in the project
    for name in CODE_OF_KIT:
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        else:
            shutil.copy(ROOT / name, target)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    built = run(python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", "wheels", source / "kit", cwd=folder)
    assert built.returncode == 0, built.stderr
    shutil.rmtree(source)
    (wheel,) = (folder / "wheels").iterdir()
    ran = run(python, "-m", "pip", "install", "-q", wheel, "pytest", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.mark.slow
@pytest.mark.unhurried
def test_an_authors_own_tests_run_in_an_empty_folder_and_a_tool_that_raises_shows_its_traceback(author: Path) -> None:
    mine = author / "mine"
    mine.mkdir()
    (mine / "double_tool.py").write_text(TOOL)
    (mine / "test_double.py").write_text(TESTS)

    ran = run(author / "venv" / "bin" / "python", "-m", "pytest", "-q", cwd=mine)

    assert "1 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr
    assert f'File "{mine}/double_tool.py", line 18, in break_down' in ran.stdout
    assert "ValueError: no luck today" in ran.stdout


@pytest.mark.slow
@pytest.mark.unhurried
def test_it_holds_nothing_of_the_server(author: Path) -> None:
    (package,) = (author / "venv" / "lib").glob("python*/site-packages/openclaw_admin")
    assert {each.name for each in package.glob("*.py")} == {"__init__.py", "testing.py", "tools.py"}
    assert {each.name for each in package.with_name("apps").iterdir() if each.is_dir()} <= {"firewall", "__pycache__"}
    assert not list(package.parent.glob("[Dd]jango*"))


def test_it_declares_what_it_imports() -> None:
    """Packages that come with one that is declared need no line of their own."""
    project = tomllib.loads((ROOT / "kit" / "pyproject.toml").read_text())["project"]
    code = "import openclaw_admin.testing, openclaw_admin.tools, sys; print(*sys.modules)"
    ran = run(sys.executable, "-c", code, cwd=ROOT)
    tops = {name.partition(".")[0] for name in ran.stdout.split()} - {*sys.stdlib_module_names}
    known = packages_distributions()
    imported = {_plain(each) for top in tops for each in known.get(top, ())}
    direct = {_plain(name) for name in _imported_by_us()}
    declared = {_plain(each) for each in project["dependencies"]}
    brought = {_plain(Requirement(line).name) for each in declared for line in requires(each) or ()}
    assert imported & direct <= declared | brought
    main = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["version"], project["requires-python"]) == (main["version"], main["requires-python"])


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _imported_by_us() -> set[str]:
    """Name the distributions that modules of the firewall import by name."""
    words = {
        line.split()[1].partition(".")[0]
        for path in (ROOT / "apps" / "firewall").rglob("*.py")
        for line in path.read_text().splitlines()
        if line.strip().startswith(("import ", "from ")) and len(line.split()) > 1
    }
    known = packages_distributions()
    return {each for word in words for each in known.get(word, ())}
