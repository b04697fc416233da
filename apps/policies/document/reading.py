"""Text -> tree: JSON where it is JSON (fast), JSON5 otherwise, within bounds, with every duplicate key named."""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

import json5
from django.utils.translation import gettext as _

from apps.policies.document.findings import Findings, Path

LIMIT_BYTES = 32 * 1024 * 1024
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
LIMIT_JSON5_BYTES = 1024 * 1024  # the JSON5 parser reads some 80 kB a second
LIMIT_DEPTH = 48

_COMMENT_OR_STRING = re.compile(
    r"""(?P<comment> //[^\n\r\u2028\u2029]* | /\*.*?\*/ ) | "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """,
    re.VERBOSE | re.DOTALL,
)
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LARGEST_INDEX = 2**32 - 2


class _Object(dict[str, Any]):
    """An object as it was read, and the keys that it wrote twice."""

    twice: tuple[str, ...] = ()


def read_tree(text: str | bytes, findings: Findings) -> dict[str, Any] | None:
    """Read the text of a document.

    Objects come in the order in which JavaScript enumerates them (whole-number keys first, ascending), because
    look-ups by provider and by sender depend on it. Comments are named, for they do not survive.

    Returns:
        The document, or None when `findings` say why there is none.
    """
    decoded = _decoded(text, findings)
    if decoded is None:
        return None
    raw = _parsed(decoded, findings)
    if raw is None:
        return None
    tree = _plain(raw, (), findings)
    if not isinstance(tree, dict):
        findings.error((), "not_an_object", _("the document is not an object"))
        return None
    return tree


def check_tree(document: Any, findings: Findings) -> dict[str, Any] | None:
    """Bring an already parsed document under the same rules as a text."""
    tree = _plain(document, (), findings)
    if not isinstance(tree, dict):
        findings.error((), "not_an_object", _("the document is not an object"))
        return None
    return tree


def _decoded(text: str | bytes, findings: Findings) -> str | None:
    if len(text) > LIMIT_BYTES:
        findings.error(
            (), "too_large", _("the document is larger than %(count)s MB") % {"count": LIMIT_BYTES // 1024 // 1024}
        )
        return None
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    if text.startswith(WIDE_MARKS):
        findings.error((), "not_utf8", _("the document is UTF-16: save it in UTF-8"))
        return None
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        message = _("the document is not UTF-8, probably Latin-1: byte %(start)s cannot be read; save it in UTF-8")
        findings.error((), "not_utf8", message % {"start": exc.start})
        return None


def _pairs(pairs: Iterable[tuple[str, Any]]) -> _Object:
    members = _Object()
    twice = []
    for key, value in pairs:
        if key in members:
            twice.append(key)
        members[key] = value
    if twice:
        members.twice = tuple(twice)
    return members


def _parsed(text: str, findings: Findings) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except RecursionError:
        findings.error((), "too_deep", _too_deep())
        return None
    except ValueError as exc:
        strict_error = exc
    if len(text) > LIMIT_JSON5_BYTES:
        message = _("the document is not JSON (%(strict_error)s) and too large for JSON5: %(count)s kB") % {
            "strict_error": strict_error,
            "count": LIMIT_JSON5_BYTES // 1024,
        }
        findings.error((), "too_large_for_json5", message)
        return None
    try:
        raw = json5.loads(text, object_pairs_hook=_pairs)
    except RecursionError:
        findings.error((), "too_deep", _too_deep())
        return None
    except ValueError as exc:
        findings.error((), "syntax", _syntax_message(str(exc), text))
        return None
    _note_comments(text, findings)
    return raw


def _too_deep() -> str:
    return _("the document nests more than %(limit)s levels") % {"limit": LIMIT_DEPTH}


def _syntax_message(message: str, text: str) -> str:
    if not text.strip():
        return _("the document is empty")
    return _("the document is not JSON5: %(message)s") % {"message": re.sub(r"^<string>:(\d+) ", r"line \1, ", message)}


def _note_comments(text: str, findings: Findings) -> None:
    tokens = _COMMENT_OR_STRING.finditer(text)
    lines = [text.count("\n", 0, token.start()) + 1 for token in tokens if token.lastgroup == "comment"]
    if lines:
        shown = ", ".join(str(line) for line in lines[:5]) + (", …" if len(lines) > 5 else "")
        findings.info(
            (),
            "comments_dropped",
            _("comments do not survive an export: %(count)s, on lines %(shown)s")
            % {"count": len(lines), "shown": shown},
        )


def _plain(value: Any, path: Path, findings: Findings) -> Any:
    if len(path) > LIMIT_DEPTH:
        findings.error(path[:4], "too_deep", _too_deep())
        return None
    if isinstance(value, dict):
        return _plain_object(value, path, findings)
    if isinstance(value, list):
        return [_plain(item, (*path, index), findings) for index, item in enumerate(value)]
    if isinstance(value, str):
        _check_text(value, path, findings)
    elif isinstance(value, float) and not math.isfinite(value):
        findings.error(path, "not_a_number", _("`%(value)s` cannot be written as JSON") % {"value": value})
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53 - 1:
        findings.error(path, "number_too_large", _("`%(value)s` is not exact in JSON") % {"value": value})
    return value


def _plain_object(members: dict[str, Any], path: Path, findings: Findings) -> dict[str, Any]:
    for key in getattr(members, "twice", ()):
        findings.error((*path, key), "duplicate_key", _("the key `%(key)s` stands here twice") % {"key": key})
    for key in members:
        _check_text(key, (*path, key), findings)
    return {key: _plain(members[key], (*path, key), findings) for key in _in_script_order(members)}


def _in_script_order(keys: Iterable[str]) -> Iterator[str]:
    keys = list(keys)
    indexes = [key for key in keys if _is_index(key)]
    if not indexes:
        yield from keys
        return
    yield from sorted(indexes, key=int)
    yield from (key for key in keys if not _is_index(key))


def _is_index(key: str) -> bool:
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _LARGEST_INDEX


def _check_text(text: str, path: Path, findings: Findings) -> None:
    if "\0" in text:
        findings.error(path, "bad_character", _("a text holds a NUL character"))
    elif not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        findings.error(path, "bad_character", _("a text holds half a surrogate pair"))
