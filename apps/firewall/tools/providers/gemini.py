"""Google's Gemini: `generateContent` and `streamGenerateContent`, of the Gemini API and of Vertex AI.

Source: Gemini API reference, "Function calling"; Vertex AI reference, `FunctionCall` and `PartialArg`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.model_calls import (
    CallAnswer,
    ImagePart,
    ModelCall,
    Reply,
    ReplyInvalidError,
    ToolChoice,
    read_call,
    refused_call,
    without_foreign_images,
)
from apps.firewall.tools.schema import Family
from apps.firewall.tools.wire_names import NameRule

KEY: Final = "gemini"
LABEL: Final = "Gemini generateContent"
FAMILY: Final = Family.GEMINI
APPEND_TO: Final = "contents"
NAMES: Final = NameRule(
    "a-zA-Z0-9_.-", "a-zA-Z_", 64, "letters, digits, `_`, `.` and `-`, a letter or `_` first, at most 64"
)
TOOLS_LIMIT: Final[int | None] = None
DESCRIPTION_LIMIT: Final[int | None] = None
IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
MODES: Final[Mapping[str, str]] = {"auto": "AUTO", "none": "NONE", "required": "ANY"}
REFUSED: Final[Mapping[str, str]] = {
    "MALFORMED_FUNCTION_CALL": "the function call was not well-formed: write it again, its arguments as one object",
    "UNEXPECTED_TOOL_CALL": "a function was called though none was offered",
    "TOO_MANY_TOOL_CALLS": "there were too many function calls at once: make fewer",
}
"""Why a reply ended, where the provider keeps a call to itself."""
WRITTEN_CALL: Final = re.compile(r"(?:default_api\.|call:)(?P<name>[A-Za-z_][A-Za-z0-9_.-]{0,63})")
IMAGES_IN_RESULTS: Final = re.compile(r"gemini-(?:[3-9]|\d\d)")
STEP: Final = re.compile(r"\.(?P<name>[^.\[\]]+)|\[(?P<index>\d{1,4})\]|\['(?P<quoted>[^']*)'\]")


def tool_json(name: str, description: str, schema: JsonObject) -> JsonObject:
    """Describe one tool. An object without properties is refused, so that no parameters are left out."""
    described: dict[str, Any] = {"name": name, "description": description}
    return described | {"parameters": schema} if schema.get("properties") else described


def request_json(tools: Any, choice: ToolChoice) -> dict[str, Any]:
    """Return the members of a request that offer tools.

    Args:
        tools: the list of what `tool_json` gave, or anything that is written as it.
    """
    config: dict[str, Any] = {"mode": MODES.get(choice.mode, "ANY")}
    if choice.mode == "one":
        config["allowedFunctionNames"] = [choice.name]
    return {"tools": [{"functionDeclarations": tools}], "toolConfig": {"functionCallingConfig": config}}


def reply_id(reply: Reply) -> str:
    """Return the provider's own id of a reply; empty without one."""
    for piece in _pieces(reply):
        if isinstance(piece.get("responseId"), str):
            return str(piece["responseId"])
    return ""


def read_calls(reply: Reply) -> tuple[ModelCall, ...]:
    """Read the calls of a response, or of the list of its streamed chunks, in their order.

    Raises:
        ReplyInvalidError: it is no reply of this provider.
    """
    calls: list[ModelCall] = []
    begun: _Begun | None = None
    for piece in _pieces(reply):
        candidate = _candidate(piece)
        for part in _parts(candidate):
            written = part.get("functionCall")
            if not isinstance(written, Mapping):
                continue
            if begun is None and not _is_piece(written):
                calls.append(read_call(written.get("id"), written.get("name"), written.get("args", {})))
                continue
            begun = begun or _Begun(written.get("id"), written.get("name"))
            begun.take(written)
            if written.get("willContinue") is not True:
                calls.append(begun.call(is_whole=True))
                begun = None
        problem = REFUSED.get(str(candidate.get("finishReason")))
        if problem:
            told = WRITTEN_CALL.search(str(candidate.get("finishMessage", "")))
            calls.append(refused_call("", told["name"] if told else "", problem))
    if begun is not None:
        calls.append(begun.call(is_whole=False))
    return tuple(calls)


def result_messages(answers: Sequence[CallAnswer], *, model: str = "") -> list[dict[str, Any]]:
    """Write what the model is told: one content of the user with a response for each call.

    Models before the third generation see no images there: these get them in a content of their own. A call that the
    provider kept to itself can only be answered in words.
    """
    parts: list[dict[str, Any]] = []
    later: list[dict[str, Any]] = []
    takes_images = IMAGES_IN_RESULTS.search(model.lower()) is not None
    for answer in (without_foreign_images(each, IMAGES) for each in answers):
        if not answer.call.name or (answer.call.problem in REFUSED.values()):
            parts.append({"text": answer.text})
            continue
        images = [_image(image) for image in answer.images]
        response: dict[str, Any] = {
            "name": answer.call.name,
            "response": {"error" if answer.is_error else "output": answer.text},
        }
        if answer.call.id:
            response["id"] = answer.call.id
        if images and takes_images:
            response["parts"] = images
        elif images:
            later += [{"text": f"Image from the function {answer.call.name}:"}, *images]
        parts.append({"functionResponse": response})
    return [{"role": "user", "parts": each} for each in (parts, later) if each]


def _image(image: ImagePart) -> dict[str, Any]:
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}


def _pieces(reply: Reply) -> list[Mapping[str, Any]]:
    pieces = [reply] if isinstance(reply, Mapping) else list(reply)
    for number, piece in enumerate(pieces):
        if not isinstance(piece, Mapping):
            raise ReplyInvalidError("a chunk is an object", path=f"[{number}]")
        if isinstance(piece.get("error"), Mapping):
            raise ReplyInvalidError("the reply is an error of the provider", path=f"[{number}]")
    if isinstance(reply, Mapping) and not ("candidates" in reply or "promptFeedback" in reply):
        raise ReplyInvalidError("a response has `candidates`")
    return pieces


def _candidate(piece: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first candidate: others are alternatives to it, not more of it."""
    candidates = piece.get("candidates", [])
    if not isinstance(candidates, list):
        raise ReplyInvalidError("`candidates` is a list", path="candidates")
    for candidate in candidates:
        if isinstance(candidate, Mapping) and candidate.get("index", 0) == 0:
            return candidate
    return {}


def _parts(candidate: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = candidate.get("content", {})
    parts = content.get("parts", []) if isinstance(content, Mapping) else None
    if not isinstance(parts, list) or not all(isinstance(part, Mapping) for part in parts):
        raise ReplyInvalidError("a candidate's content has `parts`, a list of objects", path="candidates[0].content")
    return parts


def _is_piece(written: Mapping[str, Any]) -> bool:
    return written.get("willContinue") is True or "partialArgs" in written


@dataclass(slots=True)
class _Begun:
    """A call whose arguments arrive value by value, long texts in pieces; each value says where it belongs."""

    id: object
    name: object
    args: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, list[str]] = field(default_factory=dict)
    problem: str = ""

    def take(self, written: Mapping[str, Any]) -> None:
        if isinstance(written.get("args"), Mapping):
            self.args |= written["args"]
        partial = written.get("partialArgs", [])
        for each in partial if isinstance(partial, list) else [partial]:
            if not self._take(each):
                self.problem = "a piece of the arguments does not say where it belongs"

    def _take(self, piece: object) -> bool:
        if not isinstance(piece, Mapping) or not isinstance(piece.get("jsonPath"), str):
            return False
        path = piece["jsonPath"]
        if isinstance(piece.get("stringValue"), str):
            texts = self.texts.setdefault(path, [])
            texts.append(piece["stringValue"])
            return len(texts) > 1 or _set_at(self.args, path, "")
        for member in ("numberValue", "boolValue"):
            if member in piece:
                return _set_at(self.args, path, piece[member])
        return "nullValue" not in piece or _set_at(self.args, path, None)

    def call(self, *, is_whole: bool) -> ModelCall:
        for path, texts in self.texts.items():
            _set_at(self.args, path, "".join(texts))
        if self.problem:
            return refused_call(self.id, self.name, self.problem)
        return read_call(self.id, self.name, self.args, is_whole=is_whole)


def _set_at(args: dict[str, Any], path: str, value: object) -> bool:
    """Set the value at a path such as `$.edits[0].text`, with what lies above it.

    Returns:
        Whether the path leads somewhere: list members come in their order.
    """
    steps = list(STEP.finditer(path))
    if not steps or path[:1] != "$" or "".join(step[0] for step in steps) != path[1:]:
        return False
    place: Any = args
    keys: list[Any] = [int(step["index"]) if step["index"] else step["name"] or step["quoted"] for step in steps]
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        if isinstance(key, int):
            if not isinstance(place, list) or key > len(place):
                return False
        elif not isinstance(place, dict):
            return False
        below: Any = value if following is None else [] if isinstance(following, int) else {}
        if isinstance(place, list) and key == len(place):
            place.append(below)
        elif following is None or (isinstance(place, dict) and key not in place):
            place[key] = below
        place = place[key]
    return True
