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


def read_encoded(
    root: str, path: str, encoding: str = "utf-8", offset: int = 1, limit: int | None = None
) -> dict[str, Any]:
    """Read lines of a text in an encoding, or with `base64` bytes of anything; where it goes on is told.

    Args:
        offset: the first line, or byte, counted from 1.
        limit: lines, or bytes, at most.
    """
    content = see(root, path).content
    answer: dict[str, Any] = {"path": path, "size": len(content), "encoding": encoding}
    if encoding == BASE64:
        kept = content[offset - 1 : offset - 1 + min(limit or TEXT_LIMIT_BYTES, TEXT_LIMIT_BYTES)]
        shown = base64.b64encode(kept).decode("ascii")
        return answer | {"content": shown} | _cut(offset, len(kept), len(content))
    try:
        lines = content.decode(encoding).splitlines(keepends=True)
    except UnicodeError as exc:
        message = f"`{path}` is not text in {encoding}: try another `encoding`, or `{BASE64}` for its bytes"
        raise RefusedError("not_text", message) from exc
    fitting = _that_fit(lines[offset - 1 : offset - 1 + (limit or DEFAULT_LINES)])
    if offset <= len(lines) and not fitting:
        raise RefusedError("line_too_long", f"line {offset} of `{path}` is longer than {TEXT_LIMIT_BYTES} bytes")
    told = {"lines": len(fitting), "total_lines": len(lines)} | _cut(offset, len(fitting), len(lines))
    return answer | {"content": "".join(fitting), **told}


def _cut(offset: int, shown: int, whole: int) -> dict[str, Any]:
    """Say whether more follows, and from where."""
    is_cut = offset - 1 + shown < whole
    return {"truncated": is_cut} | ({"next_offset": offset + shown} if is_cut else {})


def _that_fit(lines: list[str]) -> list[str]:
    size = 0
    for count, line in enumerate(lines):
        size += len(line.encode("utf-8", "replace"))
        if size > TEXT_LIMIT_BYTES:
            return lines[:count]
    return lines
