"""The paths of `POST /api/v1/rpc/…` for the one OpenAPI document."""

from collections.abc import Callable
from typing import Any

from apps.approvals.models import WAIT_LEAST_S, WAIT_MOST_S
from apps.gateway.rpc.asking import COMMAND_LIMIT

Builder = Callable[..., Any]
TEXT = {"type": "string"}
MS = {"type": ["integer", "null"], "description": "Milliseconds since 1970."}
ANSWER: dict[str, Any] = {
    "id": {"type": "string", "description": "The caller's own id of the request, else ours."},
    "approvalId": TEXT,
    "createdAtMs": MS,
    "expiresAtMs": MS,
    "resolvedAtMs": MS,
    "resolvedBy": {"type": ["string", "null"]},
    "decision": {
        "type": ["string", "null"],
        "enum": ["allow-once", "allow-always", "deny", None],
        "description": "null while it waits, and where nobody answered.",
    },
    "status": {"type": "string", "enum": ["pending", "allowed", "denied", "expired", "cancelled", "superseded"]},
    "reason": TEXT,
    "voices": {
        "type": "object",
        "description": "Where a rule wants several people: how many have said yes, and how many have to.",
        "properties": {name: {"type": "integer"} for name in ("have", "need")},
    },
}
ID = {"id": {"type": "string", "description": "`ap_…`, or the id that this token gave the request."}}
WAIT_MS = {"waitMs": {"type": "integer", "minimum": 0, "maximum": 30000, "default": 30000}}

SCHEMAS: dict[str, Any] = {
    "RpcApprovalWanted": {
        "type": "object",
        "required": ["command", "agentId"],
        "properties": {
            "id": {"type": "string", "maxLength": 200, "description": "The same while it waits joins the same wait."},
            "command": {"type": "string", "maxLength": COMMAND_LIMIT},
            "commandArgv": {"type": "array", "items": TEXT},
            "cwd": TEXT,
            "host": TEXT,
            "env": {"type": "object", "additionalProperties": TEXT},
            "agentId": TEXT,
            "sessionKey": TEXT,
            "environment": TEXT,
            "timeoutMs": {"type": "integer", "minimum": WAIT_LEAST_S * 1000, "maximum": WAIT_MOST_S * 1000},
            "twoPhase": {"type": "boolean", "default": False},
            **WAIT_MS,
        },
        "additionalProperties": False,
    },
    "RpcApprovalAnswer": {"type": "object", "required": ["id", "decision"], "properties": ANSWER},
    "RpcApprovalWait": {"type": "object", "required": ["id"], "properties": {**ID, **WAIT_MS}},
    "RpcApprovalResolve": {
        "type": "object",
        "required": ["id", "decision"],
        "properties": {
            **ID,
            "decision": {"type": "string", "enum": ["allow-once", "allow-always", "deny"]},
            "reason": {"type": "string", "maxLength": 2000, "description": "Shown to the agent."},
        },
    },
    "RpcApprovalResolved": {
        "type": "object",
        "required": ["ok"],
        "properties": {"ok": {"type": "boolean"}, **ANSWER},
    },
    "RpcNothing": {"type": "object"},
    "RpcApprovalId": {"type": "object", "required": ["id"], "properties": ID},
    "RpcApproval": {
        "type": "object",
        "required": ["id", "request"],
        "properties": {**ANSWER, "approvalKind": TEXT, "request": {"type": "object", "additionalProperties": True}},
    },
    "RpcApprovals": {
        "type": "object",
        "required": ["approvals"],
        "properties": {"approvals": {"type": "array", "items": {"$ref": "#/components/schemas/RpcApproval"}}},
    },
}

# Name: what it does, the schema of its params, the schema of its answer.
NAMES: dict[str, tuple[str, str, str]] = {
    "exec.approval.request": (
        "Ask people about a command that the caller runs",
        "RpcApprovalWanted",
        "RpcApprovalAnswer",
    ),
    "exec.approval.waitDecision": ("Wait for people's answer", "RpcApprovalWait", "RpcApprovalAnswer"),
    "exec.approval.resolve": ("Answer a request; the first answer wins", "RpcApprovalResolve", "RpcApprovalResolved"),
    "exec.approval.list": ("List what waits", "RpcNothing", "RpcApprovals"),
    "exec.approval.get": ("Read one request, also after it ended", "RpcApprovalId", "RpcApproval"),
}


def paths(
    operation: Callable[..., Any], responses: Callable[..., Any], content: Callable[[str], Any]
) -> dict[str, Any]:
    """Describe every path with the document's own builders."""
    return {
        f"/api/v1/rpc/{name}": {
            "post": operation(
                name.replace(".", "_"),
                summary,
                responses(
                    {"200": ("The answer.", answer)},
                    ("404", "No such request for this token, or no such tool for the agent."),
                    ("409", "Somebody was faster, it is too late, or the id waits for something else."),
                ),
                requestBody={"required": True, "content": content(wanted)},
            )
        }
        for name, (summary, wanted, answer) in NAMES.items()
    }
