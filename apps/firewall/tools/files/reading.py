"""Reads files: lines of text, in one of several encodings, or bytes."""

import base64
from typing import Any

from apps.firewall.tools.files.beneath import see, see_text
from apps.firewall.tools.files.refusals import RefusedError

TEXT_LIMIT_BYTES = 256 * 1024
DEFAULT_LINES = 2000
BASE64 = "base64"


def read(root: str, path: str, offset: int = 1, limit: int = DEFAULT_LINES) -> dict[str, Any]:
    """Read lines of a text file; what did not fit is stated, never silently dropped."""
    lines = see_text(root, path)[1].splitlines(keepends=True)
    kept = _that_fit(lines[offset - 1 : offset - 1 + limit])
    if not kept and offset <= len(lines):
        raise RefusedError("line_too_long", f"line {offset} of `{path}` is longer than {TEXT_LIMIT_BYTES} bytes")
    return {
        "path": path,
        "content": "".join(kept),
        "first_line": offset,
        "lines": len(kept),
        "total_lines": len(lines),
        "truncated": offset - 1 + len(kept) < len(lines),
    }


def read_encoded(root: str, path: str, encoding: str = "utf-8", limit: int = DEFAULT_LINES) -> dict[str, Any]:
    """Read the first lines of a text in an encoding, or with `base64` the first bytes of anything."""
    content = see(root, path).content
    answer: dict[str, Any] = {"path": path, "size": len(content), "encoding": encoding}
    if encoding == BASE64:
        kept = content[:TEXT_LIMIT_BYTES]
        shown = base64.b64encode(kept).decode("ascii")
        return answer | {"content": shown, "truncated": len(kept) < len(content)}
    try:
        lines = content.decode(encoding).splitlines(keepends=True)
    except UnicodeError as exc:
        message = f"`{path}` is not text in {encoding}: try another `encoding`, or `{BASE64}` for its bytes"
        raise RefusedError("not_text", message) from exc
    first = _that_fit(lines[:limit])
    if lines and not first:
        raise RefusedError("line_too_long", f"line 1 of `{path}` is longer than {TEXT_LIMIT_BYTES} bytes")
    told = {"lines": len(first), "total_lines": len(lines), "truncated": len(first) < len(lines)}
    return answer | {"content": "".join(first), **told}


def _that_fit(lines: list[str]) -> list[str]:
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace"))
        if size > TEXT_LIMIT_BYTES:
            return lines[:count]
    return lines
