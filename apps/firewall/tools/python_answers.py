"""What became of a Python tool's process: its answer, or why there is none."""

import json
import re
import signal
from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.sandbox.process import ProcessResult
from apps.firewall.tools.own_formats import FormatUncheckedError
from apps.firewall.tools.remote_json import plain_text
from apps.firewall.tools.running import Cause, ToolOutcome

MESSAGE_LETTERS: Final = 2000
CAUSE_LETTERS: Final = 1_000
TRACE_LETTERS: Final = 8_100
ERROR_CODE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


def outcome_of(ran: ProcessResult, timeout_s: float) -> ToolOutcome:
    """Read an answer; one that is whole counts, however the process ended after it."""
    answer = _answer_in(ran)
    if answer is not None and isinstance(answer.get("result"), dict):
        return ToolOutcome(result=answer["result"])
    if answer is not None and isinstance(answer.get("error"), dict):
        return ToolOutcome(ended="failed", error=_error_said(answer["error"]), cause=cause_said(answer.get("cause")))
    code, message = _ending(ran, timeout_s)
    stderr = ran.stderr.text()[-TRACE_LETTERS:]
    ended = "unknown" if ran.ended == "lost" else "failed"
    cause = Cause(exception=code, message=message, traceback=plain_lines(stderr, TRACE_LETTERS))
    return ToolOutcome(ended=ended, error={"code": code, "message": message}, cause=cause)


def checked_of(ran: ProcessResult, count: int, timeout_s: float) -> list[bool]:
    """Read what was said of texts and their formats.

    Raises:
        FormatUncheckedError: not of all of them.
    """
    answer = _answer_in(ran)
    checked = answer.get("checked") if answer is not None else None
    if isinstance(checked, list) and len(checked) == count and all(isinstance(each, bool) for each in checked):
        return checked
    outcome = outcome_of(ran, timeout_s)
    said = "the process that checks formats sent rubbish" if outcome.error is None else outcome.error["message"]
    raise FormatUncheckedError(f"a format of the tool's author cannot be checked: {said}", cause=outcome.cause)


def cause_said(said: Any) -> Cause | None:
    """Read what the process tells of an exception; it writes what it wants, so its size is held again."""
    if not isinstance(said, Mapping) or not isinstance(said.get("exception"), str):
        return None
    return Cause(
        exception=plain_text(said["exception"], 200),
        message=plain_lines(said.get("message"), CAUSE_LETTERS),
        traceback=plain_lines(said.get("traceback"), TRACE_LETTERS),
    )


def plain_lines(text: Any, limit: int) -> str:
    """Give a text with its lines, without what cannot be shown or stored."""
    kept = text[:limit] if isinstance(text, str) else ""
    return "".join(each if each.isprintable() or each == "\n" else "\ufffd" for each in kept.expandtabs(4))


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
