"""Folders, tool files and installed packages, looked through with real processes: living examples, and broken ones."""

import asyncio
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection, Secrets
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.discovery.entry_points import look_entry_points
from apps.firewall.tools.discovery.folder import look_folder
from apps.firewall.tools.discovery.found import Found, Look
from apps.firewall.tools.discovery.tool_file import look_tool_file
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.parameters import prepare_params
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.running import ToolOutcome

pytestmark = pytest.mark.unhurried

IMPORT = "from openclaw_admin.tools import tool\n"
EXAMPLES = Path(__file__).parents[4] / "docs" / "examples" / "tools"


def source(kind: str = "folder", *, secrets: Mapping[str, str] | None = None, **settings: Any) -> Connection:
    return Connection(source="src", kind=kind, settings=settings, secrets=Secrets(secrets))


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(dedent(text))
    return folder


def ready(look: Look) -> dict[str, Definition]:
    assert look.failure is None, look.failure
    return {each.definition.name: each.definition for each in look.found if each.definition and not each.failure}


def broken(look: Look) -> dict[str, str]:
    return {each.key: each.failure.code for each in look.found if each.failure}


def named(look: Look, name: str) -> Found:
    return next(each for each in look.found if each.definition is not None and each.definition.name == name)


async def call(tools: PythonTools, found: Found, workspace: Path, *, config: Any = None, **params: Any) -> ToolOutcome:
    assert isinstance(found.executor, PythonExecutor)
    assert found.definition is not None
    prepared = prepare_params(found.definition, params)
    assert prepared.problems == []
    order = {
        "name": found.definition.name,
        "params": prepared.params,
        "config": found.definition.config if config is None else config,
        "context": {"session": {"agent_id": "bot"}, "sandboxed": False, "call_id": "c"},
    }
    return await tools.run(found.executor, order, workspace=str(workspace))


# ---- folders --------------------------------------------------------------------------------------------------------


async def test_the_example_folder_gives_decorated_tools_a_class_and_what_a_factory_makes(tmp_path: Path) -> None:
    tools = PythonTools()

    look = await look_folder(source(scan_directories=[str(EXAMPLES / "folder")]), python=tools)

    found = ready(look)
    assert sorted(found) == ["count_words", "pick_line", "roll_dice", "toss_coin"]
    assert broken(look) == {}
    assert {each.key for each in look.found} >= {"text_tool.py:count_words", "tool_dice.py:make_coin"}
    counted, dice = await asyncio.gather(
        call(tools, named(look, "count_words"), tmp_path, text="one two", unit="words"),
        call(tools, named(look, "roll_dice"), tmp_path, count="3"),
    )
    assert counted.result == {"unit": "words", "count": 2}
    assert dice.result is not None
    assert len(dice.result["details"]["rolled"]) == 3


async def test_a_folder_with_a_broken_file_shows_it_and_gives_the_others(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "tools",
        bad_tool__py="def broken(:\n",
        good_tool__py="from helper import word\nfrom openclaw_admin.tools import tool\n@tool\ndef say(): return word\n",
        helper__py="word = 'hi'\n",
        same_tool__py="from openclaw_admin.tools import tool\n@tool(name='say')\ndef other(): return 1\n",
        wrong_tool__py=(
            "from openclaw_admin.tools import tool\n"
            "@tool(name='no good', parameters={'type': 'list'})\ndef a(): ...\n"
            "@tool(permissions=['may do all'])\ndef b(): ...\n"
        ),
    )
    (folder / "away_tool.py").symlink_to("/etc/hostname")

    look = await look_folder(source(scan_directories=[str(folder)]), python=PythonTools())

    assert sorted(ready(look)) == ["say"]
    assert broken(look) == {
        "bad_tool.py": "import_failed",
        "same_tool.py:other": "name_taken",
        "wrong_tool.py:a": "definition_invalid",
        "wrong_tool.py:b": "bad_permission",
    }
    wrong = next(each.failure for each in look.found if each.key == "wrong_tool.py:a")
    assert wrong is not None
    assert wrong.message.startswith("name: use at most 128 letters")


async def test_hostile_definitions_are_refused_and_nothing_in_them_reaches_a_record(tmp_path: Path) -> None:
    write(
        tmp_path,
        a_tool__py="""
        from openclaw_admin.tools import tool
        deep = {"type": "object"}
        for _ in range(400):
            deep = {"type": "object", "properties": {"a": deep}}
        @tool(parameters=deep)
        def deep_one(): "x"
        @tool(description="a\\x00b")
        def nul(): "x"
        @tool(description="a\\ud800b")
        def half(): "x"
        @tool(parameters={"type": "object", "maximum": float("inf")})
        def endless(): "x"
        @tool(name="a" * 5000)
        def long(): "x"
        """,
        b_tool__py="raise ValueError('a\\x00b\\ud800 \\x1b[31m')\n",
        c_tool__py="from openclaw_admin.tools import tool\nfor n in range(300): exec(f'@tool\\ndef f{n}(): 0')\n",
    )

    look = await look_folder(source(scan_directories=[str(tmp_path)]), python=PythonTools())

    assert broken(look) == {
        **{f"a_tool.py:{name}": "definition_invalid" for name in ("deep_one", "nul", "half", "endless", "long")},
        "b_tool.py": "import_failed",
        "c_tool.py": "too_many_tools",
    }
    messages = [each.failure.message for each in look.found if each.failure]
    assert all(message.isprintable() and message.encode() for message in messages)


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"scan_directories": ["relative"]}, "folder_refused"),
        ({"scan_directories": ["/nowhere/at/all"]}, "folder_refused"),
        ({"scan_directories": ["{here}/keys"]}, "folder_refused"),
        ({"scan_directories": ["{here}"]}, "folder_refused"),
        ({"scan_directories": ["{here}/tools"], "patterns": ["../keys/*"]}, "pattern_refused"),
        ({"scan_directories": ["{here}/tools"], "patterns": ["/etc/*"]}, "pattern_refused"),
    ],
)
async def test_a_folder_that_cannot_be_looked_through_fails_as_a_whole(
    tmp_path: Path, settings: dict[str, Any], code: str
) -> None:
    write(tmp_path / "keys")
    write(tmp_path / "tools")
    settings["scan_directories"] = [each.format(here=tmp_path) for each in settings["scan_directories"]]

    look = await look_folder(source(**settings), python=PythonTools(closed=(tmp_path / "keys",)))

    assert look.failure is not None
    assert (look.failure.stage, look.failure.code, look.found) == ("discover", code, ())


# ---- tool files -----------------------------------------------------------------------------------------------------


async def test_the_example_file_gives_its_tool_with_the_secret_only_at_the_call(tmp_path: Path) -> None:
    tools = PythonTools()
    connection = source("file", path=str(EXAMPLES / "listed" / "tools.yaml"), secrets={"DOOR_KEY": "s3cret"})

    look = await look_tool_file(connection, python=tools)

    found = named(look, "room_book")
    assert found.failure is None
    assert found.definition is not None
    assert found.definition.config == {"rooms": ["Aquarium", "Library"], "door_key": {"$secret": "DOOR_KEY"}}
    assert "s3cret" not in repr(look)
    clear = {**found.definition.config, "door_key": "s3cret"}
    outcome = await call(tools, found, tmp_path, config=clear, room="Library", hour=9)
    assert outcome.result is not None
    assert outcome.result["booked"] is True
    assert outcome.result["door_code"] == hashlib.sha256(b"s3cret Library 9").hexdigest()[:6]


async def test_each_entry_of_a_file_that_gives_no_tool_says_why(tmp_path: Path) -> None:
    write(
        tmp_path / "code",
        office__py="from openclaw_admin.tools import tool\n@tool\ndef a(): ...\n@tool\ndef b(): ...\n",
    )
    file = write(
        tmp_path,
        tools__yaml="""
        tools:
          - {name: one, module: office, class: a}
          - {name: both, module: office}
          - {name: gone, module: not_there, class: X}
          - {name: lost, module: office, class: Nothing}
          - {name: number, module: math, class: pi}
          - {name: resting, module: office, class: a, enabled: false}
          - {name: sealed, module: office, class: b, config: {key: "${KEY}"}}
          - {name: needy, module: office, class: b, dependencies: ["no-such-package>=1"]}
          - {name: no good, module: office, class: b}
          - {name: nul, module: office, class: b, config: {word: "a\\0b"}}
        tool_discovery:
          scan_directories: [code]
          remote_registry: {url: "https://tools.example/registry", auth_token: "${TOKEN}", sync_interval: 300}
        """,
    )

    look = await look_tool_file(source("file", path=str(file / "tools.yaml")), python=PythonTools())

    assert sorted(ready(look)) == ["one"]
    assert broken(look) == {
        "both": "too_many_tools",
        "gone": "module_missing",
        "lost": "attribute_missing",
        "number": "not_a_tool",
        "resting": "not_enabled",
        "sealed": "secret_missing",
        "needy": "dependency_missing",
        "no good": "definition_invalid",
        "nul": "definition_invalid",
        "remote_registry": "source_of_its_own",
    }


async def test_a_file_also_scans_its_folders_unless_told_to_wait(tmp_path: Path) -> None:
    write(tmp_path / "more", x_tool__py="from openclaw_admin.tools import tool\n@tool\ndef x(): ...\n")
    text = "tool_discovery: {{scan_directories: [more], auto_load: {}}}\n"
    connection = source("file", path=str(tmp_path / "tools.yaml"))

    write(tmp_path, tools__yaml=text.format("true"))
    loaded = await look_tool_file(connection, python=PythonTools())
    write(tmp_path, tools__yaml=text.format("false"))
    waiting = await look_tool_file(connection, python=PythonTools())

    assert (sorted(ready(loaded)), broken(waiting)) == (["x"], {"x_tool.py": "auto_load_off"})


async def test_on_demand_offers_what_a_profile_names(tmp_path: Path) -> None:
    code = "from openclaw_admin.tools import tool\n" + "".join(f"@tool\ndef {each}(): ...\n" for each in "abc")
    write(tmp_path / "more", x_tool__py=code)
    write(
        tmp_path,
        tools__yaml="""
        tools: [{name: listed, module: x_tool, class: a}]
        tool_discovery: {scan_directories: [more]}
        tool_loading:
          strategy: on-demand
          user_tool_profiles: [{profile: basic, tools: [a]}, {profile: advanced, tools: [a, b]}]
        """,
    )

    look = await look_tool_file(source("file", path=str(tmp_path / "tools.yaml")), python=PythonTools())

    assert sorted(ready(look)) == ["a", "b"]
    assert named(look, "a").facts["profiles"] == ["basic", "advanced"]
    assert set(broken(look).values()) == {"not_in_a_profile"}


async def test_lazy_loading_does_not_initialise_and_remembers_what_has_not_changed(tmp_path: Path) -> None:
    module = """
    import time
    from openclaw_admin.tools import BaseTool
    from helper import words
    class Busy(BaseTool):
        __doc__ = f"{words} {time.time_ns()}"
        def initialise(self): raise OSError("no database")
        def execute(self): ...
    """
    folder = write(tmp_path / "more", x_tool__py=module, helper__py="words = 'One.'\n")
    write(tmp_path, tools__yaml="tool_discovery: {scan_directories: [more]}\ntool_loading: {strategy: lazy}\n")
    connection = source("file", path=str(tmp_path / "tools.yaml"))
    tools = PythonTools()

    first = ready(await look_tool_file(connection, python=tools))["busy"].description
    again = ready(await look_tool_file(connection, python=tools))["busy"].description
    write(folder, helper__py="words = 'Another.'\n")
    changed = ready(await look_tool_file(connection, python=tools))["busy"].description

    assert first.startswith("One. ")
    assert again == first
    assert changed.startswith("Another. ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tools: [", "it is no YAML"),
        ("a: &x [1]\nb: *x\n", "aliases are not used here"),
        ("tools: []\ntools: []\n", "a key stands twice"),
        ("tools: {name: x}\n", "tools: must be a list"),
        ("tools: [{module: x}]\n", "tools[0].name: is required"),
        ("tools: [{name: a, module: x, klass: Y}]\n", "tools[0].klass: is not known here"),
        ("tools: [{name: a, module: x}, {name: a, module: y}]\n", "tools[1].name: `a` stands twice"),
        ("tools: [{name: off, module: x}]\n", "tools[0].name: must be a text"),
        ("tools: [{name: a, module: x, config: {day: 2026-09-01}}]\n", "put a date in quotes"),
        (
            "tools: [{name: a, module: x, config: {u: 'http://${HOST}/x'}}]\n",
            "must be a variable that",
        ),
        ("tool_loading: {strategy: sometimes}\n", "tool_loading.strategy: must be one of eager, lazy, on-demand"),
        ("tool_loading: {max_cache_size: 0}\n", "tool_loading.max_cache_size: must be a number from 1"),
        ("tool_discovery: {patterns: '*.py'}\n", "tool_discovery.patterns: must be a list of texts"),
        ("- 1\n", "must be an object"),
    ],
)
async def test_a_file_with_a_mistake_names_its_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tools.yaml").write_text(text)

    look = await look_tool_file(source("file", path=str(tmp_path / "tools.yaml")), python=PythonTools())

    assert look.failure is not None
    assert words in look.failure.message


async def test_variables_are_those_that_the_installation_allows_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://secret")
    write(tmp_path / "code", office__py="from openclaw_admin.tools import tool\n@tool\ndef a(): ...\n")
    write(
        tmp_path,
        tools__yaml="""
        tools:
          - name: a
            module: office
            class: a
            config: {region: "${REGION}", url: "http://${REGION}.example/$${x}", database: "${DATABASE_URL}"}
        tool_discovery: {scan_directories: [code]}
        """,
    )
    connection = source("file", path=str(tmp_path / "tools.yaml"), secrets={"DATABASE_URL": "of the source"})

    look = await look_tool_file(connection, python=PythonTools(), variables={"REGION": "north"})

    assert ready(look)["a"].config == {
        "region": "north",
        "url": "http://north.example/${x}",
        "database": {"$secret": "DATABASE_URL"},
    }


async def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    for path, words in ((f"{tmp_path}/none.yaml", "cannot be read"), ("tools.yaml", "is no absolute path")):
        look = await look_tool_file(source("file", path=path), python=PythonTools())

        assert look.failure is not None
        assert words in look.failure.message


# ---- installed packages ---------------------------------------------------------------------------------------------


def pip(*arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments],
        check=True,
        capture_output=True,
        timeout=120,
    )


def environment(folder: Path) -> str:
    """Make a virtual environment that sees this one's packages, and return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=60)
    (packages,) = (folder / "lib").glob("python3.*/site-packages")
    ours = next(each for each in sys.path if each.endswith("site-packages"))
    (packages / "ours.pth").write_text(f"{ours}\n")
    return str(folder / "bin" / "python")


@pytest.mark.unhurried
@pytest.mark.slow
async def test_a_package_appears_when_pip_installs_it_and_goes_when_pip_removes_it(tmp_path: Path) -> None:
    python = environment(tmp_path / "venv")
    package = tmp_path / "package"
    shutil.copytree(EXAMPLES / "package", package)
    tools = PythonTools(python=python)
    before = await look_entry_points(source("entry_points"), python=tools)

    pip("--python", python, "install", "--no-index", "--no-deps", "--no-build-isolation", str(package))
    installed = await look_entry_points(source("entry_points"), python=tools)
    outcome = await call(tools, named(installed, "make_slug"), tmp_path, title="Ünïted  Nations!")
    pip("--python", python, "uninstall", "-y", "openclaw-tool-slug")
    removed = await look_entry_points(source("entry_points"), python=tools)

    assert "make_slug" not in ready(before)
    assert named(installed, "make_slug").facts == {"package": "openclaw-tool-slug", "release": "1.0.0"}
    assert outcome.result == {"slug": "united-nations"}
    assert "make_slug" not in ready(removed)


async def test_packages_in_a_folder_of_their_own_are_found_and_broken_ones_named(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    for name, entry, requires in (
        ("good", "good_pkg:say", ""),
        ("gone", "gone_pkg:say", ""),
        ("needy", "good_pkg:say", "Requires-Dist: no-such-package>=3\n"),
        ("many", "good_pkg", 'Requires-Dist: not-needed; extra == "dev"\n'),
    ):
        write(
            packages / f"{name}-1.0.dist-info",
            METADATA=f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}",
            entry_points__txt=f"[openclaw.tools]\n{name} = {entry}\n",
        )
    write(packages, good_pkg__py="from openclaw_admin.tools import tool\n@tool\ndef say(): return 'hi'\n")
    tools = PythonTools()

    look = await look_entry_points(source("entry_points", scan_directories=[str(packages)]), python=tools)

    mine = {each.key: each.failure.code if each.failure else "" for each in look.found}
    assert mine == {"good": "", "gone": "module_missing", "many:say": "name_taken", "needy": "dependency_missing"}
    assert (await call(tools, named(look, "say"), tmp_path)).result == {"content": [{"type": "text", "text": "hi"}]}


@pytest.mark.parametrize(
    "text", ["-----BEGIN KEY-----\nabc: [unclosed-secret", "a: b: unclosed-secret", "unclosed-secret: \t- @"]
)
async def test_a_file_that_is_no_tool_file_is_not_shown(tmp_path: Path, text: str) -> None:
    (tmp_path / "key.pem").write_text(text)
    look = await look_tool_file(source("file", path=str(tmp_path / "key.pem")), python=PythonTools())
    assert look.failure is not None
    assert "(line " in look.failure.message
    assert "unclosed-secret" not in look.failure.message


async def test_a_file_among_keys_is_not_opened_nor_a_pipe_waited_for(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "tools.yaml").write_text("tools: []\n")
    (tmp_path / "link.yaml").symlink_to(keys / "tools.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    python = PythonTools(closed=(keys,))
    for name, code in (
        ("keys/tools.yaml", "folder_refused"),
        ("link.yaml", "folder_refused"),
        ("pipe.yaml", "tool_file_invalid"),
    ):
        look = await look_tool_file(source("file", path=str(tmp_path / name)), python=python)
        assert look.failure is not None
        assert look.failure.code == code
