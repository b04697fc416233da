"""What became of a call, in the protocol's words: text, images, the object itself, and whether it went wrong."""

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent

from apps.firewall.identifiers import show_id
from apps.firewall.runtime.call import NOT_FOUND, error_object
from apps.firewall.tools.model_calls import ModelCall, Part, TextPart, answer_of
from apps.gateway.runtime_api.performing import Performed

CALL_KEY: Final = "openclaw-admin/call"
"""Member of `_meta` with the id under which the ledger knows a call."""

AWAITING: Final = "awaiting_approval"
TEXT_LIMIT: Final = 1_000_000


def result_of(name: str, arguments: Mapping[str, Any], performed: Performed) -> CallToolResult:
    """Tell a client how its call ended, or that a person has yet to allow it.

    Args:
        name: of the tool, as the client called it.
    """
    content = performed.content
    if performed.status == 202:
        found = error_result(_awaiting(content))
    elif performed.status != 200:
        found = error_result({**content, "message": f"no tool named `{name}`"} if _is_hidden(content) else content)
    else:
        found = _ended(name, arguments, content)
    found.meta = {CALL_KEY: show_id("call", performed.call_id)}
    return found


def error_result(error: Mapping[str, Any]) -> CallToolResult:
    """Tell a client what is wrong, so that its model can read it."""
    call = ModelCall(id="", name="", arguments=None)
    answer = answer_of(call, result=None, error=error)
    return CallToolResult(
        content=[_block(part) for part in answer.parts],
        structured_content={
            "error": error.get("code", "error"),
            "message": error.get("message", ""),
            **_details(error),
        },
        is_error=True,
    )


def _ended(name: str, arguments: Mapping[str, Any], content: Mapping[str, Any]) -> CallToolResult:
    error, status, result = content.get("error"), content["status"], content.get("result")
    if error is None and status != "completed":
        error = error_object(status, f"the call ended as {status}")
    if result is None and error is not None:
        return error_result(error)
    notes = [str(warning["message"]) for warning in content.get("warnings", [])]
    call = ModelCall(id="", name=name, arguments=dict(arguments))
    answer = answer_of(call, result=result, error=error, text_limit=TEXT_LIMIT, notes=notes)
    return CallToolResult(
        content=[_block(part) for part in answer.parts],
        structured_content=_structured(result),
        is_error=answer.is_error,
    )


def _structured(result: Any) -> dict[str, Any] | None:
    """Give what programs read: of a tool that answers in blocks only what it means for them."""
    if not isinstance(result, dict):
        return None
    if not isinstance(result.get("content"), list):
        return result
    found = result.get("structuredContent")
    return found if isinstance(found, dict) else None


def _block(part: Part) -> ContentBlock:
    if isinstance(part, TextPart):
        return TextContent(text=part.text)
    return ImageContent(data=part.data, mime_type=part.media_type)


def _is_hidden(content: Mapping[str, Any]) -> bool:
    """Say whether nothing may be told of a tool, not even whether it exists."""
    return content.get("code") == NOT_FOUND


def _details(error: Mapping[str, Any]) -> dict[str, Any]:
    return {"details": error["details"]} if error.get("details") else {}


def _awaiting(content: Mapping[str, Any]) -> Mapping[str, Any]:
    approval = content.get("approval", {})
    message = (
        f"a person has to allow this call first: the request {approval.get('id', '')} stands until "
        f"{approval.get('expires_at', '')}; call again with the same arguments to go on with this very call"
    )
    return error_object(AWAITING, message)
