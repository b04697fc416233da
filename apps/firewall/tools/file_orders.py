"""Has the program of `files/` carry out one order in a process of its own."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from apps.firewall.sandbox.process import ProcessResult, run_process
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.files import program
from apps.firewall.tools.folders import FolderRefusedError, choose_folder
from apps.firewall.tools.running import Place, ToolOutcome, failed
from apps.firewall.tools.work import Work

PROGRAM: Final = Path(program.__file__)
TIME_LIMIT_S: Final = 10.0
ANSWER_LIMIT_BYTES: Final = 8 * 1024 * 1024


async def run_file_order(
    do: str, params: JsonObject, place: Place, *, root: str = "", denied: Sequence[str] = (), writes: bool = False
) -> ToolOutcome:
    """Carry out an order.

    Args:
        do: a key of `program.ORDERS`; `params` are its arguments but for the folder.
        root: real path of the folder that paths lead into; the workspace when empty.
        denied: patterns of paths that may not be used at all.
        writes: whether the folder may be written, if it is not the workspace.
    """
    root = root or place.root
    order: dict[str, Any] = {"do": do, "root": root, "params": dict(params), "denied": list(denied)}
    ran = await run_process(
        [place.python, "-I", "-S", str(PROGRAM)],
        cwd=root if writes else place.root,
        env={"LANG": "C.UTF-8"},
        limits=place.limits,
        time_limit_s=TIME_LIMIT_S,
        output_limit_bytes=ANSWER_LIMIT_BYTES,
        stdin=json.dumps(order).encode(),
        workspace=root if writes else place.root,
        readable=(str(PROGRAM.parent), root),
        network=False,
    )
    return _outcome(ran)


async def run_in_folder(do: str, params: JsonObject, work: Work, *, writes: bool = False) -> ToolOutcome:
    """Carry out an order in whichever folder its `path` leads into."""
    path = str(params["path"])
    try:
        folder, within = choose_folder(path, work.place.root, work.connection, writes=writes)
    except FolderRefusedError as exc:
        return failed(exc.code, exc.message)
    denied = work.connection.settings.get("deny_patterns") or ()
    if do == "list":
        params = {**params, "denied": list(denied)}
    ran = await run_file_order(
        do, {**params, "path": within}, work.place, root=folder.real, denied=denied, writes=writes
    )
    return ran if ran.result is None else replace(ran, result={**ran.result, "path": path})


def _outcome(ran: ProcessResult) -> ToolOutcome:
    if ran.ended != "ended" or ran.exit_code != 0:
        ended = "unknown" if ran.ended == "lost" else "failed"
        why = f"{ran.ended}: {ran.error}" if ran.error else ran.ended
        error = {"code": "tool_failed", "message": f"the file tool did not finish: {why}"}
        return ToolOutcome(ended=ended, error=error)
    answer = json.loads(ran.stdout.head + ran.stdout.tail)
    if "error" in answer:
        return ToolOutcome(ended="failed", error=answer["error"])
    return ToolOutcome(result=answer["result"])
