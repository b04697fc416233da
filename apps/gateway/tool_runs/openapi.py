"""The paths of runs for the one OpenAPI document."""

from collections.abc import Callable
from typing import Any, Final

from apps.gateway.runtime_api.openapi_schemas import ASKER, ENVIRONMENT, OBJECT, SCHEMAS, SPEAKER
from apps.gateway.tool_runs.reading import CLIENT_TOOLS, OUTCOMES, REQUIRED, TASK_CHARACTERS

WAIT: Final[dict[str, Any]] = {
    "wait_ms": {"type": "integer", "minimum": 0, "maximum": 30000, "default": 30000},
    "idempotency": {"type": "string", "maxLength": 200},
}
COUNT: Final = {"type": "integer", "minimum": 0}
TEXT: Final = {"type": "string"}
TEXT_OR_NULL: Final = {"type": ["string", "null"]}
TOOL_ID: Final = {"type": "string", "description": "The tool's `id` as a search gave it, or its exact name."}
TURN_MEMBERS: Final = ("response", "chunks", "stream", "wait_ms", "on_disconnect", "text_limit", "idempotency")


def _object(properties: dict[str, Any], required: tuple[str, ...] = (), *, is_open: bool = True) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = list(required)
    return made if is_open else {**made, "additionalProperties": False}


def _all(properties: dict[str, Any]) -> dict[str, Any]:
    return _object(properties, tuple(properties))


OFFERED: Final = _all({"size": COUNT, "sources": {"type": "object", "additionalProperties": COUNT}, "visible": COUNT})
QUERY: Final = {"query": TEXT, "limit": {"type": ["integer", "null"], "minimum": 1}}

OWN_SCHEMAS: Final[dict[str, Any]] = {
    "AgentRunRequest": _object(
        {
            **{name: value for name, value in ASKER.items() if name != "tool"},
            **SPEAKER,
            "tools": {
                "type": "array",
                "maxItems": CLIENT_TOOLS,
                "items": {
                    **_object({"name": TEXT, "description": TEXT, "parameters": OBJECT}, ("name",)),
                    "additionalProperties": True,
                },
                "description": "Tools that the caller runs itself, as MCP defines them; other members are not read.",
            },
            "required": {
                "type": "array",
                "maxItems": REQUIRED,
                "items": TEXT,
                "description": "Names of tools whose schemas the model shall see.",
            },
            "task": {
                "type": "string",
                "maxLength": TASK_CHARACTERS,
                "description": "What the run is about; in the mode `directory` likely tools are shown in full.",
            },
            "runnable": {"type": "boolean", "default": True, "description": "Leave out what cannot run here."},
            "takes_code": {"type": "boolean", "default": True, "description": "Whether the model may be given code."},
            **ENVIRONMENT,
        },
        ("agent", "provider"),
        is_open=False,
    ),
    "AgentRunOffer": _all(
        {
            "id": {"type": "string", "examples": ["trun_01jd3v8m8qf6v9c0k2t4x6z8ab"]},
            "mode": {"type": "string", "enum": ["direct", "tools", "directory", "code"]},
            "asked_mode": {"type": "string", "enum": ["off", "tools", "directory", "code"]},
            "why": {"type": "string", "description": "Code of what chose the mode."},
            "snapshot": TEXT_OR_NULL,
            "provider": TEXT,
            "form": TEXT,
            "request": {**OBJECT, "description": "Members of the provider's request; empty where there is no tool."},
            "directory": {"type": "string", "description": "Text for the system prompt; empty outside `directory`."},
            "renamed": {"type": "object", "additionalProperties": TEXT},
            "left_out": {"type": "array", "items": _object(dict.fromkeys(("tool", "code", "message"), TEXT))},
            "catalogue": OFFERED,
            "bytes": _all({"direct": COUNT, "offered": COUNT}),
        }
    ),
    "AgentRun": _all(
        {
            "id": TEXT,
            "agent": TEXT,
            "session": TEXT_OR_NULL,
            "provider": TEXT,
            "model": TEXT_OR_NULL,
            "begun_at": {"type": "string", "format": "date-time"},
            "ended_at": {"type": ["string", "null"], "format": "date-time"},
            "outcome": TEXT_OR_NULL,
            "mode": TEXT,
            "asked_mode": TEXT,
            "why": TEXT,
            "snapshot": TEXT_OR_NULL,
            "catalogue": OFFERED,
            "bytes": _all({"direct": COUNT, "offered": COUNT, "directory_characters": COUNT}),
            "counts": _all({"search": COUNT, "describe": COUNT, "code": COUNT, "call": COUNT}),
            "described": {"type": "array", "items": TEXT},
            "searches": {
                "type": "array",
                "items": _all({"query": TEXT, "found": {"type": "array", "items": TEXT}}),
            },
            "calls": {
                "type": "array",
                "items": _all(
                    {
                        **dict.fromkeys(("id", "tool", "name", "source", "through"), TEXT),
                        "rank": {"type": ["integer", "null"], "minimum": 1},
                        "status": TEXT,
                    }
                ),
            },
        }
    ),
    "AgentRunEnd": _object({"outcome": {"type": "string", "enum": list(OUTCOMES)}}, is_open=False),
    "AgentRunTurn": _object(
        {name: SCHEMAS["AgentTurnRequest"]["properties"][name] for name in TURN_MEMBERS}, is_open=False
    ),
    "AgentRunSearch": _object(
        {
            **QUERY,
            "queries": {"type": ["array", "null"], "items": _object(QUERY, ("query",), is_open=False), "maxItems": 16},
            **WAIT,
        }
    ),
    "AgentRunDescribe": _object({"id": TOOL_ID, **WAIT}, ("id",)),
    "AgentRunCode": _object(
        {"code": {"type": "string", "description": "The body of an asynchronous JavaScript function."}, **WAIT},
        ("code",),
    ),
    "AgentRunCall": _object({"id": TOOL_ID, "args": OBJECT, **WAIT}),
    "AgentRunOutcome": _object(
        {"call": TEXT, "result": OBJECT, "error": {"type": "string", "description": "Instead of `result`."}},
        ("call",),
        is_open=False,
    ),
    "AgentRunReported": _all({"id": TEXT, "status": {"type": "string", "enum": ["reported"]}}),
}

RUN: Final = ("404", "No such run of this token.")
ENDED: Final = ("409", "The run has ended, tool search is off, or the key was used for another call.")


def paths(
    operation: Callable[..., Any],
    responses: Callable[..., Any],
    content: Callable[[str], Any],
    identifier: Callable[[str], Any],
) -> dict[str, Any]:
    """Describe every path with the document's own builders."""
    call = {"200": ("How the call ended.", "AgentCall"), "202": ("It runs, or waits for somebody.", "AgentCallOpen")}
    run = [identifier("Id of the run.")]

    def post(name: str, summary: str, wanted: str, good: dict[str, tuple[str, str]]) -> dict[str, Any]:
        body = {"required": True, "content": content(wanted)}
        answers = responses(good, RUN, ENDED)
        return {"post": operation(name, summary, answers, requestBody=body, parameters=run)}

    def get(name: str, summary: str, schema: str) -> dict[str, Any]:
        return {"get": operation(name, summary, responses({"200": ("It.", schema)}, RUN), parameters=run)}

    begin = operation(
        "runs_begin",
        "Begin a run, and learn what its model is offered",
        responses({"201": ("The run, with the tools' part of the provider's request.", "AgentRunOffer")}),
        requestBody={"required": True, "content": content("AgentRunRequest")},
    )
    turn = {"200": ("The messages that answer the calls.", "AgentTurn"), "202": ("A call is open.", "AgentTurnOpen")}
    reported = {"200": ("The report was taken.", "AgentRunReported")}
    tools = "/api/v1/runs/{id}/tools"
    return {
        "/api/v1/runs": {"post": begin},
        "/api/v1/runs/{id}": get("runs_read", "Tell what a run was offered, searched and called", "AgentRun"),
        "/api/v1/runs/{id}/end": post("runs_end", "End a run", "AgentRunEnd", {"200": ("The run.", "AgentRun")}),
        "/api/v1/runs/{id}/turns": post("runs_turn", "Make the calls of a model's reply", "AgentRunTurn", turn),
        tools: get("runs_tools", "Tell what the model of a run is offered now", "AgentRunOffer"),
        f"{tools}/search": post("runs_search", "Search the catalogue of a run", "AgentRunSearch", call),
        f"{tools}/describe": post("runs_describe", "Describe a tool of the catalogue", "AgentRunDescribe", call),
        f"{tools}/code": post("runs_code", "Run code that searches and calls", "AgentRunCode", call),
        f"{tools}/call": post("runs_call", "Call a tool of the catalogue", "AgentRunCall", call),
        f"{tools}/outcome": post("runs_outcome", "Report a call that the caller ran", "AgentRunOutcome", reported),
    }
