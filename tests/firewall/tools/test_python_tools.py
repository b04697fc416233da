"""Authors' code in a process of its own: what it says, what it answers, and what it cannot do to anybody else."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.tools.definition import SandboxNeeds
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.python_tools import FolderRefusedError, HostError, Place, PythonTools
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.sandboxing import Allowance, Sandbox

pytestmark = pytest.mark.unhurried

GOOD = """
    from openclaw_admin.tools import tool

    @tool
    def {name}(text: str) -> str:
        '''Say it.'''
        return text
"""

BROKEN = {
    "syntax": ("def broken(:\n", "load", "import_failed", "SyntaxError: invalid syntax (line 1)"),
    "raises": ("raise ValueError('no luck')\n", "load", "import_failed", "ValueError: no luck"),
    "leaves": ("import sys; sys.exit('bye')\n", "load", "import_failed", "SystemExit: bye"),
    "exits": ("import os; os._exit(3)\n", "load", "process_ended", "(exit code 3)"),
    "dies": ("import os; os.kill(os.getpid(), 11)\n", "load", "process_ended", "(SIGSEGV)"),
    "kills": ("import os; os.kill(os.getppid(), 9)\n", "load", "process_ended", "(signal 9)"),
    "forks": ("import os\nif os.fork() == 0: os._exit(0)\nos.fork()\n", "load", "no_tools", "nothing in it is a tool"),
    "eats": ("x = [bytearray(1 << 20) for _ in range(4096)]\n", "load", "process_ended", "(memory_limit)"),
    "hangs": ("while True: pass\n", "load", "load_timed_out", "within 3 seconds"),
    "sleeps": ("import time; time.sleep(60)\n", "load", "load_timed_out", "within 3 seconds"),
    "lacks": ("import not_there_at_all\n", "verify", "dependency_missing", "`not_there_at_all` is not installed"),
    "empty": ("x = 1\n", "load", "no_tools", "nothing in it is a tool"),
    "spies": ("import openclaw_admin.settings\n", "verify", "dependency_missing", "openclaw_admin.settings"),
    "writes": (
        "import os\nfor n in range(3, 20):\n    try: os.write(n, b'rubbish\\n')\n    except OSError: pass\n",
        "load",
        "process_disturbed",
        "disturbed the process",
    ),
    "needs": (
        "from openclaw_admin.tools import tool\n"
        "@tool(dependencies=['pydantic>=1', 'no-such-thing>=2', 'pydantic<1'])\n"
        "def needs(): 'Need.'\n",
        "verify",
        "dependency_missing",
        "`no-such-thing>=2` is not installed; `pydantic<1` is not met",
    ),
    "nothing": (
        "from openclaw_admin.tools import tool_factory\n@tool_factory\ndef make(): return None\n",
        "initialise",
        "not_offered",
        "the factory `make` offers no tool here",
    ),
    "misspelt": (
        "from openclaw_admin.tools import tool\n@tool(permisions=['a:b'])\ndef f(): 'Do.'\n",
        "load",
        "import_failed",
        "no member `permisions`",
    ),
    "untyped": (
        "import io\nfrom openclaw_admin.tools import tool\n@tool\ndef f(handle: io.IOBase): 'Do.'\n",
        "load",
        "bad_signature",
        "`f`",
    ),
    "unready": (
        "from openclaw_admin.tools import BaseTool\n"
        "class Db(BaseTool):\n    def initialise(self): raise OSError('no database')\n    def execute(self): ...\n",
        "initialise",
        "initialise_failed",
        "OSError: no database",
    ),
}
"""Name of a module -> its text, and the stage, code and words of its failure."""


def write(folder: Path, **modules: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(dedent(text))


async def answers(tools: PythonTools, folder: Path, **how: Any) -> dict[str, Mapping[str, Any]]:
    places = [Place(key=file.stem, file=str(file), folder=str(folder)) for file in sorted(folder.glob("*.py"))]
    return {each.place.key: each.answer async for each in tools.describe(places, **how)}


@pytest.mark.unhurried
@pytest.mark.slow
async def test_each_broken_module_is_named_with_its_cause_and_stops_nobody(tmp_path: Path) -> None:
    modules = {name: text for name, (text, *_) in BROKEN.items()}
    good = {f"{name}_z": GOOD.format(name=f"say_{name}") for name in BROKEN}
    write(tmp_path, **modules, **good)

    told = await answers(PythonTools(import_limit_s=3), tmp_path, is_eager=True)

    assert len(told) == 2 * len(BROKEN)
    for name, (_, stage, code, words) in BROKEN.items():
        assert told[f"{name}_z"]["offers"][0]["definition"]["name"] == f"say_{name}"
        (answer,) = told[name].get("offers", [told[name]])
        assert (answer["failure"]["stage"], answer["failure"]["code"]) == (stage, code), answer
        assert words in answer["failure"]["message"]


async def test_what_one_module_offers_comes_with_schemas_and_one_broken_tool_does_not_hide_the_others(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        many="""
        from openclaw_admin.tools import BaseTool, tool, tool_factory

        @tool(name="search_web", parameters={"type": "object", "properties": {"query": {"type": "string"}}})
        def search(query, limit=3): "Search."

        @tool
        async def repeat(text: str, times: int = 2): "Repeat a text."

        class GetWeatherTool(BaseTool):
            '''Tell the weather.'''
            permissions = ["net:read"]
            timeout = 5
            async def execute(self, city: str): ...

        class Odd(BaseTool):
            def execute(self, *args): ...

        @tool_factory
        def make(config, session, sandboxed):
            def ask(): ...
            return [{"name": "ask", "description": "Ask.", "parameters": {"type": "object"}, "execute": ask}, repeat]

        def no_tool(): ...
        """,
    )

    offers = (await answers(PythonTools(), tmp_path))["many"]["offers"]

    shown = [(each["attribute"], each.get("definition", {}).get("name")) for each in offers]
    assert shown == [
        ("search", "search_web"),
        ("repeat", "repeat"),
        ("GetWeatherTool", "get_weather"),
        ("Odd", None),
        ("make", "ask"),
        ("make", "repeat"),
    ]
    assert offers[2]["definition"]["permissions"] == ["net:read"]
    assert offers[2]["definition"]["parameters"]["required"] == ["city"]
    assert offers[3]["failure"]["code"] == "bad_signature"


async def test_a_look_answers_while_it_loads_and_a_failed_host_has_a_name(tmp_path: Path) -> None:
    write(tmp_path, slow="import time; time.sleep(0.3)\n" + dedent(GOOD.format(name="slow")))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0.01)

    counting = asyncio.create_task(count())
    await answers(PythonTools(), tmp_path)
    counting.cancel()

    assert turns > 10
    with pytest.raises(HostError, match="did not start"):
        await answers(PythonTools(python="/bin/false"), tmp_path)


@pytest.mark.parametrize("closed", ["keys", ".", "keys/deeper"])
async def test_no_tool_may_lie_in_or_around_the_folder_of_keys(tmp_path: Path, closed: str) -> None:
    (tmp_path / "keys" / "deeper").mkdir(parents=True)
    tools = PythonTools(closed=(tmp_path / "keys",))

    with pytest.raises(FolderRefusedError):
        tools.check_folder(str(tmp_path / closed))
    with pytest.raises(FolderRefusedError):
        tools.check_folder("relative")


# ---- calls ----------------------------------------------------------------------------------------------------------

CALLS = """
    import asyncio, os, sys, threading, time
    from datetime import date
    from pathlib import Path
    from openclaw_admin.tools import BaseTool, ToolContext, ToolError, image_result, json_result, tool, tool_factory

    @tool
    def plain(day: date, context: ToolContext):
        "Say what came."
        print("noise on stdout")
        return {"day": day, "year": day.year, "config": context.config, "session": context.session}

    @tool
    async def later(seconds: float = 0.01):
        "Wait."
        await asyncio.sleep(seconds)
        return "done"

    @tool
    def picture(): return image_result(label="dot", base64="aGk=", mime_type="image/png")

    @tool
    def wrong(): raise ToolError("no city of that name", code="city_unknown")

    @tool
    def raises(): raise KeyError("missing")

    @tool
    def leaves(): sys.exit("bye")

    @tool
    def dies():
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)

    @tool
    def floods():
        while True: print("x" * 65536)

    @tool
    def odd(): return object()

    @tool
    def huge(): return "x" * (9 << 20)

    @tool
    def eats(): return len([bytearray(1 << 20) for _ in range(4096)])

    @tool
    def thread_left():
        threading.Thread(target=time.sleep, args=(60,)).start()
        return "fine"

    @tool
    def look(paths: list[str]):
        def one(path):
            try: return os.listdir(path) if os.path.isdir(path) else len(Path(path).read_bytes())
            except OSError as exc: return type(exc).__name__
        Path("note.txt").write_text("x")
        return {"seen": [one(path) for path in paths], "env": sorted(os.environ)}

    class Database(BaseTool):
        "Count."
        async def initialise(self): self.rows = asyncio.get_running_loop()
        async def execute(self): return self.rows is asyncio.get_running_loop()
        def close(self): raise OSError("close fails")

    @tool_factory
    def make(config, sandboxed):
        if sandboxed: return None
        @tool(name="made")
        def made(): return config["word"]
        return made
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "workspace").mkdir()
    write(tmp_path / "tools", calls=CALLS)
    return tmp_path


async def call(
    here: Path, attribute: str, *, timeout_ms: int = 10_000, config: Any = None, sandboxed: bool = False, **params: Any
) -> ToolOutcome:
    tools = PythonTools(closed=(here / "keys",))
    executor = PythonExecutor(attribute=attribute, file=str(here / "tools" / "calls.py"), folder=str(here / "tools"))
    return await tools.run(
        executor,
        {
            "name": "made" if attribute == "make" else attribute,
            "params": params,
            "config": config or {},
            "context": {"session": {"agent_id": "bot"}, "sandboxed": sandboxed, "call_id": "c"},
        },
        workspace=str(here / "workspace"),
        timeout_ms=timeout_ms,
    )


def code(outcome: ToolOutcome) -> str:
    assert (outcome.ended, outcome.error is not None) == ("failed", True), outcome
    assert outcome.error is not None
    return outcome.error["code"]


async def test_a_call_gets_types_context_and_config_and_what_it_prints_is_no_answer(here: Path) -> None:
    outcome = await call(here, "plain", day="2026-09-01", config={"units": "metric"})

    assert outcome.result == {
        "day": "2026-09-01",
        "year": 2026,
        "config": {"units": "metric"},
        "session": {"agent_id": "bot"},
    }


async def test_async_tools_images_and_a_class_with_its_own_loop_answer(here: Path) -> None:
    later, picture, database = await asyncio.gather(call(here, "later"), call(here, "picture"), call(here, "Database"))

    assert later.result == {"content": [{"type": "text", "text": "done"}]}
    assert picture.result is not None
    assert {"type": "image", "data": "aGk=", "mimeType": "image/png"} in picture.result["content"]
    assert database.result is not None  # though it could not be closed afterwards
    assert database.result["details"] is True


@pytest.mark.parametrize(
    ("attribute", "expected", "words"),
    [
        ("wrong", "city_unknown", "no city of that name"),
        ("raises", "tool_raised", "the tool broke: KeyError"),
        ("leaves", "tool_raised", "the tool broke: SystemExit"),
        ("dies", "tool_crashed", "exit code 7"),
        ("odd", "result_not_json", "`object`"),
        ("huge", "result_too_large", "8388608 are allowed"),
        ("eats", "tool_memory_limit", "the tool did not finish"),
        ("gone", "attribute_missing", "`gone`"),
    ],
)
async def test_a_call_that_fails_says_why(here: Path, attribute: str, expected: str, words: str) -> None:
    outcome = await call(here, attribute)

    assert code(outcome) == expected
    assert outcome.error is not None
    assert words in outcome.error["message"]
    if attribute == "dies":
        assert outcome.result is None  # its words are for its author
        assert outcome.cause is not None
        assert outcome.cause.traceback == "last words\n"


async def test_a_wrong_parameter_that_only_the_signature_knows_is_named(here: Path) -> None:
    outcome = await call(here, "plain", day="yesterday")

    assert code(outcome) == "parameter_validation_failed"
    assert outcome.error is not None
    assert outcome.error["message"].startswith("day: ")


async def test_a_call_ends_at_its_time_whatever_it_floods(here: Path) -> None:
    started = time.monotonic()

    slow, flood = await asyncio.gather(
        call(here, "later", timeout_ms=700, seconds=60), call(here, "floods", timeout_ms=700)
    )

    assert (code(slow), code(flood)) == ("tool_timed_out", "tool_timed_out")
    assert slow.error == {"code": "tool_timed_out", "message": "the tool was ended after 0.7 seconds"}
    assert len(str(flood.result)) < 3000
    assert time.monotonic() - started < 8


async def test_a_thread_that_a_tool_left_does_not_hold_its_answer(here: Path) -> None:
    outcome = await call(here, "thread_left", timeout_ms=5000)

    assert outcome.result == {"content": [{"type": "text", "text": "fine"}]}


async def test_a_tool_reads_its_folder_and_writes_its_workspace_and_nothing_else(here: Path) -> None:
    (here / "keys").mkdir()
    (here / "keys" / "secret").write_text("x")
    settings = Path("openclaw_admin/settings.py").resolve()
    paths = [str(here / "keys" / "secret"), str(here), str(settings), str(settings.parent.parent), str(here / "tools")]

    outcome = await call(here, "look", paths=paths)

    assert outcome.result is not None
    assert outcome.result["seen"][:4] == ["PermissionError"] * 4
    assert "calls.py" in outcome.result["seen"][4]
    assert set(outcome.result["env"]) <= {"HOME", "LANG", "PATH", "TMPDIR", "LC_CTYPE"}
    assert (here / "workspace" / "note.txt").read_text() == "x"


async def test_a_factory_gets_the_config_and_may_offer_nothing_in_this_session(here: Path) -> None:
    made = await call(here, "make", config={"word": "hi"})
    none = await call(here, "make", config={"word": "hi"}, sandboxed=True)

    assert made.result == {"content": [{"type": "text", "text": "hi"}]}
    assert code(none) == "not_offered"


async def test_a_cancelled_call_leaves_no_process(here: Path) -> None:
    task = asyncio.create_task(call(here, "later", seconds=60))
    await asyncio.sleep(0.4)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_tool_may_ask_for_less_than_the_installation_gives_and_not_for_more() -> None:
    allowance = Allowance(limits=Limits(cpu_s=10, memory_bytes=1000, open_files=50), wall_s=20)
    tools = PythonTools(sandbox=Sandbox(allowance, offer()))

    less = tools.terms(SandboxNeeds(cpu_ms=1500, memory_bytes=500, open_files=5, wall_ms=500))
    more = tools.terms(SandboxNeeds(cpu_ms=99_000, memory_bytes=10**12, open_files=10**6, wall_ms=10**6))

    assert (less.limits.cpu_s, less.limits.memory_bytes, less.limits.open_files, less.wall_s) == (2, 500, 5, 0.5)
    assert (more.limits, more.wall_s) == (tools.terms(None).limits, 20)
