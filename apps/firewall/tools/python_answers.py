"""What became of a Python tool's process: its answer, or why there is none."""

import json
import re
import signal
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.sandbox.process import ProcessResult
from apps.firewall.tools.remote_json import plain_text
from apps.firewall.tools.running import ToolOutcome

MESSAGE_LETTERS: Final = 2000
ERROR_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def outcome_of(ran: ProcessResult, timeout_s: float) -> ToolOutcome:
    """Read an answer; one that is whole counts, however the process ended after it."""
    answer = _answer_in(ran)
    if answer is not None and isinstance(answer.get("result"), dict):
        return ToolOutcome(result=answer["result"])
    if answer is not None and isinstance(answer.get("error"), dict):
        return ToolOutcome(ended="failed", error=_error_said(answer["error"]))
    code, message = _ending(ran, timeout_s)
    stderr = ran.stderr.text()[-2000:]
    result = {"stderr": stderr} if stderr.strip() else None
    ended = "unknown" if ran.ended == "lost" else "failed"
    return ToolOutcome(ended=ended, result=result, error={"code": code, "message": message})


def _error_said(said: Mapping[str, Any]) -> dict[str, str]:
    """Read an error; the process writes what it wants, whatever the program in it would have written."""
    code, message = said.get("code"), said.get("message")
    is_code = isinstance(code, str) and ERROR_CODE.fullmatch(code)
    return {
        "code": str(code) if is_code else "tool_failed",
        "message": plain_text(message, MESSAGE_LETTERS) or "the tool says that it failed",
    }


def _answer_in(ran: ProcessResult) -> dict[str, Any] | None:
    try:
        answer = json.loads(ran.stdout.head + ran.stdout.tail) if not ran.stdout.dropped else None
    except (ValueError, RecursionError):
        return None
    return answer if isinstance(answer, dict) else None


def _ending(ran: ProcessResult, timeout_s: float) -> tuple[str, str]:
    if ran.ended == "timed_out":
        return "tool_timed_out", f"the tool was ended after {timeout_s:g} seconds"
    if ran.signal == signal.SIGXCPU:
        return "tool_cpu_limit", "the tool was ended: it computed for too long"
    if ran.ended == "ended":
        return "tool_crashed", f"the tool's process ended without an answer: {ending_of(ran)}"
    return f"tool_{ran.ended}", f"the tool did not finish: {ending_of(ran)}"


def ending_of(ran: ProcessResult) -> str:
    """Say how a process ended."""
    if ran.ended != "ended":
        return f"{ran.ended}: {ran.error}" if ran.error else ran.ended
    return f"signal {ran.signal}" if ran.signal is not None else f"exit code {ran.exit_code}"
