"""What a server answers to a call, as a tool's outcome.

A result has `content`, a list of `{"type": "text", "text"}` and `{"type": "image", "data", "mimeType"}`, which every
provider's dialect can carry, and `structuredContent` where the server gave structured content.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from typing import Any, Final

import orjson
from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from apps.firewall.tools.definition import Definition
from apps.firewall.tools.output import broken_promise
from apps.firewall.tools.remote_json import JsonRefusedError, read_json
from apps.firewall.tools.running import ToolOutcome, failed

BLOCKS_LIMIT: Final = 200
ERROR_CHARACTERS: Final = 2_000
IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

Block = dict[str, str]


def outcome_of(answer: CallToolResult, definition: Definition) -> ToolOutcome:
    """Turn an answer into an outcome; the server's own `isError` makes a failed call whose text the model reads."""
    content = [_block(each) for each in answer.content[:BLOCKS_LIMIT]]
    if len(answer.content) > BLOCKS_LIMIT:
        content.append(_text(f"[{len(answer.content) - BLOCKS_LIMIT} further parts left out]"))
    result: dict[str, Any] = {"content": content}
    if answer.structured_content is not None:
        try:
            result["structuredContent"] = read_json(orjson.dumps(answer.structured_content))
        except (TypeError, JsonRefusedError) as exc:
            return failed("output_invalid", f"the structured content cannot be kept: {str(exc)[:200]}", result)
    if answer.is_error:
        said = "\n".join(each["text"] for each in content if each["type"] == "text").strip()
        return failed("tool_failed", said[:ERROR_CHARACTERS] or "the tool says that it failed", result)
    if definition.output is not None and answer.structured_content is None:
        return failed("output_invalid", "the tool promises structured content and gave none", result)
    problem = broken_promise(definition, result.get("structuredContent"))
    if problem:
        return failed("output_invalid", problem, result)
    return ToolOutcome(result=result)


def _block(part: Any) -> Block:
    make = _BLOCKS.get(type(part))
    return _text(f"[{type(part).__name__} left out]") if make is None else make(part)


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _image(data: str, mime: str) -> Block:
    try:
        size = len(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError):
        return _text(f"[an image of type {mime} that cannot be read was left out]")
    if mime not in IMAGE_TYPES:
        return _text(f"[an image of type {mime}, {size} bytes, was left out]")
    return {"type": "image", "data": data, "mimeType": mime}


def _resource(part: EmbeddedResource) -> Block:
    held = part.resource
    if isinstance(held, TextResourceContents):
        return _text(held.text)
    mime = held.mime_type or "application/octet-stream"
    if mime.startswith("image/"):
        return _image(held.blob, mime)
    return _text(f"[{held.uri}: {mime}, {len(held.blob) * 3 // 4} bytes, left out]")


_BLOCKS: Final[Mapping[type, Callable[[Any], Block]]] = {
    TextContent: lambda part: _text(part.text),
    ImageContent: lambda part: _image(part.data, part.mime_type),
    AudioContent: lambda part: _text(f"[sound of type {part.mime_type} left out]"),
    EmbeddedResource: _resource,
    ResourceLink: lambda part: _text(f"[{part.title or part.name}: {part.uri}]"),
}
