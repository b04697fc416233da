"""What a tool returned, as the JSON object of a result."""

import json
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final
from uuid import UUID

from apps.firewall.tools.authoring.errors import ToolError

ANSWER_LIMIT_BYTES: Final = 8 * 1024 * 1024


def answer_text(value: Any) -> str:
    """Write what a tool returned as the JSON text of a result: an object as it is, anything else as its content.

    Raises:
        ToolError: it is no JSON, or larger than 8 MiB.
    """
    try:
        plain = value if isinstance(value, Mapping) else _plain(value)
    except TypeError as exc:
        raise ToolError(f"the result is no JSON: {exc}", code="result_not_json") from exc
    if plain is None:
        plain = {"content": []}
    elif isinstance(plain, str):
        plain = {"content": [{"type": "text", "text": plain}]}
    elif not isinstance(plain, Mapping):
        words = _written(plain)
        plain = {"content": [{"type": "text", "text": words}], "details": json.loads(words)}
    text = _written(plain)
    if len(text) > ANSWER_LIMIT_BYTES:
        raise ToolError(f"the result has {len(text)} bytes, {ANSWER_LIMIT_BYTES} are allowed", code="result_too_large")
    return text


def _written(value: Any) -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as exc:
        raise ToolError(f"the result is no JSON: {exc}", code="result_not_json") from exc


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal | UUID | PurePath):
        return str(value)
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    dump = getattr(value, "model_dump", None)  # of pydantic, which need not be loaded for this
    if callable(dump):
        return dump(mode="json")
    if value is None or isinstance(value, str | int | float | bool | list):
        return value
    raise TypeError(f"`{type(value).__name__}` cannot be written")
