"""How soon confined work begins: commands, and Python tools compared with bubblewrap and a fresh interpreter."""

import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

from apps.firewall.sandbox.levels import offer
from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import run_process
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.executors import PythonExecutor
from apps.firewall.tools.python_tools import HOST, ROOT, PythonTools
from bench.figures import Figure, shown

ROUNDS = 40
PAUSE_S = 0.05
COMMAND_GOAL_S = 0.010
RATIO_GOAL = 5
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
CONTEXT: JsonObject = {"session": {}, "sandboxed": False, "call_id": ""}
TOOL = """
import time
BEGAN = time.monotonic()
from openclaw_admin.tools import tool

@tool
def began() -> dict:
    "Tell when this module began to load."
    return {"at": BEGAN}
"""


async def _command(folder: str, *, isolated: bool) -> float:
    """Run a command that tells the time, and return the seconds from the order to its first own step."""
    started = time.time()
    ran = await run_process(
        ["/usr/bin/date", "+%s.%N"],
        cwd=folder,
        env=ENV,
        limits=Limits(),
        time_limit_s=30,
        output_limit_bytes=1000,
        network=False,
        isolated=isolated,
    )
    return float(ran.stdout.text()) - started


async def _tool(tools: PythonTools, folder: str) -> float:
    """Call a tool, and return the seconds from the call to the first line of its module."""
    executor = PythonExecutor(file=f"{folder}/began.py", folder=folder, attribute="began")
    order = {"name": "began", "params": {}, "config": {}, "context": CONTEXT}
    started = time.monotonic()
    outcome = await tools.run(executor, order, workspace=folder)
    assert outcome.result is not None, outcome.error
    return float(outcome.result["at"]) - started


async def _bubblewrapped(folder: str, *arguments: str, order: JsonObject | None = None) -> bytes:
    """Run a fresh interpreter in plain bubblewrap, and return what it says."""
    program = shutil.which("bwrap") or ""
    seen = ("/usr", "/lib", "/lib64", "/bin", sys.prefix, sys.base_prefix, str(ROOT))
    options = ["--unshare-all", "--unshare-user", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    process = await asyncio.create_subprocess_exec(
        *(program, *options, *(word for path in seen for word in ("--ro-bind-try", path, path))),
        *("--bind", folder, folder, "--chdir", folder, sys.executable, "-I", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=ENV,
    )
    return (await process.communicate(json.dumps(order).encode()))[0]


async def _tool_afresh(folder: str) -> float:
    """Do what `_tool` does without a fork server: the same program, loaded by a fresh interpreter in bubblewrap."""
    item = {"module": "", "file": f"{folder}/began.py", "attribute": "began"}
    context = {**CONTEXT, "config": {}, "workspace": folder}
    order = {"do": "run", "item": item, "name": "began", "params": {}, "context": context, "folders": [folder]}
    started = time.monotonic()
    said = json.loads((await _bubblewrapped(folder, HOST, order=order)).splitlines()[-1])
    return float(said["result"]["at"]) - started


async def _interpreter_afresh(folder: str) -> float:
    """Start a fresh interpreter that imports nothing in bubblewrap, and return the seconds until it tells the time."""
    started = time.monotonic()
    return float(await _bubblewrapped(folder, "-S", "-c", "import time; print(time.monotonic())")) - started


async def _median(run: Callable[[], Awaitable[float]]) -> float:
    times = []
    for _ in range(ROUNDS):
        await asyncio.sleep(PAUSE_S)  # calls come one by one: what is kept ready has been made ready again
        times.append(await run())
    return statistics.median(times[2:])


async def _measured(folder: str) -> Iterator[Figure]:
    (Path(folder) / "began.py").write_text(TOOL)
    tools = PythonTools()
    figures = []
    for isolated, held in ((False, "Landlock"), (True, "bubblewrap")):
        if isolated and offer().lacks("isolated"):
            continue
        took = await _median(lambda isolated=isolated: _command(folder, isolated=isolated))  # type: ignore[misc]
        figures.append(
            Figure(
                what=f"start of a command held by {held}",
                value=f"median {shown(took)}",
                goal=f"≤ {shown(COMMAND_GOAL_S)}",
                holds=took <= COMMAND_GOAL_S,
            )
        )
    own = await _median(lambda: _tool(tools, folder))
    if offer().lacks("isolated"):
        return iter([*figures, Figure(what="start of a Python tool", value=f"median {shown(own)}")])
    afresh = await _median(lambda: _tool_afresh(folder))
    bare = await _median(lambda: _interpreter_afresh(folder))
    figures += [
        Figure(
            what="start of a Python tool, against the same in bubblewrap and a fresh interpreter",
            value=f"medians {shown(own)} and {shown(afresh)}, {afresh / own:.1f} times as fast",
            goal=f"≥ {RATIO_GOAL} times as fast",
            holds=afresh / own >= RATIO_GOAL,
        ),
        Figure(what="a fresh interpreter in bubblewrap that imports nothing", value=f"median {shown(bare)}"),
    ]
    return iter(figures)


def measure() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory(prefix="openclaw-bench-") as folder:
        yield from asyncio.run(_measured(folder))
