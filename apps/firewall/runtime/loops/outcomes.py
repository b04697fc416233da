"""What makes two outcomes of a call equal: the facts that tell progress, without those that differ every time.

Source: conformance README, dump row `outcome_fields` of `loop_detection`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.names import BLANKS, trim
from apps.firewall.runtime.loops.fingerprints import canonical, digest
from apps.firewall.runtime.loops.rules import LoopSettings

OutcomeKind = Literal["", "refused", "command_failed"]

POLLING_TOOLS: Final = frozenset({"command_status"})
POLLING_ACTIONS: Final[Mapping[str, frozenset[str]]] = {"process": frozenset({"poll", "log"})}
SEND_ACTIONS: Final = names("send broadcast reply thread-reply sendWithEffect sendAttachment upload-file sticker poll")
VOLATILE_MEMBERS: Final = names("""
messageId message_id messageIds platformMessageId platformMessageIds fileId file_id fileKey pollId poll_id
receipt runId idempotencyKey ts timestamp sentAt deliveredAt createdAt
""")

_POLLED: Final[Mapping[str, tuple[str, ...]]] = {
    "poll": ("exitCode", "exitSignal", "aggregated"),
    "log": ("totalLines", "totalChars", "truncated", "exitCode", "exitSignal"),
}
_ASKED: Final = ("approval-pending", "approval-unavailable")
_ENDED: Final = ("completed", "failed")

_S: Final = f"[{BLANKS}]"
_FLAGS: Final = re.ASCII | re.IGNORECASE
_TOOL_NAME: Final = r"[\"']?([a-z0-9_.-]+)[\"']?"
_UNKNOWN_TOOL: Final = (
    re.compile(rf"unknown tool[:{BLANKS}]+{_TOOL_NAME}", _FLAGS),
    re.compile(rf"tool{_S}+{_TOOL_NAME}{_S}+(?:not found|is not available)", _FLAGS),
)
_UNKNOWN_TOOL_LIMIT: Final = 10_000
_NAME_LIMIT: Final = 200
# when a command failed, and in which attempt; not why
_VOLATILE_IN_OUTPUT: Final = (
    re.compile(r"\d{4}-\d{2}-\d{2}[t ]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:z|[+-]\d{2}:\d{2})?", _FLAGS),
    re.compile(r"\d{1,2}:\d{2}:\d{2}(?:\.\d{1,6})?", _FLAGS),
    re.compile(rf"\b(?:attempt|retry)\b[{BLANKS}#:=]*\d+", _FLAGS),
    re.compile(rf"\b\d+(?:\.\d+)?{_S}?(?:ns|us|ms|seconds?|minutes?|hours?|s)\b", _FLAGS),
    re.compile(rf"\b(?:pid|ppid)\b[{BLANKS}#:=]*\d+", _FLAGS),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended, as far as the detectors care.

    Args:
        equal: digest of what makes it equal to others; empty when there is nothing to compare.
        failure: digest of why a command failed.
        stuck: by itself it is no progress.
        unknown_tool: the tool that does not exist, when the error says so.
    """

    equal: str = ""
    kind: OutcomeKind = ""
    failure: str = ""
    stuck: bool = False
    unknown_tool: str = ""


REFUSED: Final = Outcome(kind="refused")
NOTHING: Final = Outcome()


def is_polling(tool: str, params: Any) -> bool:
    """Say whether a call only asks how something is going."""
    if tool in POLLING_TOOLS:
        return True
    action = params.get("action") if isinstance(params, dict) else None
    return isinstance(action, str) and action in POLLING_ACTIONS.get(tool, ())


def outcome_of_error(settings: LoopSettings, error: Any) -> Outcome:
    """Read what a failed call said: a text, or any JSON."""
    text = error if isinstance(error, str) else canonical(error)
    equal = digest(["error", text], settings.key)
    return Outcome(equal=equal, stuck=True, unknown_tool=_unknown_tool(text))


def _unknown_tool(text: str) -> str:
    for pattern in _UNKNOWN_TOOL:
        match = pattern.search(trim(text)[:_UNKNOWN_TOOL_LIMIT])
        if match is not None:
            return match[1].lower()[:_NAME_LIMIT]
    return ""


def outcome_of_result(settings: LoopSettings, tool: str, params: Any, result: Any) -> Outcome:
    """Read what a call returned: `{content, details}`, or any JSON."""
    if not isinstance(result, dict):
        return Outcome(equal=digest(result, settings.key))
    given = result.get("details")
    details, text = given if isinstance(given, dict) else {}, _text_of(result)
    if settings.rules.reads_results:
        if details.get("status") == "blocked" and details.get("deniedReason") == "tool-loop":
            return REFUSED
        reader = _READERS.get(tool)
        read = reader(settings, details, text) if reader is not None else None
        if read is not None:
            return read
    return Outcome(equal=digest(_facts(settings, tool, params, details, text), settings.key))


def _facts(settings: LoopSettings, tool: str, params: Any, details: dict[str, Any], text: str) -> Any:
    if tool in POLLING_ACTIONS and is_polling(tool, params):
        action = params["action"]
        status = {"status": details["status"]} if "status" in details else {}
        return {"action": action, **status, **{name: details.get(name) for name in _POLLED[action]}, "text": text}
    if settings.rules.reads_results and _is_sending(tool, params):
        return _without_volatile(details)
    return {"details": details, "text": text}


def _text_of(result: Mapping[str, Any]) -> str:
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    texts = (part["text"] for part in parts if isinstance(part, dict) and _is_text(part))
    return trim("\n".join(texts))


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("type"), str) and isinstance(part.get("text"), str)


def _is_sending(tool: str, params: Any) -> bool:
    if tool == "sessions_send":
        return True
    action = params.get("action") if isinstance(params, dict) else None
    return tool == "message" and isinstance(action, str) and action in SEND_ACTIONS


def _without_volatile(value: Any) -> Any:
    """Leave out identifiers and instants of one delivery, at any depth."""
    if isinstance(value, list):
        return [_without_volatile(each) for each in value]
    if not isinstance(value, dict):
        return value
    volatile = VOLATILE_MEMBERS | {"id"} if _is_message(value) else VOLATILE_MEMBERS
    return {name: _without_volatile(member) for name, member in value.items() if name not in volatile}


def _is_message(value: Mapping[str, Any]) -> bool:
    """Say whether an object is a delivered message, whose own id is new each time."""
    if not (isinstance(value.get("id"), str) and isinstance(value.get("text"), str)):
        return False
    return _has_text(value, ("direction", "senderId", "accountId")) or isinstance(value.get("conversation"), dict)


def _has_text(value: Mapping[str, Any], names: Iterable[str]) -> bool:
    return any(isinstance(value.get(name), str) for name in names)


def _text_or(value: Any, default: Any) -> Any:
    return value if isinstance(value, str) else default


def _command(settings: LoopSettings, details: dict[str, Any], text: str) -> Outcome | None:
    """Read what became of a command, by its status; None for one that is not known."""
    status = details.get("status")
    if status == "running":
        facts = {"status": status, "tail": _text_or(details.get("tail"), "")}
    elif status in _ENDED:
        return _ended_command(settings, details, text)
    elif status in _ASKED:
        facts = {
            "status": status,
            "reason": _text_or(details.get("reason"), None),
            "host": _text_or(details.get("host"), None),
            "command": _text_or(details.get("command"), ""),
            "warningText": _text_or(details.get("warningText"), ""),
        }
    else:
        return None
    return Outcome(equal=digest(facts, settings.key))


def _ended_command(settings: LoopSettings, details: dict[str, Any], text: str) -> Outcome:
    given = details.get("exitCode")
    code = given if isinstance(given, int | float) and not isinstance(given, bool) else None
    timed_out = details.get("timedOut") is True
    output = trim(_text_or(details.get("aggregated"), "")) or text
    facts = {"status": details["status"], "exitCode": code, "timedOut": timed_out, "output": output}
    equal = digest(facts, settings.key)
    # OpenClaw writes this line itself when a command said nothing
    if code in (None, 0) or timed_out or output in ("", f"(Command exited with code {code})"):
        return Outcome(equal=equal)
    for pattern in _VOLATILE_IN_OUTPUT:
        output = pattern.sub("#", output)
    return Outcome(equal=equal, kind="command_failed", failure=digest({**facts, "output": output}, settings.key))


def _write(settings: LoopSettings, details: dict[str, Any], _text: str) -> Outcome | None:
    """Read a write that changed nothing; None for any other."""
    if details.get("changed") is not False:
        return None
    return Outcome(equal=digest({"status": "unchanged"}, settings.key), stuck=True)


_READERS: Final[Mapping[str, Callable[[LoopSettings, dict[str, Any], str], Outcome | None]]] = {
    "exec": _command,
    "write": _write,
}
