"""Anthropic's messages.

Source: Anthropic API reference, "Messages" and its streaming events.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.model_calls import (
    CallAnswer,
    ModelCall,
    Part,
    PendingCall,
    Reply,
    ReplyInvalidError,
    TextPart,
    ToolChoice,
    read_call,
    without_foreign_images,
)
from apps.firewall.tools.schema import Family
from apps.firewall.tools.wire_names import NameRule

KEY: Final = "anthropic"
LABEL: Final = "Anthropic messages"
FAMILY: Final = Family.ANTHROPIC
APPEND_TO: Final = "messages"
NAMES: Final = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64, "letters, digits, `_` and `-`, at most 64")
TOOLS_LIMIT: Final[int | None] = None
DESCRIPTION_LIMIT: Final[int | None] = None
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
MODES: Final[Mapping[str, str]] = {"auto": "auto", "none": "none", "required": "any"}


def tool_json(name: str, description: str, schema: JsonObject) -> JsonObject:
    """Describe one tool."""
    return {"name": name, "description": description, "input_schema": schema}


def request_json(tools: Any, choice: ToolChoice) -> dict[str, Any]:
    """Return the members of a request that offer tools.

    Args:
        tools: the list of what `tool_json` gave, or anything that is written as it.
    """
    if choice.mode == "one":
        return {"tools": tools, "tool_choice": {"type": "tool", "name": choice.name}}
    return {"tools": tools, "tool_choice": {"type": MODES[choice.mode]}}


def reply_id(reply: Reply) -> str:
    """Return the provider's own id of a reply; empty without one."""
    for piece in _pieces(reply):
        message = piece.get("message", piece)
        if isinstance(message, Mapping) and isinstance(message.get("id"), str):
            return str(message["id"])
    return ""


def read_calls(reply: Reply) -> tuple[ModelCall, ...]:
    """Read the calls of a message, or of the list of its streamed events, in their order.

    Raises:
        ReplyInvalidError: it is no reply of this provider.
    """
    pieces = _pieces(reply)
    if not isinstance(reply, Mapping):
        return _joined(pieces)
    blocks = reply.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, Mapping) for block in blocks):
        raise ReplyInvalidError("a message has `content`, a list of blocks")
    was_cut = reply.get("stop_reason") == "max_tokens"
    last = len(blocks) - 1
    return tuple(
        read_call(block.get("id"), block.get("name"), block.get("input"), is_whole=not (was_cut and place == last))
        for place, block in enumerate(blocks)
        if block.get("type") == "tool_use"
    )


def result_messages(answers: Sequence[CallAnswer], *, model: str = "") -> list[dict[str, Any]]:  # noqa: ARG001
    """Write what the model is told: one message of the user with a block for each call."""
    blocks = [_block(without_foreign_images(answer, IMAGES)) for answer in answers]
    return [{"role": "user", "content": blocks}] if blocks else []


def _block(answer: CallAnswer) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": answer.call.id,
        "content": [_part(part) for part in answer.parts],
    }
    return block | {"is_error": True} if answer.is_error else block


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {"type": "image", "source": {"type": "base64", "media_type": part.media_type, "data": part.data}}


def _pieces(reply: Reply) -> list[Mapping[str, Any]]:
    pieces = [reply] if isinstance(reply, Mapping) else list(reply)
    for number, piece in enumerate(pieces):
        if not isinstance(piece, Mapping):
            raise ReplyInvalidError("an event is an object", path=f"[{number}]")
        if piece.get("type") == "error":
            raise ReplyInvalidError("the reply is an error of the provider", path=f"[{number}]")
    return pieces


def _joined(pieces: Sequence[Mapping[str, Any]]) -> tuple[ModelCall, ...]:
    calls: dict[int, PendingCall] = {}
    last: PendingCall | None = None
    for number, piece in enumerate(pieces):
        kind, place = piece.get("type"), piece.get("index", 0)
        if not isinstance(place, int):
            raise ReplyInvalidError("`index` is a whole number", path=f"[{number}]")
        block, delta = piece.get("content_block"), piece.get("delta")
        known = calls.get(place)
        if kind == "content_block_start" and isinstance(block, Mapping):
            last = None
            if block.get("type") == "tool_use":
                calls[place] = last = PendingCall(begun=block.get("input"))
                last.take(identifier=block.get("id"), name=block.get("name"))
        elif kind == "content_block_delta" and known is not None and isinstance(delta, Mapping):
            known.take(text=delta.get("partial_json"))
        elif kind == "content_block_stop" and known is not None:
            known.is_whole = True
        elif kind == "message_delta" and isinstance(delta, Mapping) and last is not None:
            last.is_whole = last.is_whole and delta.get("stop_reason") != "max_tokens"
    return tuple(calls[place].call() for place in sorted(calls))
