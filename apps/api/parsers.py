"""JSON from programs, within bounds."""

from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

DEPTH_LIMIT = 64


class BoundedJSONParser(JSONParser):
    """JSON that is at most `DEPTH_LIMIT` levels deep; the size is bounded by the server and by Django."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            parsed: dict[str, Any] = super().parse(stream, media_type, parser_context)
        except RecursionError as exc:
            raise ParseError(f"the JSON is nested deeper than {DEPTH_LIMIT} levels") from exc
        if _is_deeper(parsed, DEPTH_LIMIT):
            raise ParseError(f"the JSON is nested deeper than {DEPTH_LIMIT} levels")
        return parsed


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True
