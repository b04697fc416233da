"""Events as plugins and webhooks get them: JSON, with the names that OpenClaw uses.

Source: OpenClaw, plugin hooks `before_tool_call` and `after_tool_call`, release 2026.9.
"""

from typing import Any, Final, Literal, TypeAlias

from apps.firewall.runtime.hooks import AfterEvent, BeforeEvent

EventName: TypeAlias = Literal["before_tool_call", "after_tool_call"]
BEFORE: Final[EventName] = "before_tool_call"
AFTER: Final[EventName] = "after_tool_call"


def event_name(event: BeforeEvent | AfterEvent) -> EventName:
    """Name the event as handlers are named."""
    return BEFORE if isinstance(event, BeforeEvent) else AFTER


def event_json(event: BeforeEvent | AfterEvent) -> dict[str, Any]:
    """Write an event down: `toolName`, `toolCallId`, `params`, `context`; after a call also what became of it."""
    document = {
        "toolName": event.tool,
        "toolCallId": event.call_id,
        "params": event.params,
        "context": dict(event.facts),
    }
    if isinstance(event, AfterEvent):
        outcome = {"result": event.result} if event.error is None else {"error": event.error}
        document |= {"durationMs": event.duration_ms, **outcome}
    return document
