"""Calls that the sandbox stage refuses: needs that cannot be met, and scripts mixed up with a shell's language."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.runtime.call import CallResult, JsonObject
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.configured import ConfiguredRunner
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.rehearse import rehearse
from apps.firewall.runtime.testing import FakeWorld, call_of
from apps.firewall.sandbox.levels import Offer, Part, offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.shell.bleed import SCRIPT_LIMIT_BYTES
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.configured import BY_NAME
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.sandboxing import Allowance, Sandbox

pytestmark = pytest.mark.unhurried

MISSING = Part("bubblewrap", "bwrap is not installed")
NOTHING = Offer(MISSING, Part("landlock", "the kernel has none"), Part("seccomp"))
SETTINGS: JsonObject = {
    "agents": {"bot": {"allowlist": [{"pattern": "/usr/bin/*"}, {"pattern": "/usr/bin/*", "argPattern": r"^\w+\.py$"}]}}
}
SHELL = ToolEntry(
    "shell_execute",
    params=BY_NAME["shell_execute"].definition.parameters,
    plugin="shell",
    executor={"kind": "configured", "tool": "shell_execute", "source": "shell"},
)

BROWSER = ToolEntry(
    "browser_navigate",
    params=BY_NAME["browser_navigate"].definition.parameters,
    plugin="pages",
    executor={"kind": "configured", "tool": "browser_navigate", "source": "pages"},
)


class OneShell:
    """Connections to a source of commands alone."""

    async def connection(self, environment: str, source: str) -> Connection:
        return Connection(source=source, kind="own_shell")


def world(folder: Path, sandbox: Sandbox) -> FakeWorld:
    entries = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()]
    source = SnapshotSource(
        environment="production", tools=[*entries, SHELL, BROWSER], agents=[AgentSource("bot")], exec_approvals=SETTINGS
    )
    here = FakeWorld(build_snapshot(source))
    runners = (BuiltinRunner(sandbox=sandbox), ConfiguredRunner(OneShell(), sandbox=sandbox))
    here.executor = Executors(Workspaces(folder), runners)  # type: ignore[assignment]
    return here


async def call(here: FakeWorld, tool: str, **params: Any) -> CallResult:
    return await invoke(call_of(tool, **params), here.ports)


def workspace(folder: Path) -> Path:
    path = folder / "production" / "bot"
    path.mkdir(parents=True, exist_ok=True)
    return path


@pytest.fixture
def held() -> Sandbox:
    return Sandbox(Allowance(), offer())


@pytest.mark.parametrize("tool", ["exec", "read"])
async def test_a_tool_that_cannot_have_its_level_does_not_run_and_says_so(tmp_path: Path, tool: str) -> None:
    here = world(tmp_path, Sandbox(Allowance(), NOTHING))
    params = {"exec": {"command": "ls"}, "read": {"path": "a"}}[tool]

    result = await call(here, tool, **params)

    assert result.status == "denied"
    assert result.judgement is not None
    assert result.error is not None
    assert (result.judgement.layer, result.error["code"]) == ("sandbox", "sandbox_refused")
    assert "needs the sandbox level `filesystem`" in result.error["message"]
    assert "bwrap is not installed" in result.error["message"]


async def test_a_browser_does_not_run_without_bubblewrap_whatever_an_admin_lowers(tmp_path: Path) -> None:
    landlock_only = replace(NOTHING, landlock=Part("landlock"))
    here = world(tmp_path, Sandbox(Allowance(level="none"), landlock_only))

    result = await call(here, "browser_navigate", url="http://tools.test/")

    assert result.error is not None and result.status == "denied"
    assert "needs the sandbox level `isolated`" in result.error["message"]


async def test_an_admin_may_lower_what_every_tool_is_held_to(tmp_path: Path, held: Sandbox) -> None:
    (workspace(tmp_path) / "a").write_text("here")

    result = await call(world(tmp_path, replace(held, allowance=Allowance(level="process"))), "read", path="a")

    assert result.status == "completed", result.error


@pytest.mark.parametrize("tool", ["exec", "shell_execute"])
async def test_a_script_with_a_variable_of_the_shell_does_not_run(tmp_path: Path, held: Sandbox, tool: str) -> None:
    (workspace(tmp_path) / "job.py").write_text("print(1)\nprint($HOME_DIR)\n")
    here = world(tmp_path, held)

    result = await call(here, tool, command="python3 job.py")

    assert result.judgement is not None
    assert result.error is not None
    assert (result.status, result.error["code"], result.judgement.layer) == ("denied", "shell_bleed", "preflight")
    assert "`$HOME_DIR` in line 2 of `job.py`" in result.error["message"]
    assert (await rehearse(call_of(tool, command="python3 job.py"), here.ports)).refusal is not None


@pytest.mark.parametrize("tool", ["exec", "shell_execute"])
async def test_a_script_that_is_too_large_is_not_read_and_that_is_said(
    tmp_path: Path, held: Sandbox, tool: str
) -> None:
    (workspace(tmp_path) / "job.py").write_text("#" * SCRIPT_LIMIT_BYTES + "\nprint('ran')\n")

    result = await call(world(tmp_path, held), tool, command="python3 job.py")

    assert result.status == "completed", result.error
    assert [each["code"] for each in result.warnings] == ["script_not_read"]
    assert "larger than 512 KB" in result.warnings[0]["message"]


LIMITS = Limits(cpu_s=1, memory_bytes=200_000_000, file_bytes=1_000_000, processes=20, written_bytes=20_000_000)
ENDS = {
    "crash": ("import os; os.abort()", "signal"),
    "fork bomb": ("import os\nwhile True:\n try: os.fork()\n except OSError: pass", "command_process_limit"),
    "thread bomb": (
        "import threading, time\nthreading.stack_size(32768)\n"
        "for _ in range(2000): threading.Thread(target=time.sleep, args=(60,)).start()",
        "command_process_limit",
    ),
    "memory hog": (
        "import os, time\nos.fork(); os.fork()\nx = b'x' * 120_000_000\ntime.sleep(60)",
        "command_memory_limit",
    ),
    "busy loop": ("while True: pass", "command_cpu_limit"),
    "disk filler": (
        "n = 0\nwhile True:\n open(f'f{n}', 'wb').write(b'x' * 900_000); n += 1",
        "command_disk_limit",
    ),
    "endless output": ("while True: print('y' * 1000)", "command_cpu_limit or command_timed_out"),
    "stubborn child": (
        "import os, signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.fork() == 0: os.setsid()\ntime.sleep(60)",
        "command_timed_out",
    ),
}


@pytest.mark.parametrize("name", ENDS)
async def test_each_misbehaviour_ends_as_its_own_error(tmp_path: Path, name: str) -> None:
    program, expected = ENDS[name]
    (workspace(tmp_path) / "job.py").write_text(program)
    here = world(tmp_path, Sandbox(Allowance(limits=LIMITS), offer()))

    # what ends by another limit has all the time that a busy machine needs to reach it
    result = await call(here, "exec", command="python3 job.py", timeout=3 if "timed_out" in expected else 60)

    if expected == "signal":
        assert result.result is not None
        assert result.result["signal"] == 6
        return
    assert result.error is not None, result.result
    assert result.status == "failed"
    assert result.error["code"] in expected.split(" or ")
