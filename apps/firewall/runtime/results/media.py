"""Images and files of a result: their bytes are no text, so they go another way than what is masked and cut."""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.results import FILE_LIMIT_BYTES, IMAGE_LIMIT_BYTES, mime_type_of

TEXT_FILE_LIMIT_BYTES: Final = 256 * 1024
LOOKED_AT: Final = 64
"""Letters of base64 in which a signature stands."""

Mask = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Taken:
    """A result without the bytes of its images and files, and these by their place in `content`."""

    result: dict[str, Any]
    bytes_by_place: Mapping[int, str]

    def put_back(self, result: JsonObject) -> dict[str, Any]:
        """Give a copy that was masked or cut its images and files again, those that are still there."""
        content = result.get("content")
        if not self.bytes_by_place or not isinstance(content, list):
            return dict(result)
        blocks = [
            {**block, "data": self.bytes_by_place[place]}
            if place in self.bytes_by_place and isinstance(block, Mapping) and "data" in block
            else block
            for place, block in enumerate(content)
        ]
        return {**result, "content": blocks}


def take_media(result: JsonObject, mask: Mask) -> Taken:
    """Take images and files out of the blocks of a result; what remains says how large they are.

    What calls itself an image and is none, or is too large, is left out for good. A file that is text is masked.
    """
    content = result.get("content")
    if not isinstance(content, list):
        return Taken(dict(result), {})
    blocks, taken = [], {}
    for place, block in enumerate(content):
        kept, data = _taken(block, mask)
        blocks.append(kept)
        if data is not None:
            taken[place] = data
    return Taken({**result, "content": blocks}, taken)


def _taken(block: Any, mask: Mask) -> tuple[Any, str | None]:
    """Give a block without its bytes, and these; a block of another kind as it is."""
    take = _KINDS.get(block.get("type")) if isinstance(block, Mapping) else None
    if take is None or not isinstance(block.get("data"), str):
        return block, None
    data = take(block, block["data"], mask)
    if data is None:
        return block, None
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return {**block, "data": f"[{size} bytes, not kept]"}, data


def _image(block: Mapping[str, Any], data: str, mask: Mask) -> str | None:  # noqa: ARG001
    """Give an image whose bytes are of the type that it names; anything else is treated as the text it is."""
    if len(data) * 3 // 4 > IMAGE_LIMIT_BYTES or not _is_base64(data):
        return None
    return data if mime_type_of(base64.b64decode(data[:LOOKED_AT])) == block.get("mimeType") else None


def _file(block: Mapping[str, Any], data: str, mask: Mask) -> str | None:  # noqa: ARG001
    if len(data) * 3 // 4 > FILE_LIMIT_BYTES or not _is_base64(data):
        return None
    content = base64.b64decode(data)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return data
    return base64.b64encode(mask(text).encode()).decode() if len(content) <= TEXT_FILE_LIMIT_BYTES else None


_KINDS: Final[Mapping[Any, Callable[[Mapping[str, Any], str, Mask], str | None]]] = {"image": _image, "file": _file}


def _is_base64(data: str) -> bool:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except (ValueError, UnicodeEncodeError):
        return False
    return bool(data)
