"""The paths of `/api/v1/openclaw/…` for the one OpenAPI document."""

from collections.abc import Callable
from typing import Any

from apps.gateway.openclaw.reading import FACT_LIMIT, MESSAGE_LIMIT, PERSON_LIMIT_S, TEXT_LIMIT, WAIT_LIMIT_MS
from apps.gateway.runtime_api.openapi_schemas import CONTEXT, TEXT_FACTS

Builder = Callable[..., Any]
TEXT = {"type": "string", "maxLength": TEXT_LIMIT}
OBJECT = {"type": "object", "additionalProperties": True}
ERROR = {
    "type": "object",
    "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
    "additionalProperties": True,
}
BOOT = {"type": "string", "description": "Names a start of the gateway: calls of an earlier one have ended."}
CONTEXT_OF_GATEWAY: dict[str, Any] = {
    **CONTEXT,
    "description": (
        "What the gateway knows of the call. Null says that there is none; what the gateway never heard of is left "
        "out, and a layer that needs it refuses with `fact_unknown`."
    ),
    "properties": {
        **CONTEXT["properties"],
        **{name: {"type": ["string", "null"], "maxLength": FACT_LIMIT} for name in TEXT_FACTS},
        "sandboxed": {"type": ["boolean", "null"]},
    },
}

SCHEMAS: dict[str, Any] = {
    "GatewayQuestion": {
        "type": "object",
        "required": ["key", "agent", "tool"],
        "properties": {
            "key": {
                "type": "string",
                "minLength": 8,
                "maxLength": 64,
                "description": "The gateway's own; the same key is the same question.",
            },
            "boot": BOOT,
            "agent": TEXT,
            "session": TEXT,
            "context": CONTEXT_OF_GATEWAY,
            "tool": TEXT,
            "tool_kind": {**TEXT, "description": "What the tool is, where its params are not those of its name."},
            "params": OBJECT,
            "run": TEXT,
            "tool_call": TEXT,
            "wait_ms": {"type": "integer", "minimum": 0, "maximum": WAIT_LIMIT_MS, "default": WAIT_LIMIT_MS},
            "person_s": {"type": "integer", "minimum": 0, "maximum": PERSON_LIMIT_S, "default": PERSON_LIMIT_S},
        },
        "additionalProperties": False,
    },
    "GatewayAnswer": {
        "type": "object",
        "required": ["id", "status"],
        "properties": {
            "id": {"type": "string"},
            "status": {"type": "string", "enum": ["run", "denied", "withdrawn", "pending", "awaiting_approval"]},
            "params": {**OBJECT, "description": "With which it runs, where it may."},
            "error": ERROR,
            "approval": {
                "type": "object",
                "properties": {"id": {"type": "string"}, "expires_at": {"type": "string", "format": "date-time"}},
            },
        },
    },
    "GatewayReport": {
        "type": "object",
        "required": ["is_error"],
        "properties": {
            "is_error": {"type": "boolean"},
            "result": {**OBJECT, "type": ["object", "null"]},
            "error": {"type": "string", "maxLength": MESSAGE_LIMIT},
        },
        "additionalProperties": False,
    },
    "GatewayReported": {
        "type": "object",
        "required": ["id", "status"],
        "properties": {"id": {"type": "string"}, "status": {"type": "string"}},
    },
    "GatewayUngoverned": {
        "type": "object",
        "description": "A call that ran although nobody was asked. What cannot be read is kept as it may be.",
        "properties": {
            **{key: {"type": "string"} for key in ("tool", "agent", "session", "run", "tool_call", "seen_by", "error")},
            "params": OBJECT,
            "result": {**OBJECT, "type": ["object", "null"]},
            "is_unknown_tool": {"type": "boolean"},
        },
    },
    "GatewayBlocked": {
        "type": "object",
        "description": "Calls that were blocked at the gateway because nobody could be asked; told when that is over.",
        "properties": {
            "attempts": {
                "type": "array",
                "maxItems": 100,
                "items": {
                    "type": "object",
                    "required": ["key"],
                    "properties": {
                        "key": {"type": "string", "minLength": 8, "maxLength": 64},
                        **{key: {"type": "string"} for key in ("tool", "agent", "session", "run", "tool_call")},
                        "tool_kind": {"type": "string"},
                        "context": {"$ref": "#/components/schemas/AgentContext"},
                        "params": OBJECT,
                        "blocked_at": {"type": "string", "description": "When, as the gateway says."},
                        "reason": {"type": "string", "description": "Why it could not be asked about."},
                    },
                    "additionalProperties": False,
                },
            },
            "dropped": {"type": "integer", "minimum": 0, "description": "Reports that the gateway could not keep."},
        },
        "additionalProperties": False,
    },
    "GatewayBlockedTaken": {"type": "object", "properties": {"taken": {"type": "integer"}}},
    "GatewayAlarm": {"type": "object", "properties": {"alarm": {"type": ["string", "null"]}}},
    "GatewayBeat": {
        "type": "object",
        "required": ["boot"],
        "properties": {
            "boot": {**BOOT, "minLength": 8, "maxLength": 64},
            **{key: {**TEXT, "description": "A version."} for key in ("openclaw", "plugin", "node")},
            "facts": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Members of a question's context that it can give; the review of a draft names others.",
            },
            "not_asking": {"type": "string", "description": "Why it believes that it is not asked about calls."},
        },
    },
    "GatewayHeard": {
        "type": "object",
        "required": ["gateway", "environment", "snapshot", "every_s"],
        "properties": {
            "gateway": {"type": "string"},
            "environment": {"type": "string"},
            "snapshot": {"type": ["string", "null"], "description": "Digest of what is live; null before the first."},
            "every_s": {"type": "integer", "description": "Seconds until the next heartbeat."},
        },
    },
    "GatewayStops": {
        "type": "object",
        "required": ["boot"],
        "properties": {
            "boot": {**BOOT, "minLength": 8, "maxLength": 64},
            "heard": {"type": "string", "maxLength": 64, "description": "Digest that it last heard; it holds to that."},
            "wait_ms": {"type": "integer", "minimum": 0, "maximum": WAIT_LIMIT_MS, "default": WAIT_LIMIT_MS},
            "background": {
                "type": "array",
                "maxItems": 500,
                "items": {"type": "string"},
                "description": "Reported calls whose commands run on.",
            },
            "ended": {
                "type": "array",
                "maxItems": 500,
                "items": {
                    "type": "object",
                    "required": ["call", "is_ended"],
                    "properties": {
                        "call": {"type": "string"},
                        "is_ended": {"type": "boolean", "description": "Nothing of it runs any more."},
                        "message": {"type": "string", "maxLength": MESSAGE_LIMIT},
                    },
                    "additionalProperties": False,
                },
                "description": "What became of the calls that it was to end.",
            },
        },
        "additionalProperties": False,
    },
    "GatewayHolds": {
        "type": "object",
        "required": ["digest", "stops", "end"],
        "properties": {
            "digest": {"type": "string", "description": "Over what is stopped in its environment."},
            "stops": {"type": "integer", "description": "How many stops there are."},
            "end": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"call": {"type": "string"}, "by": {"type": "string"}},
                },
                "description": "Calls that it is to end now.",
            },
        },
    },
}
UNKNOWN = ("404", "No such call of this gateway, or the gateway was revoked.")

CALL = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "Id of the call, or the key of its question.",
    "schema": {"type": "string"},
}
WAIT = {
    "name": "wait",
    "in": "query",
    "description": "Milliseconds to wait for the answer.",
    "schema": {"type": "integer", "minimum": 0, "maximum": WAIT_LIMIT_MS, "default": WAIT_LIMIT_MS},
}
ANSWERED = {"200": ("The answer.", "GatewayAnswer"), "202": ("Nobody has answered yet.", "GatewayAnswer")}


def paths(operation: Builder, responses: Builder, content: Builder) -> dict[str, Any]:
    """Write the paths.

    Args:
        operation, responses, content: how the agents' document writes them.
    """
    return {**_questions(operation, responses, content), **_reports(operation, responses, content)}


def _questions(operation: Builder, responses: Builder, content: Builder) -> dict[str, Any]:
    return {
        "/api/v1/openclaw/calls": {
            "post": operation(
                "gateway_calls_ask",
                "Ask whether a call may run at an OpenClaw Gateway",
                responses(ANSWERED, ("409", "The key was used for another question.")),
                requestBody=_sent("GatewayQuestion", content),
            )
        },
        "/api/v1/openclaw/calls/{id}": {
            "get": operation(
                "gateway_calls_wait",
                "Wait for the answer to a question",
                responses(ANSWERED, UNKNOWN),
                parameters=[CALL, WAIT],
            ),
            "delete": operation(
                "gateway_calls_withdraw",
                "Take a question back: the gateway blocks the call itself",
                responses({"200": ("It does not run.", "GatewayAnswer")}, UNKNOWN),
                parameters=[CALL],
            ),
        },
    }


def _reports(operation: Builder, responses: Builder, content: Builder) -> dict[str, Any]:
    return {
        "/api/v1/openclaw/calls/{id}/outcome": {
            "post": operation(
                "gateway_calls_report",
                "Report how a call went that was told to run; the first report counts",
                responses({"200": ("It is on record.", "GatewayReported")}, UNKNOWN),
                parameters=[CALL],
                requestBody=_sent("GatewayReport", content),
            )
        },
        "/api/v1/openclaw/ungoverned": {
            "post": operation(
                "gateway_ungoverned_report",
                "Report a call that ran although nobody was asked",
                responses({"200": ("It is on record.", "GatewayAlarm")}, UNKNOWN),
                requestBody=_sent("GatewayUngoverned", content),
            )
        },
        "/api/v1/openclaw/blocked": {
            "post": operation(
                "gateway_blocked_report",
                "Report calls that were blocked at the gateway because nobody could be asked",
                responses({"200": ("They are on record.", "GatewayBlockedTaken")}, UNKNOWN),
                requestBody=_sent("GatewayBlocked", content),
            )
        },
        "/api/v1/openclaw/stops": {
            "post": operation(
                "gateway_stops_hold",
                "Wait for stops of the kill switch, and say what was ended for them",
                responses({"200": ("What it is to hold to.", "GatewayHolds")}, UNKNOWN),
                requestBody=_sent("GatewayStops", content),
            )
        },
        "/api/v1/openclaw/heartbeat": {
            "post": operation(
                "gateway_beat",
                "Say that a gateway lives, with its versions",
                responses({"200": ("What holds for it.", "GatewayHeard")}, UNKNOWN),
                requestBody=_sent("GatewayBeat", content),
            )
        },
    }


def _sent(name: str, content: Builder) -> dict[str, Any]:
    return {"required": True, "content": content(name)}
