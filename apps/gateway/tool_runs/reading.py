"""What agents send to begin a run, and to report what they ran themselves; read once, every mistake named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from apps.firewall.tools.definition_json import DefinitionInvalidError, definition_json, read_definition
from apps.firewall.tools.search.controls import CONTROL_NAMES
from apps.gateway.runtime_api.reading import TEXT_LIMIT, Details
from apps.gateway.tool_runs.catalogues import RunCatalogue
from apps.runs.client_calls import Report

CLIENT_TOOLS: Final = 100
CLIENT_TOOLS_BYTES: Final = 256 * 1024
REQUIRED: Final = 20
TASK_CHARACTERS: Final = 2_000
OUTCOMES: Final = ("completed", "failed", "cancelled")
KEPT_OF_CLIENT: Final = ("name", "description", "parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What a run is to be like, besides who speaks in it."""

    client_tools: tuple[Mapping[str, Any], ...] = ()
    required: tuple[str, ...] = ()
    task: str = ""
    only_runnable: bool = True
    takes_code: bool = True


def read_wishes(body: Mapping[str, Any], details: Details) -> Wishes:
    """Read the members of a run that are its own; mistakes are added to `details`."""
    return Wishes(
        client_tools=_client_tools(body.get("tools"), details),
        required=_names(body.get("required"), details),
        task=_task(body.get("task"), details),
        only_runnable=_flag(body, "runnable", details),
        takes_code=_flag(body, "takes_code", details),
    )


def collisions(offered: Sequence[Mapping[str, Any]], catalogue: RunCatalogue | None) -> Details:
    """Name the caller's tools that go by the name of a tool that the run has already.

    Of a name that the run may not use nothing is said: that tool is dropped as one that no list permits.
    """
    taken = frozenset() if catalogue is None else frozenset(catalogue.names)
    return [
        {
            "path": f"tools.{place}.name",
            "code": "client_tool_collides",
            "message": f"a tool named `{each['name']}` is there already",
        }
        for place, each in enumerate(offered)
        if each["name"] in taken
    ]


def read_report(body: Mapping[str, Any], details: Details) -> tuple[str, Report]:
    """Read which call ended how; mistakes are added to `details`."""
    call, result, error = body.get("call"), body.get("result"), body.get("error")
    if not isinstance(call, str) or not call or len(call) > TEXT_LIMIT:
        details.append(_mistake("call", "must be the id of a call"))
    if (result is None) == (error is None):
        details.append(_mistake("result", "must be given, or else `error`"))
    if result is not None and not isinstance(result, dict):
        details.append(_mistake("result", "must be an object"))
    if error is not None and (not isinstance(error, str) or not error.strip()):
        details.append(_mistake("error", "must be a text that says what went wrong"))
    if details:
        return "", Report(is_error=True)
    return str(call), Report(is_error=error is not None, result=result, error=error or "")


def read_outcome(body: Mapping[str, Any], details: Details) -> str:
    """Read how a run ended; a mistake is added to `details`."""
    outcome = body.get("outcome", OUTCOMES[0])
    if outcome not in OUTCOMES:
        details.append(_mistake("outcome", f"must be one of {', '.join(f'`{each}`' for each in OUTCOMES)}"))
    return str(outcome)


def _client_tools(value: Any, details: Details) -> tuple[Mapping[str, Any], ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > CLIENT_TOOLS:
        details.append(_mistake("tools", f"must be a list of at most {CLIENT_TOOLS} tools"))
        return ()
    if len(orjson.dumps(value)) > CLIENT_TOOLS_BYTES:
        details.append(_mistake("tools", f"must take at most {CLIENT_TOOLS_BYTES} bytes"))
        return ()
    found = [_client_tool(each, f"tools.{place}", details) for place, each in enumerate(value)]
    names = [each["name"] for each in found if each]
    for place, each in enumerate(found):
        if each and names.count(each["name"]) > 1:
            details.append(_mistake(f"tools.{place}.name", "is the name of another tool of this list"))
    return tuple(each for each in found if each)


def _client_tool(value: Any, path: str, details: Details) -> Mapping[str, Any]:
    """Read one tool as every definition is read; only what a caller may say of its own tool is kept."""
    if not isinstance(value, dict):
        details.append(_mistake(path, "must be an object"))
        return {}
    try:
        definition = read_definition({name: value[name] for name in value if name in ACCEPTED})
    except DefinitionInvalidError as exc:
        details += [{**each, "path": f"{path}.{each['path']}".rstrip(".")} for each in exc.details]
        return {}
    if definition.name in CONTROL_NAMES:
        details.append(_mistake(f"{path}.name", "is the name of a control of tool search"))
        return {}
    written = definition_json(definition)
    return {name: written[name] for name in KEPT_OF_CLIENT if name in written}


ACCEPTED: Final = frozenset({"name", "description", "parameters", "inputSchema", "input_schema"})


def _names(value: Any, details: Details) -> tuple[str, ...]:
    if value is None:
        return ()
    is_right = isinstance(value, list) and len(value) <= REQUIRED
    if not is_right or not all(isinstance(each, str) and 0 < len(each) <= TEXT_LIMIT for each in value):
        details.append(_mistake("required", f"must be a list of at most {REQUIRED} names of tools"))
        return ()
    return tuple(value)


def _task(value: Any, details: Details) -> str:
    if value is None or (isinstance(value, str) and len(value) <= TASK_CHARACTERS):
        return value or ""
    details.append(_mistake("task", f"must be a text of at most {TASK_CHARACTERS} characters"))
    return ""


def _flag(body: Mapping[str, Any], name: str, details: Details) -> bool:
    value = body.get(name, True)
    if not isinstance(value, bool):
        details.append(_mistake(name, "must be true or false"))
    return value is True


def _mistake(path: str, rule: str) -> dict[str, str]:
    return {"path": path, "code": "invalid", "message": f"`{path}` {rule}"}
