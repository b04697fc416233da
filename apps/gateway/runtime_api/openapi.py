"""The agents' paths for the one OpenAPI document; a test compares them with the routes."""

from typing import Any

from apps.gateway.openclaw import openapi as openclaw
from apps.gateway.rpc import openapi as rpc
from apps.gateway.runtime_api.openapi_schemas import CONTEXT, ENVIRONMENT, SPEAKER
from apps.gateway.runtime_api.openapi_schemas import SCHEMAS as OWN_SCHEMAS
from apps.gateway.tool_runs import openapi as runs

__all__ = ["PATHS", "SCHEMAS"]

PROBLEMS = {
    "400": "No JSON, nested too deep, or the client went away.",
    "401": "No usable token.",
    "403": "The token may not do this, or not for this agent or environment.",
    "413": "The body is too large.",
    "422": "The request, or the parameters of the tool, have mistakes; all are listed.",
    "429": "Too many requests with this token; `Retry-After` says when to come again.",
    "503": "The audit ledger cannot record it, or this server is busy or stopping: nothing ran.",
}


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _responses(good: dict[str, tuple[str, str]], *more: tuple[str, str]) -> dict[str, Any]:
    answers: dict[str, Any] = {
        status: {"description": text, "content": _content(name)} for status, (text, name) in good.items()
    }
    for status, text in [*PROBLEMS.items(), *more]:
        answers[status] = {"description": text, "content": _content("AgentProblem")}
    return dict(sorted(answers.items()))


def _operation(name: str, summary: str, responses: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["agents"],
        "security": [{"bearer": []}],
        "responses": responses,
        **more,
    }


def _wait(default: int) -> dict[str, Any]:
    return {
        "name": "wait",
        "in": "query",
        "description": "Milliseconds to wait for the end.",
        "schema": {"type": "integer", "minimum": 0, "maximum": 30000, "default": default},
    }


def _id(text: str) -> dict[str, Any]:
    return {"name": "id", "in": "path", "required": True, "description": text, "schema": {"type": "string"}}


def _query(name: str, text: str, schema: dict[str, Any] | None = None, *, required: bool = False) -> dict[str, Any]:
    shape = schema or {"type": "string"}
    return {"name": name, "in": "query", "description": text, "required": required, "schema": shape}


def _facts() -> list[dict[str, Any]]:
    """List the facts of a context as parameters of a query, without those that have a parameter of their own."""
    stated = {"provider", "model_id"}
    return [
        _query(name, "A fact of the context.", {**schema, "type": "boolean"} if "null" in schema["type"] else schema)
        for name, schema in CONTEXT["properties"].items()
        if name not in stated
    ]


AFTER = _query("after", "Answer also when there are news with a higher number.", {"type": "integer", "minimum": 0})
DONE = ("How the call ended.", "AgentCall")
OPEN = ("The call is queued, runs, or waits for a person.", "AgentCallOpen")

SCHEMAS: dict[str, Any] = OWN_SCHEMAS | rpc.SCHEMAS | openclaw.SCHEMAS | runs.OWN_SCHEMAS
PATHS: dict[str, Any] = {
    **rpc.paths(_operation, _responses, _content),
    **openclaw.paths(_operation, _responses, _content),
    **runs.paths(_operation, _responses, _content, _id),
    "/api/v1/decisions": {
        "post": _operation(
            "decisions_ask",
            "Ask whether an agent may use a tool; nothing runs",
            _responses({"200": ("The decision, or all of them in order.", "AgentDecisionAnswer")}),
            requestBody={"required": True, "content": _content("AgentDecisionQuestion")},
        )
    },
    "/api/v1/calls": {
        "post": _operation(
            "calls_make",
            "Run a tool",
            _responses(
                {"200": DONE, "202": OPEN},
                ("404", "No such tool for this agent; the same whether it exists or not."),
                ("409", "The idempotency key was used for another call."),
            ),
            requestBody={"required": True, "content": _content("AgentCallRequest")},
        )
    },
    "/api/v1/calls/{id}": {
        "get": _operation(
            "calls_read",
            "Tell how a call went",
            _responses({"200": DONE, "202": OPEN}, ("404", "No such call of this token, or no such tool for it.")),
            parameters=[_id("Id of the call."), _wait(0), AFTER],
        ),
        "delete": _operation(
            "calls_end",
            "End a call, wherever it runs",
            _responses({"200": DONE, "202": OPEN}, ("404", "No such call of this token.")),
            parameters=[_id("Id of the call."), _wait(5000)],
        ),
    },
    "/api/v1/tools": {
        "get": _operation(
            "tools_offer",
            "Give the tools that a context may use, ready to be sent to its model",
            _responses(
                {"200": ("Members of the provider's request.", "AgentTools")},
                ("404", "`tool_choice` names no tool of this context."),
            ),
            parameters=[
                _query("agent", "Id of the agent.", required=True),
                _query("provider", SPEAKER["provider"]["description"], SPEAKER["provider"], required=True),
                _query("model", "Id of the model.", SPEAKER["model"]),
                _query("form", SPEAKER["form"]["description"], SPEAKER["form"]),
                _query("session", "Session key, for example `agent:bot:main`."),
                _query("tool_choice", "`auto`, `none`, `required`, or the one tool that must be called."),
                _query("runnable", "Leave out what cannot run here.", {"type": "boolean", "default": False}),
                _query("environment", ENVIRONMENT["environment"]["description"]),
                *_facts(),
            ],
        )
    },
    "/api/v1/turns": {
        "post": _operation(
            "turns_make",
            "Run the calls of a model's reply and answer in its provider's form",
            _responses(
                {
                    "200": ("The messages that answer the calls.", "AgentTurn"),
                    "202": ("A call runs, or waits for a person.", "AgentTurnOpen"),
                },
                ("409", "The turn's name was used for other calls."),
            ),
            requestBody={"required": True, "content": _content("AgentTurnRequest")},
        )
    },
    "/api/v1/approvals/{id}/wait": {
        "get": _operation(
            "approvals_wait",
            "Wait for a person's answer",
            _responses({"200": ("The request as it stands.", "AgentApproval")}, ("404", "No such request.")),
            parameters=[_id("Id of the approval."), _wait(30000)],
        )
    },
}
