"""The agents' paths for the one OpenAPI document; a test compares them with the routes."""

from typing import Any

TEXT_FACTS = (
    "session_key",
    "spawned_by",
    "provider",
    "model_id",
    "channel",
    "account_id",
    "group_id",
    "group_channel",
    "group_space",
    "sender_id",
    "sender_username",
    "sender_name",
    "sender_e164",
)
CONTEXT = {
    "type": "object",
    "description": "What the caller knows about the conversation; members it does not know are left out.",
    "properties": {
        **{name: {"type": "string"} for name in TEXT_FACTS},
        "sender_is_owner": {"type": ["boolean", "null"]},
        "sandboxed": {"type": "boolean"},
        "subagent_depth": {"type": "integer", "minimum": 0},
        "runtime_tools": {"type": "array", "items": {"type": "string"}},
        "inherit_runtime_tools": {"type": "boolean"},
    },
    "additionalProperties": False,
}
ASKER = {
    "agent": {"type": "string", "minLength": 1, "maxLength": 512, "description": "Id of the agent that asks."},
    "session": {"type": "string", "description": "Session key, for example `agent:bot:main`."},
    "tool": {"type": "string", "minLength": 1, "maxLength": 512},
    "context": {"$ref": "#/components/schemas/AgentContext"},
}
ENVIRONMENT = {
    "environment": {"type": "string", "description": "Slug; the token's own or the default one when absent."}
}
WARNINGS = {
    "type": "array",
    "description": "What to know although it goes on: the tool is deprecated, a param was left out.",
    "items": {
        "type": "object",
        "required": ["path", "code", "message"],
        "properties": {name: {"type": "string"} for name in ("path", "code", "message")},
    },
}

SCHEMAS: dict[str, Any] = {
    "AgentContext": CONTEXT,
    "AgentProblem": {
        "type": "object",
        "required": ["code", "message", "details"],
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "details": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["path", "code", "message"],
                    "properties": {name: {"type": "string"} for name in ("path", "code", "message")},
                },
            },
        },
    },
    "AgentDecisionRequest": {
        "type": "object",
        "required": ["agent", "tool"],
        "properties": {**ASKER, **ENVIRONMENT},
    },
    "AgentDecisionBatch": {
        "type": "object",
        "required": ["decisions"],
        "properties": {
            "decisions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 1000,
                "items": {"type": "object", "required": ["agent", "tool"], "properties": ASKER},
            },
            **ENVIRONMENT,
        },
    },
    "AgentDecision": {
        "type": "object",
        "required": ["tool", "allowed", "reason"],
        "properties": {
            "tool": {"type": "string"},
            "allowed": {"type": "boolean"},
            "reason": {"type": "string", "examples": ["allowed", "not_offered", "no_publication", "tool_disabled"]},
            "snapshot": {"type": ["string", "null"], "description": "Digest of the snapshot that decided."},
            "warnings": WARNINGS,
            **{
                name: {"type": ["string", "null"], "description": "Only for tokens with the right `explain`."}
                for name in ("layer", "label", "rule", "message")
            },
        },
    },
    "AgentDecisions": {
        "type": "object",
        "required": ["decisions", "snapshot"],
        "properties": {
            "decisions": {"type": "array", "items": {"$ref": "#/components/schemas/AgentDecision"}},
            "snapshot": {"type": ["string", "null"]},
        },
    },
    "AgentCallRequest": {
        "type": "object",
        "required": ["agent", "tool"],
        "properties": {
            **ASKER,
            "params": {"type": "object", "additionalProperties": True},
            "wait_ms": {"type": "integer", "minimum": 0, "maximum": 30000, "default": 30000},
            "idempotency": {
                "type": "string",
                "maxLength": 200,
                "description": "The same key with the same body is the same call; also as header `Idempotency-Key`.",
            },
            **ENVIRONMENT,
        },
        "additionalProperties": False,
    },
    "AgentCall": {
        "type": "object",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "string", "examples": ["call_01jd3v8m8qf6v9c0k2t4x6z8ab"]},
            "status": {"type": "string", "enum": ["completed", "failed", "denied", "unknown"]},
            "result": {"type": ["object", "null"], "additionalProperties": True},
            "error": {"oneOf": [{"$ref": "#/components/schemas/AgentProblem"}, {"type": "null"}]},
            "duration_ms": {"type": ["integer", "null"]},
            "decision": {
                "type": ["object", "null"],
                "properties": {"verdict": {"type": "string"}, "reason": {"type": "string"}},
            },
            "warnings": WARNINGS,
        },
    },
    "AgentCallOpen": {
        "type": "object",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "string"},
            "status": {"type": "string", "enum": ["awaiting_approval", "running"]},
            "approval": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "expires_at": {"type": "string", "format": "date-time"}},
            },
        },
    },
    "AgentApproval": {
        "type": "object",
        "required": ["id", "call", "state", "decision", "reason", "expires_at"],
        "properties": {
            "id": {"type": "string"},
            "call": {"type": "string"},
            "state": {"type": "string"},
            "decision": {"type": ["string", "null"], "enum": ["allow-once", "allow-always", "deny", None]},
            "reason": {"type": "string"},
            "expires_at": {"type": "string", "format": "date-time"},
            "decided_at": {"type": ["string", "null"], "format": "date-time"},
        },
    },
}

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


DONE = ("How the call ended.", "AgentCall")
OPEN = ("The call runs, or waits for a person.", "AgentCallOpen")

PATHS: dict[str, Any] = {
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
            parameters=[_id("Id of the call."), _wait(0)],
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


def _either(*names: str) -> dict[str, Any]:
    return {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}


SCHEMAS["AgentDecisionQuestion"] = _either("AgentDecisionRequest", "AgentDecisionBatch")
SCHEMAS["AgentDecisionAnswer"] = _either("AgentDecision", "AgentDecisions")
