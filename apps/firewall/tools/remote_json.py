"""JSON that a stranger sent, read within limits."""

from typing import Any, Final

import orjson

from apps.firewall.errors import FirewallError

DEPTH_LIMIT: Final = 64


class JsonRefusedError(FirewallError):
    """Bytes that are no JSON, or are nested too deep to be walked through."""

    code = "json_refused"


def read_json(body: bytes) -> Any:
    """Read a JSON document.

    Raises:
        JsonRefusedError.
    """
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        raise JsonRefusedError(f"it is no JSON: {str(exc)[:200]}") from exc
    level = [document]
    for _ in range(DEPTH_LIMIT):
        level = [inner for value in level if isinstance(value, dict | list) for inner in _inside(value)]
        if not level:
            return document
    raise JsonRefusedError(f"it is nested deeper than {DEPTH_LIMIT} levels")


def plain_text(value: object, limit: int) -> str:
    """Give a stranger's text with what cannot be stored or shown replaced, cut to a length; empty for no text."""
    if not isinstance(value, str):
        return ""
    return "".join(letter if letter.isprintable() or letter == "\n" else "�" for letter in value[:limit])


def _inside(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
