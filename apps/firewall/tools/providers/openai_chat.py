"""OpenAI's chat completions, which most other providers and local servers speak too.

Source: OpenAI API reference, "Chat completions".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.model_calls import (
    CallAnswer,
    ImagePart,
    ModelCall,
    PendingCall,
    Reply,
    ReplyInvalidError,
    ToolChoice,
    read_call,
    refused_call,
    without_foreign_images,
)
from apps.firewall.tools.schema import Family
from apps.firewall.tools.wire_names import NameRule

KEY: Final = "openai-chat"
LABEL: Final = "OpenAI chat completions"
FAMILY: Final = Family.OPENAI
APPEND_TO: Final = "messages"
NAMES: Final = NameRule("a-zA-Z0-9_-", "a-zA-Z0-9_-", 64, "letters, digits, `_` and `-`, at most 64")
TOOLS_LIMIT: Final[int | None] = 128
DESCRIPTION_LIMIT: Final[int | None] = 1024
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
CUT: Final = ("length", "content_filter")
UNOFFERED: Final = "only functions were offered, write the call as one of them"


def tool_json(name: str, description: str, schema: JsonObject) -> JsonObject:
    """Describe one tool."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def request_json(tools: Any, choice: ToolChoice) -> dict[str, Any]:
    """Return the members of a request that offer tools.

    Args:
        tools: the list of what `tool_json` gave, or anything that is written as it.
    """
    if choice.mode == "one":
        return {"tools": tools, "tool_choice": {"type": "function", "function": {"name": choice.name}}}
    return {"tools": tools, "tool_choice": choice.mode}


def reply_id(reply: Reply) -> str:
    """Return the provider's own id of a reply; empty without one."""
    for piece in _pieces(reply):
        if isinstance(piece.get("id"), str) and piece["id"]:
            return str(piece["id"])
    return ""


def read_calls(reply: Reply) -> tuple[ModelCall, ...]:
    """Read the calls of a response, or of the list of its streamed chunks, in their order.

    Raises:
        ReplyInvalidError: it is no reply of this provider.
    """
    if isinstance(reply, Mapping):
        choice = _choice(reply)
        if choice is None or not isinstance(choice.get("message"), Mapping):
            raise ReplyInvalidError("a chat completion has `choices[0].message`")
        is_whole = choice.get("finish_reason") not in CUT
        return tuple(_call_of(each, is_whole=is_whole) for each in _list(choice["message"].get("tool_calls")))
    return _joined(_pieces(reply))


def result_messages(answers: Sequence[CallAnswer], *, model: str = "") -> list[dict[str, Any]]:  # noqa: ARG001
    """Write what the model is told: one message for each call, then one of the user with all images.

    A message of a tool holds text only.
    """
    messages: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    for answer in (without_foreign_images(each, IMAGES) for each in answers):
        text = answer.text or "The image follows."
        messages.append({"role": "tool", "tool_call_id": answer.call.id, "content": text})
        for image in answer.images:
            shown += [_text(f"Image from the tool call {answer.call.id}:"), _image(image)]
    if shown:
        messages.append({"role": "user", "content": shown})
    return messages


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(image: ImagePart) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{image.data}"}}


def _pieces(reply: Reply) -> list[Mapping[str, Any]]:
    pieces = [reply] if isinstance(reply, Mapping) else [piece for piece in reply if piece != "[DONE]"]
    for number, piece in enumerate(pieces):
        if not isinstance(piece, Mapping):
            raise ReplyInvalidError("a chunk is an object", path=f"[{number}]")
        if isinstance(piece.get("error"), Mapping):
            raise ReplyInvalidError("the reply is an error of the provider", path=f"[{number}]")
    return pieces


def _choice(piece: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the first choice: others are alternatives to it, not more of it."""
    for choice in _list(piece.get("choices")):
        if isinstance(choice, Mapping) and choice.get("index", 0) == 0:
            return choice
    return None


def _list(value: object) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ReplyInvalidError("`choices` and `tool_calls` are lists")
    return value or []


def _call_of(written: object, *, is_whole: bool) -> ModelCall:
    if not isinstance(written, Mapping):
        raise ReplyInvalidError("a member of `tool_calls` is an object")
    function, custom = written.get("function"), written.get("custom")
    if isinstance(function, Mapping):
        return read_call(written.get("id"), function.get("name"), function.get("arguments", ""), is_whole=is_whole)
    return refused_call(written.get("id"), custom.get("name") if isinstance(custom, Mapping) else "", UNOFFERED)


def _joined(pieces: Sequence[Mapping[str, Any]]) -> tuple[ModelCall, ...]:
    pending: list[PendingCall] = []
    at: dict[int, PendingCall] = {}
    finish = None
    for piece in pieces:
        choice = _choice(piece)
        if choice is None:
            continue
        finish = choice.get("finish_reason") or finish
        delta = choice.get("delta")
        for part in _list(delta.get("tool_calls") if isinstance(delta, Mapping) else None):
            if not isinstance(part, Mapping):
                raise ReplyInvalidError("a member of `tool_calls` is an object")
            call = _place(part, pending, at)
            if isinstance(part.get("custom"), Mapping):
                call.problem = UNOFFERED
            written = part.get("function", part.get("custom"))
            written = written if isinstance(written, Mapping) else {}
            call.take(identifier=part.get("id"), name=written.get("name"), text=written.get("arguments"))
    for call in pending:
        call.is_whole = finish is not None and finish not in CUT
    return tuple(call.call() for call in pending)


def _place(part: Mapping[str, Any], pending: list[PendingCall], at: dict[int, PendingCall]) -> PendingCall:
    """Find the call that a piece belongs to. Some servers number every call 0 and tell them apart by their ids."""
    index, identifier = part.get("index", 0), part.get("id")
    if not isinstance(index, int):
        raise ReplyInvalidError("the `index` of a piece of a call is a whole number")
    known = at.get(index)
    if known is None or (identifier and known.id and identifier != known.id):
        known = at[index] = PendingCall()
        pending.append(known)
    return known
