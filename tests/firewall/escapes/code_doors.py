"""The doors of code of a model: its own realm, and a Node that it has taken over; and both without any wall."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.runtime.code_mode import process
from apps.firewall.runtime.code_mode.pool import CodePool
from apps.firewall.runtime.code_mode.results import CodeResult
from apps.firewall.sandbox import node
from apps.firewall.sandbox.levels import Offer, Part, offer
from tests.firewall.escapes.codes import PREAMBLE as OF_CODE
from tests.firewall.escapes.codes import CodeAttempt
from tests.firewall.escapes.doors import SECRET, Outside
from tests.firewall.escapes.nodes import PREAMBLE as OF_NODE
from tests.firewall.escapes.nodes import NodeAttempt
from tests.firewall.runtime.coding import Desk, for_ever, nodes

CODE_DOORS: Final = {"code": "in bubblewrap", "code_landlock": "with Landlock"}
NODE_DOORS: Final = {
    "node": "in bubblewrap",
    "node_landlock": "with Landlock",
    "bare": "in bubblewrap, without Node's walls",
    "bare_landlock": "with Landlock, without Node's walls",
}
"""Key -> what people call it."""
OVERTIME_MS: Final = 60_000
CONTROL_S: Final = 60.0
OF_MEMORY: Final = tuple(
    each for each in node.FLAGS if each.startswith(("--jitless", "--single", "--v8-pool", "--max-"))
)
"""What it needs to start within its memory."""
NAIVE: Final = """
const vm = require("node:vm");
const code = require("node:fs").readFileSync(0, "utf8");
const tools = {
  search: async () => [{ id: "core:read" }],
  describe: async () => { throw new Error("refused"); },
  call: async () => ({}),
};
const context = vm.createContext({ openclaw: { tools }, console: { log() {}, warn() {}, error() {} } });
const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
const script = new vm.Script(`"use strict"; (async function () {${code}})()`, { importModuleDynamically });
const told = (value) => process.stdout.write(String(value), () => process.exit());
script.runInContext(context).then(told, told);
"""
"""How one would run code that one trusts."""


def code_problem(door: str) -> str:
    """Say why a door is not to be had here; empty when it is."""
    there = offered(door)
    return node.node_problem(there) or (there.landlock.problem if "landlock" in door else there.lacks("isolated"))


def offered(door: str) -> Offer:
    there = offer()
    return replace(there, bubblewrap=Part("bubblewrap", "not used here")) if door.endswith("landlock") else there


async def through_code(door: str, attempt: CodeAttempt, around: Outside) -> str:
    """Make an attempt as `tool_search_code` would; return what was wrong about it, empty when it was held."""
    desk = Desk(search=[{"id": "core:read"}], describe=_refuse, call=_called)
    result = await _ran(door, _body(attempt, around), desk, attempt.time_ms)
    asked = tuple(operation for operation, _ in desk.asked)
    if attempt.asks is not None and asked != attempt.asks:
        return f"the bridge was asked otherwise: {asked}"
    if len(desk.ended) != len(desk.asked):
        return "something that it waited for goes on"
    return _judged(attempt.ends or ("returned", "threw"), attempt.time_ms, result, desk, around)


async def through_node(door: str, attempt: NodeAttempt, around: Outside) -> str:
    """Make an attempt in place of the harness; return what was wrong about it, empty when it was held."""
    desk = Desk(search=[], call={})
    with _in_its_place(_program(attempt, around), around, has_walls=not door.startswith("bare")):
        result = await _ran(door, "", desk, attempt.time_ms)
    if any(params.get("id") == "replay" for _, params in desk.asked[1:]):
        return "a call was made twice"
    return _judged(attempt.ends, attempt.time_ms, result, desk, around)


async def without_walls(attempt: CodeAttempt | NodeAttempt, around: Outside) -> str:
    """Make an attempt with nothing around it; return what it got, empty when nothing."""
    if isinstance(attempt, CodeAttempt):
        return await _alone(NAIVE, _body(attempt, around), around)
    order = '{"word": "w"}\n{"do": "run"}\n'
    return await _alone(_program(attempt, around), order, around)


def _body(attempt: CodeAttempt, around: Outside) -> str:
    return f"{OF_CODE.replace('{world}', _facts(around))}{attempt.code}\nreturn found;"


def _program(attempt: NodeAttempt, around: Outside) -> str:
    return OF_NODE.format(world=_facts(around), code=attempt.code)


def _facts(around: Outside) -> str:
    return json.dumps({name: value for name, value in around.facts.items() if name != "way"})


async def _ran(door: str, code: str, desk: Desk, time_ms: int) -> CodeResult:
    pool = CodePool(size=0, offered=offered(door))
    try:
        return await pool.run(code, desk, timeout_ms=time_ms)
    finally:
        await pool.close()


def _judged(ends: tuple[str, ...], time_ms: int, result: CodeResult, desk: Desk, around: Outside) -> str:
    said = f"{result} {desk.asked}"
    if "ESCAPED" in said or SECRET in said:
        return f"it got what it wanted: {said[:500]}"
    if result.ended not in ends:
        return f"it ended otherwise than it may: {said[:500]}"
    if result.duration_ms > time_ms + OVERTIME_MS:
        return f"it ran for {result.duration_ms} ms"
    if len(said) > 2_000_000:
        return f"it said {len(said)} characters"
    left = nodes()
    return "; ".join([*around.harm, *(f"process {pid} is left" for pid in left)])


@contextlib.contextmanager
def _in_its_place(program: str, around: Outside, *, has_walls: bool) -> Iterator[None]:
    file = around.folder / "code" / "harness.js"
    file.write_text(program)
    usual, flags = process.HARNESS, node.FLAGS
    process.HARNESS = file  # type: ignore[misc]
    node.FLAGS = flags if has_walls else OF_MEMORY  # type: ignore[misc]
    try:
        yield
    finally:
        process.HARNESS, node.FLAGS = usual, flags  # type: ignore[misc]


async def _alone(program: str, given: str, around: Outside) -> str:
    folder = around.folder / "workspaces"
    running = await asyncio.create_subprocess_exec(
        node.node(),
        *("-e", program),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd=folder,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(CONTROL_S):
            said = (await running.communicate(given.encode()))[0].decode("utf-8", "replace")
        got = [said] if "ESCAPED" in said or SECRET in said else []
        return "; ".join([*got, *around.harm])
    finally:
        _tidy(Path(around.facts["made"]))


def _tidy(made: Path) -> None:
    """Remove what an attempt that succeeds leaves: a file or folder, and whoever knows its name."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                words = (entry / "cmdline").read_bytes()
                if str(made).encode() in words and b"node" in words:
                    os.kill(int(entry.name), signal.SIGKILL)
    for left in made.parent.glob(f"{made.name}*"):
        left.rmdir() if left.is_dir() else left.unlink()


async def _refuse(asked: Any) -> None:
    raise FirewallError("refused")


async def _called(asked: Any) -> Any:
    return await for_ever(asked) if asked["id"] == "for ever" else {"tool": asked["id"]}
