"""JSON from programs, within bounds."""

import io
from collections.abc import Mapping
from typing import Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from apps.api.errors import RequestInvalidError
from apps.firewall.tools.numbers import NumberInexactError, check_numbers
from apps.texts import check_value

DEPTH_LIMIT = 64


class BoundedJSONParser(JSONParser):
    """JSON that is at most `DEPTH_LIMIT` levels deep and whose texts can be stored; the server bounds its size."""

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        body = stream.read()
        try:
            parsed: dict[str, Any] = super().parse(io.BytesIO(body), media_type, parser_context)
            check_numbers(body)
        except NumberInexactError as exc:
            raise RequestInvalidError(exc.details) from exc
        except RecursionError as exc:
            raise ParseError(f"the JSON is nested deeper than {DEPTH_LIMIT} levels") from exc
        if _is_deeper(parsed, DEPTH_LIMIT):
            raise ParseError(f"the JSON is nested deeper than {DEPTH_LIMIT} levels")
        check_value(parsed)
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
