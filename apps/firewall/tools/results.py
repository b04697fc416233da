"""What authors answer with: `{"content": [parts], "details": …}`, a part being a text, an image or a file.

This is the shape that providers and MCP results go by. Standard library and the error tree only: these run inside a
tool's own process.
"""

import base64
import json
import mimetypes
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from apps.firewall.errors import FirewallError

IMAGE_LIMIT_BYTES: Final = 5 * 1024 * 1024
FILE_LIMIT_BYTES: Final = 5 * 1024 * 1024
_SIGNATURES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


class ImageUnusableError(FirewallError):
    """A file or text that is no image which models can be shown."""

    code = "image_unusable"


class FileUnusableError(FirewallError):
    """A file that cannot be answered with: it cannot be read, or is too large."""

    code = "file_unusable"


def json_result(payload: Any) -> dict[str, Any]:
    """Answer with JSON: the model reads it as indented text, programs find it as `details`."""
    text = json.dumps(payload, ensure_ascii=False, indent=2, default=str)
    return {"content": [{"type": "text", "text": text}], "details": payload}


def text_result(text: str, *, details: Any = None) -> dict[str, Any]:
    """Answer with a text."""
    return {"content": [{"type": "text", "text": text}]} | ({} if details is None else {"details": details})


def image_result(
    *,
    label: str,
    base64: str,
    mime_type: str,
    path: str = "",
    text: str = "",
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Answer with an image and a text beside it: `text`, or the path, or the label.

    Args:
        base64: the image's bytes.
        mime_type: such as `image/png`.
    """
    words = {"type": "text", "text": text or path or label}
    image = {"type": "image", "data": base64, "mimeType": mime_type}
    told = {"label": label} | ({"path": path} if path else {}) | dict(details or {})
    return {"content": [words, image], "details": told}


def image_result_from_file(
    *, label: str, path: str, text: str = "", details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Answer with an image out of a file; its kind is read from its content, not from its name.

    Raises:
        ImageUnusableError: it cannot be read, is over 5 MiB, or is no PNG, JPEG, GIF or WebP.
    """
    content = _content(path, IMAGE_LIMIT_BYTES, ImageUnusableError)
    mime_type = mime_type_of(content)
    if not mime_type:
        raise ImageUnusableError(f"`{path}` is no PNG, JPEG, GIF or WebP image")
    data = base64.b64encode(content).decode()
    return image_result(label=label, base64=data, mime_type=mime_type, path=path, text=text, details=details)


def file_result(
    *,
    name: str,
    base64: str,
    mime_type: str = "application/octet-stream",
    text: str = "",
    details: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Answer with a file: programs get its bytes, a model its name, type and size, and `text` when there is one.

    Args:
        base64: the file's bytes.
    """
    words = [{"type": "text", "text": text}] if text else []
    file = {"type": "file", "name": name, "mimeType": mime_type, "data": base64}
    return {"content": [*words, file]} | ({} if details is None else {"details": dict(details)})


def file_result_from_file(
    *, path: str, name: str = "", mime_type: str = "", text: str = "", details: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Answer with a file of the workspace; its type goes by its name where none is given.

    Raises:
        FileUnusableError: it cannot be read, or is over 5 MiB.
    """
    content = _content(path, FILE_LIMIT_BYTES, FileUnusableError)
    return file_result(
        name=name or Path(path).name,
        base64=base64.b64encode(content).decode(),
        mime_type=mime_type or mimetypes.guess_type(path)[0] or "application/octet-stream",
        text=text,
        details=details,
    )


def string_enum(values: Sequence[str], **members: Any) -> dict[str, Any]:
    """Make a schema of some texts that every provider takes; `members` adds `description`, `default`, …"""
    return {"type": "string", "enum": list(values), **members}


def _content(path: str, limit_bytes: int, error: type[FirewallError]) -> bytes:
    try:
        with Path(path).open("rb") as file:
            content = file.read(limit_bytes + 1)
    except OSError as exc:
        raise error(f"`{path}` cannot be read: {(exc.strerror or 'unknown').lower()}") from exc
    if len(content) > limit_bytes:
        raise error(f"`{path}` has more than {limit_bytes} bytes")
    return content


def mime_type_of(content: bytes) -> str:
    """Name the type of an image by how its bytes begin; "" for what models cannot be shown."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for start, mime in _SIGNATURES if content.startswith(start)), "")
