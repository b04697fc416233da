"""How a call ended, in the form in which loop detection compares outcomes: `{content, details}`, or an error's text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.tools.running import ToolOutcome

COMMAND_TOOL: Final = "exec"
POLLING_TOOL: Final = "process"
TIMED_OUT: Final = "command_timed_out"
# What a run took differs each time and tells no progress.
_VOLATILE: Final = frozenset({"cpu_ms", "duration_ms", "elapsed_ms", "runtimeMs", "took_ms"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopOutcome:
    """A result as OpenClaw has it, or the text of an error."""

    value: Any
    is_error: bool = False


def loop_outcome(tool: str, outcome: ToolOutcome) -> LoopOutcome:
    """Read how a call ended.

    Args:
        tool: its name.
    """
    error, result = outcome.error, outcome.result
    if tool == COMMAND_TOOL and result is not None and "exit_code" in result:
        return LoopOutcome(value=_command(result, error))
    if tool == POLLING_TOOL and result is not None and isinstance(result.get("output"), str):
        return LoopOutcome(value=_polled(result))
    if error is not None:
        return LoopOutcome(value=f"{error['code']}: {error['message']}", is_error=True)
    return LoopOutcome(value=_shaped(result or {}))


def _command(result: Mapping[str, Any], error: Mapping[str, str] | None) -> dict[str, Any]:
    details = {
        "status": "completed" if error is None else "failed",
        "exitCode": result["exit_code"],
        "timedOut": error is not None and error["code"] == TIMED_OUT,
        "aggregated": f"{result.get('stdout') or ''}{result.get('stderr') or ''}",
    }
    return {"content": [], "details": details}


def _polled(result: Mapping[str, Any]) -> dict[str, Any]:
    """Say what a look at a background command told: what is new of its output is progress."""
    details = {name: value for name, value in result.items() if name not in {"output", *_VOLATILE}}
    return {"content": [{"type": "text", "text": result["output"]}], "details": details}


def _shaped(result: Mapping[str, Any]) -> dict[str, Any]:
    """Part a result into the text that a model reads and everything else, which is compared as a whole."""
    given, own = result.get("content"), result.get("details")
    parts = given if isinstance(given, list) else []
    texts = [part for part in parts if _is_text(part)]
    others = [part for part in parts if not _is_text(part)]
    rest = {name: value for name, value in result.items() if name not in {"details", *_VOLATILE}}
    if isinstance(given, list):
        rest.pop("content")
    details = {**rest, **({"parts": others} if others else {}), **(own if isinstance(own, Mapping) else {})}
    return {"content": texts, "details": details}


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "text"
