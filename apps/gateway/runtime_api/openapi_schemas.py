"""Schemas of the agents' paths for the one OpenAPI document."""

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
CONTEXT: dict[str, Any] = {
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
ENVIRONMENT: dict[str, Any] = {
    "environment": {"type": "string", "description": "Slug; the token's own or the default one when absent."}
}
LATER: dict[str, Any] = {
    "mode": {
        "type": "string",
        "enum": ["sync", "async"],
        "default": "sync",
        "description": "`async`: every check is made at once, the run is queued, and the answer is 202 with the id.",
    },
    "callback": {
        "type": "object",
        "required": ["url"],
        "description": "Where the end of a call of mode `async` is told, signed; tried again until it is heard.",
        "properties": {
            "url": {"type": "string", "description": "Over https, to a public address, unless networks were opened."},
            "secret": {
                "type": "string",
                "minLength": 16,
                "maxLength": 512,
                "description": "Shared key for HMAC-SHA256; without it the installation's Ed25519 key signs.",
            },
        },
        "additionalProperties": False,
    },
    "on_disconnect": {
        "type": "string",
        "enum": ["cancel", "continue"],
        "description": "What becomes of the call when its caller goes away before any answer: `cancel` unless it "
        "has an idempotency key or is of mode `async`.",
    },
}
RUN: dict[str, Any] = {
    "run": {
        "type": "string",
        "maxLength": 200,
        "description": "The caller's own name for the turn or task within the session that this belongs to.",
    }
}
WARNINGS = {
    "type": "array",
    "description": "What to know although it goes on: the tool is deprecated, a param was left out, a loop shows.",
    "items": {
        "type": "object",
        "required": ["path", "code", "message"],
        "properties": {name: {"type": "string"} for name in ("path", "code", "message")},
    },
}

MISTAKE: dict[str, Any] = {
    "type": "object",
    "required": ["path", "code", "message"],
    "properties": {name: {"type": "string"} for name in ("path", "code", "message")},
}
QUESTION: dict[str, Any] = {
    "params": {
        "type": "object",
        "additionalProperties": True,
        "description": "Of the call that is meant: judged as the call would be, by every rule, and nothing runs.",
    }
}
MISTAKE_EXAMPLE = {
    "code": "parameter_validation_failed",
    "message": "the parameters of `read` have 1 mistake",
    "details": [{"path": "path", "code": "required_field_missing", "message": "is required"}],
}
PERMISSION_EXAMPLE = {
    "code": "permission_missing",
    "message": "the tool `orders_query` may not run: "
    "`db:read` is granted to this caller, but not for the database `hr`",
    "details": [
        {
            "path": "",
            "code": "permission_missing",
            "message": "`db:read` is granted to this caller, but not for the database `hr`: "
            "needs a grant of `db:read` to the agent `support-bot` for the database `hr`",
        }
    ],
}

SCHEMAS: dict[str, Any] = {
    "AgentContext": CONTEXT,
    "AgentProblem": {
        "type": "object",
        "required": ["code", "message", "details"],
        "properties": {
            "code": {"type": "string"},
            "message": {"type": "string"},
            "status": {"type": "integer", "description": "Of a tool's error that says whose mistake it was."},
            "details": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["path", "code", "message"],
                    "properties": {name: {"type": "string"} for name in ("path", "code", "message")},
                },
            },
        },
        "examples": [MISTAKE_EXAMPLE, PERMISSION_EXAMPLE],
    },
    "AgentDecisionRequest": {
        "type": "object",
        "required": ["agent", "tool"],
        "properties": {**ASKER, **QUESTION, **ENVIRONMENT},
        "additionalProperties": False,
    },
    "AgentDecisionBatch": {
        "type": "object",
        "required": ["decisions"],
        "properties": {
            "decisions": {
                "type": "array",
                "minItems": 1,
                "maxItems": 1000,
                "items": {
                    "type": "object",
                    "required": ["agent", "tool"],
                    "properties": {**ASKER, **QUESTION},
                    "additionalProperties": False,
                },
            },
            **ENVIRONMENT,
        },
        "additionalProperties": False,
    },
    "AgentDecision": {
        "type": "object",
        "required": ["tool", "allowed", "reason"],
        "properties": {
            "tool": {"type": "string"},
            "allowed": {
                "type": "boolean",
                "description": "Without params: the agent has the tool. With params: the call would run at once.",
            },
            "verdict": {
                "type": "string",
                "enum": ["allow", "ask", "deny"],
                "description": "With params: what the call would be answered now; `ask`: a person would be asked.",
            },
            "stage": {"type": "string", "description": "With params: which stage of the call said so."},
            "reason": {
                "type": "string",
                "examples": [
                    "allowed",
                    "approval_required",
                    "not_offered",
                    "no_publication",
                    "tool_disabled",
                    "permission_missing",
                    "security_deny",
                    "parameter_validation_failed",
                ],
            },
            "details": {"type": "array", "items": MISTAKE, "description": "With params: what is wrong with them."},
            "snapshot": {"type": ["string", "null"], "description": "Digest of the snapshot that decided."},
            "warnings": WARNINGS,
            **{
                name: {"type": ["string", "null"], "description": "Only for tokens with the right `explain`."}
                for name in ("layer", "label", "rule")
            },
            "message": {
                "type": ["string", "null"],
                "description": "Why, in words; of a tool that is not offered only for tokens with the right `explain`.",
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
            **RUN,
            "wait_ms": {
                "type": "integer",
                "minimum": 0,
                "maximum": 30000,
                "description": "30000 when absent, 0 for a call of mode `async`.",
            },
            "idempotency": {
                "type": "string",
                "maxLength": 200,
                "description": "The same key with the same body is the same call; also as header `Idempotency-Key`.",
            },
            **LATER,
            **ENVIRONMENT,
        },
        "additionalProperties": False,
    },
    "AgentCall": {
        "type": "object",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "string", "examples": ["call_01jd3v8m8qf6v9c0k2t4x6z8ab"]},
            "status": {"type": "string", "enum": ["completed", "failed", "denied", "cancelled", "unknown"]},
            "result": {"type": ["object", "null"], "additionalProperties": True},
            "error": {"oneOf": [{"$ref": "#/components/schemas/AgentProblem"}, {"type": "null"}]},
            "duration_ms": {"type": ["integer", "null"]},
            "decision": {
                "type": ["object", "null"],
                "properties": {"verdict": {"type": "string"}, "reason": {"type": "string"}},
            },
            "warnings": WARNINGS,
            "metadata": {"$ref": "#/components/schemas/AgentResultMetadata"},
        },
    },
    "AgentResultMetadata": {
        "type": "object",
        "description": "How large the result was, how much of it is shown, how many secrets were masked in it.",
        "properties": {
            **{name: {"type": "integer"} for name in ("characters", "shown", "size_bytes", "masked", "media")},
            "truncated": {"type": "boolean"},
        },
    },
    "AgentProgress": {
        "type": "object",
        "required": ["number"],
        "description": "The latest news of a running call, masked.",
        "properties": {
            "number": {"type": "integer", "minimum": 1},
            "message": {"type": "string"},
            "done": {"type": "number"},
            "total": {"type": "number"},
            "output": {"type": "string", "description": "The end of what a command has written so far."},
        },
    },
    "AgentCallOpen": {
        "type": "object",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "string"},
            "status": {"type": "string", "enum": ["awaiting_approval", "client_call", "queued", "running"]},
            "approval": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "expires_at": {"type": "string", "format": "date-time"}},
            },
            "client_call": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "params": {"type": "object", "additionalProperties": True}},
                "description": "What the caller of the run is to run itself, and to report.",
            },
            "progress": {"$ref": "#/components/schemas/AgentProgress"},
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

TURN_CALL: dict[str, Any] = {
    "type": "object",
    "required": ["id", "call_id", "tool", "status", "error", "duration_ms"],
    "properties": {
        "id": {"type": "string", "description": "Of this door, as `GET /api/v1/calls/{id}` takes it."},
        "call_id": {"type": ["string", "null"], "description": "Of the provider."},
        "tool": {"type": "string"},
        "status": {
            "type": "string",
            "enum": ["completed", "failed", "denied", "unknown", "awaiting_approval", "running"],
        },
        "error": {"oneOf": [{"$ref": "#/components/schemas/AgentProblem"}, {"type": "null"}]},
        "duration_ms": {"type": ["integer", "null"]},
        "approval": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "expires_at": {"type": "string", "format": "date-time"}},
        },
    },
}
SPEAKER: dict[str, Any] = {
    "provider": {
        "type": "string",
        "minLength": 1,
        "maxLength": 512,
        "description": "As the policy names it: `openai`, `anthropic`, `google`, `ollama`, …",
    },
    "model": {"type": "string", "minLength": 1, "maxLength": 512},
    "form": {
        "type": "string",
        "enum": ["openai-chat", "openai-responses", "anthropic", "gemini"],
        "description": "What the provider speaks; by its name when absent, chat completions for one nobody knows.",
    },
}
OBJECT: dict[str, Any] = {"type": "object", "additionalProperties": True}
SCHEMAS |= {
    "AgentTools": {
        "type": "object",
        "required": ["provider", "form", "model", "snapshot", "request", "renamed", "left_out", "warnings"],
        "properties": {
            "provider": {"type": "string"},
            "form": SPEAKER["form"],
            "model": {"type": ["string", "null"]},
            "snapshot": {"type": ["string", "null"], "description": "Digest of the snapshot that decided."},
            "request": {**OBJECT, "description": "Members of the provider's request; empty where there is no tool."},
            "renamed": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "Name there -> tool, of tools whose own name the provider refuses.",
            },
            "left_out": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {name: {"type": "string"} for name in ("tool", "code", "message")},
                },
                "description": "Tools whose schema cannot be sent.",
            },
            "warnings": {
                "type": "array",
                "items": {"type": "object", "properties": {name: {"type": "string"} for name in ("code", "message")}},
            },
        },
    },
    "AgentTurnRequest": {
        "type": "object",
        "required": ["agent", "provider"],
        "properties": {
            **{name: value for name, value in ASKER.items() if name != "tool"},
            **SPEAKER,
            "response": {**OBJECT, "description": "The provider's whole response. One of the three is given."},
            "chunks": {"type": "array", "items": {}, "description": "The pieces it streamed, each as JSON."},
            "stream": {"type": "string", "description": "The text of its server-sent events."},
            **RUN,
            "wait_ms": {"type": "integer", "minimum": 0, "maximum": 30000, "default": 30000},
            "on_disconnect": {
                "type": "string",
                "enum": ["cancel", "continue"],
                "default": "continue",
                "description": "What becomes of calls of the turn when its caller goes away before any answer: "
                "`cancel` ends those that run, and begins none of the others.",
            },
            "text_limit": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1000000,
                "default": 10000,
                "description": "Characters of a result that the model is told.",
            },
            "idempotency": {
                "type": "string",
                "maxLength": 200,
                "description": "Names the turn; the id of the reply when absent. Also as header `Idempotency-Key`.",
            },
            **ENVIRONMENT,
        },
        "additionalProperties": False,
    },
    "AgentTurn": {
        "type": "object",
        "required": ["status", "append_to", "messages", "calls"],
        "properties": {
            "status": {"type": "string", "enum": ["completed", "no_calls"]},
            "append_to": {"type": "string", "enum": ["messages", "input", "contents"]},
            "messages": {"type": "array", "items": OBJECT, "description": "In the provider's form."},
            "calls": {"type": "array", "items": TURN_CALL},
        },
    },
    "AgentTurnOpen": {
        "type": "object",
        "required": ["status", "waiting", "calls", "calls_left", "go_on"],
        "properties": {
            "status": {"type": "string", "enum": ["awaiting_approval", "client_call", "running"]},
            "waiting": TURN_CALL,
            "calls": {"type": "array", "items": TURN_CALL},
            "calls_left": {"type": "integer", "minimum": 0},
            "go_on": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("method", "path", "idempotency", "message")},
            },
        },
    },
}


def _either(*names: str) -> dict[str, Any]:
    return {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in names]}


SCHEMAS["AgentDecisionQuestion"] = _either("AgentDecisionRequest", "AgentDecisionBatch")
SCHEMAS["AgentDecisionAnswer"] = _either("AgentDecision", "AgentDecisions")
