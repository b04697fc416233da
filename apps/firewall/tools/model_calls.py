"""What a model asks for and what it is told, in no provider's form: `providers/` translate it.

Everything here comes from a model or from a tool, so nothing is taken for granted about it.
"""

import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from apps.firewall.errors import FirewallError
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.mistakes import FAILED, model_error
from apps.firewall.tools.numbers import NumberInexactError, read_json

Reply: TypeAlias = Mapping[str, Any] | Sequence[Any]
"""A provider's whole response, or the list of pieces that it streamed, each as the JSON of one event."""

DEPTH_LIMIT: Final = 64
TEXT_LIMIT: Final = 10_000
IMAGE_LIMIT_BYTES: Final = 5 * 1024 * 1024
NOTHING: Final = "The tool ran and returned nothing."
CUT_ADVICE: Final = "Ask for less at once, or for another part."
MEDIA_TYPE: Final = re.compile(r"image/[a-z0-9.+-]{1,40}")


class ReplyInvalidError(FirewallError):
    """What was sent as a model's reply is none of this provider."""

    code = "response_invalid"

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.details = [{"path": path, "code": "invalid", "message": message}]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One tool call as a model asked for it.

    Args:
        id: the provider's; empty where it gave none.
        name: the tool, as the model wrote it; empty where it wrote none that can be read.
        arguments: None when they are malformed.
        problem: why they are malformed, in words for the model; it quotes nothing of them.
    """

    id: str
    name: str
    arguments: JsonObject | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text of an answer, never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image of an answer, in base64."""

    media_type: str
    data: str


Part: TypeAlias = TextPart | ImagePart


@dataclass(frozen=True, slots=True, kw_only=True)
class CallAnswer:
    """What a model is told about one of its calls; at least one part."""

    call: ModelCall
    parts: tuple[Part, ...]
    is_error: bool = False

    @property
    def text(self) -> str:
        """All of its text."""
        return "\n\n".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """All of its images."""
        return tuple(part for part in self.parts if isinstance(part, ImagePart))


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """Whether a model may, must not or must call a tool; with `one` the tool of this name, as the provider knows it."""

    mode: Literal["auto", "none", "required", "one"] = "auto"
    name: str = ""


def read_call(identifier: object, name: object, arguments: object, *, is_whole: bool = True) -> ModelCall:
    """Read one call whose arguments are an object already, or its JSON text.

    Args:
        is_whole: whether the provider said that it had written all of it.
    """
    shown_id = identifier if isinstance(identifier, str) else ""
    shown_name = name if isinstance(name, str) else ""
    found, problem = _arguments_of(arguments, is_whole=is_whole)
    if not shown_name:
        found, problem = None, "the call names no tool"
    return ModelCall(id=shown_id, name=shown_name, arguments=found, problem=problem)


@dataclass(slots=True)
class PendingCall:
    """A call that a provider streams piece by piece.

    Args:
        begun: arguments that came at once, before any piece of text.
        is_whole: whether the provider said that it had written all of it.
        problem: why it cannot run whatever its arguments are.
    """

    id: str = ""
    name: str = ""
    begun: object = None
    texts: list[str] = field(default_factory=list)
    is_whole: bool = False
    problem: str = ""

    def take(self, *, identifier: object = None, name: object = None, text: object = None) -> None:
        """Add a piece; of an id and a name the first counts, servers repeat them."""
        self.id = self.id or (identifier if isinstance(identifier, str) else "")
        self.name = self.name or (name if isinstance(name, str) else "")
        if isinstance(text, str):
            self.texts.append(text)

    def call(self) -> ModelCall:
        """Read what has arrived."""
        if self.problem:
            return refused_call(self.id, self.name, self.problem)
        text = "".join(self.texts)
        return read_call(self.id, self.name, text if text or not self.begun else self.begun, is_whole=self.is_whole)


def refused_call(identifier: object, name: object, problem: str) -> ModelCall:
    """Make a call that cannot run whatever its arguments are."""
    read = read_call(identifier, name, {})
    return ModelCall(id=read.id, name=read.name, arguments=None, problem=problem)


def _arguments_of(arguments: object, *, is_whole: bool) -> tuple[JsonObject | None, str]:
    if isinstance(arguments, str):
        # An object's text ends where its brace closes, so that a complete one tells by itself; no text does not.
        if not arguments.strip() and is_whole:
            return {}, ""
        try:
            arguments = read_json(arguments)
        except NumberInexactError as exc:
            return None, f"the arguments cannot be kept as they are: {exc.message[:200]}"
        except ValueError as exc:
            cut = "" if is_whole else "the reply ended before the call was complete: "
            return None, f"{cut}the arguments are not JSON: {str(exc)[:200]}"
    elif not is_whole:
        return None, "the reply ended before the call was complete"
    if not isinstance(arguments, dict):
        return None, f"the arguments must be a JSON object, not {_kind(arguments)}"
    if _is_deep(arguments):
        return None, f"the arguments are nested deeper than {DEPTH_LIMIT} levels"
    return arguments, ""


_KINDS: Final[Mapping[type, str]] = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "a number")


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)  # type: ignore[attr-defined]
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def answer_of(
    call: ModelCall,
    *,
    result: JsonObject | None,
    error: Mapping[str, Any] | None,
    text_limit: int = TEXT_LIMIT,
    notes: Iterable[str] = (),
) -> CallAnswer:
    """Turn what became of a call into what its model is told.

    Args:
        result: what the tool returned; a member `content` that lists blocks of text and images is shown as these.
        error: `{"code", "message", "details"}`.
        text_limit: code points of text that are kept; the model is told what was cut.
        notes: what the model should know besides, one sentence each.
    """
    parts = [] if result is None else _parts_of(result)
    if error is not None:
        said = str(error.get("message", ""))
        parts = [part for part in parts if not isinstance(part, TextPart) or part.text.strip() not in said]
        parts.insert(0, TextPart(error_text(error)))
    parts = _limited(parts, text_limit)
    parts += [TextPart(f"Note: {note}") for note in notes]
    is_error = error is not None or (result is not None and result.get("isError") is True)
    return CallAnswer(call=call, parts=tuple(parts) or (TextPart(NOTHING),), is_error=is_error)


def error_text(error: Mapping[str, Any]) -> str:
    """Write an error for a model: `{"error", "details"}` of mistakes in its params, else `{"error", "message"}`."""
    details = error.get("details")
    if error.get("code") == FAILED and isinstance(details, list) and details:
        return json_text(model_error(details))
    return json_text({"error": error.get("code", "error"), "message": error.get("message", "")})


def json_text(value: object) -> str:
    """Write a JSON value for a model."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _parts_of(result: JsonObject) -> list[Part]:
    blocks = result.get("content")
    if not isinstance(blocks, list) or not all(isinstance(block, dict) and "type" in block for block in blocks):
        return [TextPart(json_text(result))] if result else []
    parts = [_part_of(block) for block in blocks]
    structured = result.get("structuredContent")
    if structured is not None and not any(isinstance(part, TextPart) for part in parts):
        parts.append(TextPart(json_text(structured)))
    return [part for part in parts if not isinstance(part, TextPart) or part.text.strip()]


def _part_of(block: Mapping[str, Any]) -> Part:
    if block["type"] == "text" and isinstance(block.get("text"), str):
        return TextPart(block["text"])
    if block["type"] == "image":
        return _image_of(block.get("mimeType", block.get("mime_type")), block.get("data"))
    if block["type"] == "file" and isinstance(block.get("data"), str):
        size = len(block["data"]) * 3 // 4 - block["data"][-2:].count("=")
        return TextPart(f"[the file {block.get('name')}, {block.get('mimeType')}, {size} bytes]")
    return TextPart(json_text(block))


def _image_of(media_type: object, data: object) -> Part:
    if not isinstance(media_type, str) or not MEDIA_TYPE.fullmatch(media_type) or not isinstance(data, str):
        return TextPart("[an image without its type or its data is left out]")
    if len(data) * 3 // 4 > IMAGE_LIMIT_BYTES:
        return TextPart(f"[an image larger than {IMAGE_LIMIT_BYTES} bytes is left out]")
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        return TextPart("[an image that is not base64 is left out]")
    return ImagePart(media_type, data)


def _limited(parts: Sequence[Part], limit: int) -> list[Part]:
    kept: list[Part] = []
    left = limit
    for part in parts:
        if not isinstance(part, TextPart):
            kept.append(part)
            continue
        if len(part.text) > left:
            text = (
                f"{part.text[:left]}\n\n[cut: the first {left} of {len(part.text)} characters are shown] {CUT_ADVICE}"
            )
            kept.append(TextPart(text.lstrip()))
            left = 0
        else:
            kept.append(part)
            left -= len(part.text)
    return kept


def without_foreign_images(answer: CallAnswer, accepted: frozenset[str]) -> CallAnswer:
    """Say in text that an image is there whose type a provider does not take."""
    if all(image.media_type in accepted for image in answer.images):
        return answer
    parts = tuple(
        TextPart(f"[an image of the type {part.media_type} is left out: this model cannot see it]")
        if isinstance(part, ImagePart) and part.media_type not in accepted
        else part
        for part in answer.parts
    )
    return CallAnswer(call=answer.call, parts=parts, is_error=answer.is_error)
