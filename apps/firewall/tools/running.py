"""What a tool is given when it runs, and what it answers."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apps.firewall.sandbox.limits import Limits
from apps.firewall.sandbox.process import run_process
from apps.firewall.tools import confined
from apps.firewall.tools.definition import JsonObject

CONFINED = str(Path(confined.__file__))
ORDER_TIME_LIMIT_S = 10.0
ANSWER_LIMIT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a tool works.

    Args:
        root: absolute path of the workspace folder.
        python: interpreter that runs the file tools.
        limits: for every process it starts.
    """

    root: str
    python: str
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as it was judged: exactly this runs, nothing is looked up again.

    Args:
        argv: arguments, the name of the program first.
        executable: real path of the file.
        cwd: absolute path of the folder it starts in.
    """

    argv: tuple[str, ...]
    executable: str
    cwd: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """A tool's answer: a result, or an error `{"code", "message"}`, and sometimes both.

    `ended` is `completed`, `failed` (the tool ran and could not do it), `cancelled` (somebody asked for its end) or
    `unknown` (nobody knows what was done).
    """

    ended: str = "completed"
    result: JsonObject | None = None
    error: Mapping[str, str] | None = None


def failed(code: str, message: str, result: JsonObject | None = None) -> ToolOutcome:
    """Answer that the tool could not do it."""
    return ToolOutcome(ended="failed", result=result, error={"code": code, "message": message})


async def run_file_order(do: str, params: JsonObject, place: Place) -> ToolOutcome:
    """Have the program `confined.py` carry out one order in a process of its own."""
    order: dict[str, Any] = {"do": do, "root": place.root, "params": dict(params)}
    ran = await run_process(
        [place.python, "-I", "-S", CONFINED],
        cwd=place.root,
        env={"LANG": "C.UTF-8"},
        limits=place.limits,
        time_limit_s=ORDER_TIME_LIMIT_S,
        output_limit_bytes=ANSWER_LIMIT_BYTES,
        stdin=json.dumps(order).encode(),
        readable=(CONFINED,),
    )
    if ran.ended != "ended" or ran.exit_code != 0:
        ended = "unknown" if ran.ended == "lost" else "failed"
        why = f"{ran.ended}: {ran.error}" if ran.error else ran.ended
        error = {"code": "tool_failed", "message": f"the file tool did not finish: {why}"}
        return ToolOutcome(ended=ended, error=error)
    answer = json.loads(ran.stdout.head + ran.stdout.tail)
    if "error" in answer:
        return ToolOutcome(ended="failed", error=answer["error"])
    return ToolOutcome(result=answer["result"])
