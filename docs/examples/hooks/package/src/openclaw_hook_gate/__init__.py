"""Keeps files that start with a dot from being read, and has a person asked before files are written."""

from typing import Any


class Gate:
    """Handlers are named like their events; both may be coroutine functions."""

    def before_tool_call(self, event: dict[str, Any]) -> dict[str, Any] | None:
        path = str(event["params"].get("path", ""))
        if path.rpartition("/")[2].startswith("."):
            return {"block": True, "blockReason": f"`{path}` is not for agents"}
        if event["toolName"] == "write":
            return {
                "requireApproval": {
                    "title": f"Write {path}",
                    "description": "Files are written only when a person has seen what and where.",
                    "severity": "warning",
                    "allowedDecisions": ["allow-once", "deny"],
                    "timeoutMs": 300_000,
                }
            }
        if event["toolName"] == "read" and "limit" not in event["params"]:
            return {"params": {"limit": 200}}
        return None

    async def after_tool_call(self, event: dict[str, Any]) -> None:
        outcome = "failed" if "error" in event else "completed"
        print(f"{event['toolName']} {outcome} after {event['durationMs']} ms")
