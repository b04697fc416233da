"""OpenAI's responses.

Source: OpenAI API reference, "Responses" and its streaming events.
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
    refused_call,
    without_foreign_images,
)
from apps.firewall.tools.schema import Family
from apps.firewall.tools.wire_names import NameRule

KEY: Final = "openai-responses"
LABEL: Final = "OpenAI responses"
FAMILY: Final = Family.OPENAI
APPEND_TO: Final = "input"
NAMES: Final = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64, "letters, digits, `_` and `-`, at most 64")
TOOLS_LIMIT: Final[int | None] = 128
DESCRIPTION_LIMIT: Final[int | None] = None
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
FINAL_EVENTS: Final = ("response.completed", "response.incomplete", "response.failed")
KINDS: Final = ("function_call", "custom_tool_call")
UNOFFERED: Final = "only functions were offered, write the call as one of them"


def tool_json(name: str, description: str, schema: JsonObject) -> JsonObject:
    """Describe one tool. `strict` is true when left out, and refuses most schemas."""
    return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": False}


def request_json(tools: Any, choice: ToolChoice) -> dict[str, Any]:
    """Return the members of a request that offer tools.

    Args:
        tools: the list of what `tool_json` gave, or anything that is written as it.
    """
    if choice.mode == "one":
        return {"tools": tools, "tool_choice": {"type": "function", "name": choice.name}}
    return {"tools": tools, "tool_choice": choice.mode}


def reply_id(reply: Reply) -> str:
    """Return the provider's own id of a reply; empty without one."""
    for piece in _pieces(reply):
        response = piece.get("response", piece)
        if isinstance(response, Mapping) and isinstance(response.get("id"), str):
            return str(response["id"])
    return ""


def read_calls(reply: Reply) -> tuple[ModelCall, ...]:
    """Read the calls of a response, or of the list of its streamed events, in their order.

    Raises:
        ReplyInvalidError: it is no reply of this provider.
    """
    pieces = _pieces(reply)
    if isinstance(reply, Mapping) and "output" in reply:
        return _calls_of(reply["output"])
    for piece in pieces:
        response = piece.get("response")
        if piece.get("type") in FINAL_EVENTS and isinstance(response, Mapping) and response.get("output"):
            return _calls_of(response["output"])
    if isinstance(reply, Mapping):
        raise ReplyInvalidError("a response has `output`")
    return _joined(pieces)


def result_messages(answers: Sequence[CallAnswer], *, model: str = "") -> list[dict[str, Any]]:  # noqa: ARG001
    """Write what the model is told: one item of input for each call."""
    items: list[dict[str, Any]] = []
    for answer in (without_foreign_images(each, IMAGES) for each in answers):
        output: Any = [_part(part) for part in answer.parts] if answer.images else answer.text
        items.append({"type": "function_call_output", "call_id": answer.call.id, "output": output})
    return items


def _part(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text}
    return {"type": "input_image", "image_url": f"data:{part.media_type};base64,{part.data}", "detail": "auto"}


def _pieces(reply: Reply) -> list[Mapping[str, Any]]:
    pieces = [reply] if isinstance(reply, Mapping) else [piece for piece in reply if piece != "[DONE]"]
    for number, piece in enumerate(pieces):
        if not isinstance(piece, Mapping):
            raise ReplyInvalidError("an event is an object", path=f"[{number}]")
        if piece.get("type") == "error" or isinstance(piece.get("error"), Mapping):
            raise ReplyInvalidError("the reply is an error of the provider", path=f"[{number}]")
    return pieces


def _calls_of(output: object) -> tuple[ModelCall, ...]:
    if not isinstance(output, list) or not all(isinstance(item, Mapping) for item in output):
        raise ReplyInvalidError("`output` is a list of items", path="output")
    return tuple(_call_of(item) for item in output if item.get("type") in KINDS)


def _call_of(item: Mapping[str, Any]) -> ModelCall:
    identifier = item.get("call_id") or item.get("id")
    if item["type"] == "custom_tool_call":
        return refused_call(identifier, item.get("name"), UNOFFERED)
    is_whole = item.get("status", "completed") == "completed"
    return read_call(identifier, item.get("name"), item.get("arguments", ""), is_whole=is_whole)


def _joined(pieces: Sequence[Mapping[str, Any]]) -> tuple[ModelCall, ...]:
    """Join the pieces of a stream that did not come to the event which repeats everything."""
    calls: dict[int, ModelCall | PendingCall] = {}
    for number, piece in enumerate(pieces):
        kind, place, item = piece.get("type"), piece.get("output_index", 0), piece.get("item")
        if not isinstance(place, int):
            raise ReplyInvalidError("`output_index` is a whole number", path=f"[{number}]")
        if isinstance(item, Mapping) and item.get("type") in KINDS:
            if kind == "response.output_item.done":
                calls[place] = _call_of(item)
            elif kind == "response.output_item.added":
                calls[place] = pending = PendingCall()
                pending.take(identifier=item.get("call_id"), name=item.get("name"), text=item.get("arguments"))
        known = calls.get(place)
        if isinstance(known, PendingCall) and kind == "response.function_call_arguments.delta":
            known.take(text=piece.get("delta"))
        elif isinstance(known, PendingCall) and kind == "response.function_call_arguments.done":
            known.texts, known.is_whole = [str(piece.get("arguments", ""))], True
    found = (calls[place] for place in sorted(calls))
    return tuple(each.call() if isinstance(each, PendingCall) else each for each in found)
