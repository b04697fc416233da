"""Values that models write in the wrong type, where their meaning is certain and nothing is lost.

What has one of the types that its schema wants is never touched. A text that stands for no number exactly, such as
`3.7` for an integer or more digits than a number keeps, stays a text, and the schema refuses it.
Source: description 000, 2.2 "type conversion", without its conversions that lose something.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

NOTHING: Final = object()
"""What a coercion gives that is not possible."""

NUMBER_CHARACTERS: Final = 400
LARGEST_EXPONENT: Final = 308
DEPTH_LIMIT: Final = 64
SPLIT_LIMIT: Final = 1000
BLANKS: Final = " \t\r\n"

_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?", re.ASCII)
_TRUTHS: Final = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_SEPARATORS: Final = (",", ";")


class _LossyError(ValueError):
    """A JSON text says something that its value would not."""


def _decimal(text: str) -> Decimal | None:
    text = text.strip(BLANKS)
    if len(text) > NUMBER_CHARACTERS or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return number if not number or abs(number.adjusted()) <= LARGEST_EXPONENT else None


def _exact(number: Decimal) -> int | float | None:
    """Give the number as JSON has it; None when a number of the machine would be another one."""
    if number == number.to_integral_value():
        return int(number)
    near = float(number)
    return near if math.isfinite(near) and Decimal(repr(near)) == number else None


def to_integer(value: Any) -> Any:
    number = _decimal(value) if isinstance(value, str) else None
    if number is None or number != number.to_integral_value():
        return NOTHING
    return int(number)


def to_number(value: Any) -> Any:
    number = _decimal(value) if isinstance(value, str) else None
    exact = None if number is None else _exact(number)
    return NOTHING if exact is None else exact


def to_boolean(value: Any) -> Any:
    if isinstance(value, str):
        return _TRUTHS.get(value.strip(BLANKS).lower(), NOTHING)
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    return NOTHING


def to_string(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return NOTHING
    if isinstance(value, float) and not math.isfinite(value):
        return NOTHING
    return json.dumps(value)


def to_array(value: Any) -> Any:
    """Read a JSON list, or split at commas, else at semicolons; a text of very many parts is no list."""
    if not isinstance(value, str):
        return NOTHING
    if value.lstrip(BLANKS).startswith("["):
        return _of_json(value, list)
    for separator in _SEPARATORS:
        if 0 < value.count(separator) < SPLIT_LIMIT:
            return [part.strip(BLANKS) for part in value.split(separator)]
    return NOTHING


def to_object(value: Any) -> Any:
    return _of_json(value, dict) if isinstance(value, str) and value.lstrip(BLANKS).startswith("{") else NOTHING


COERCIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "integer": to_integer,
    "number": to_number,
    "boolean": to_boolean,
    "object": to_object,
    "array": to_array,
    "string": to_string,
}
"""Type -> what makes it; of several types the first that is possible."""


def coerce(value: Any, types: Iterable[str]) -> Any:
    """Make a value of one of the types.

    Args:
        types: names of types in JSON Schema; the value has none of them.
    Returns:
        The value, or `NOTHING`.
    """
    wanted = set(types)
    for name, make in COERCIONS.items():
        if name in wanted:
            made = make(value)
            if made is not NOTHING:
                return made
    return NOTHING


def coerce_to_one_of(value: Any, options: Iterable[Any]) -> Any:
    """Make a value that is one of the options, for a schema that lists values and states no type."""
    for option in options:
        made = coerce(value, (_type_of(option),))
        if made is not NOTHING and made == option and _type_of(made) == _type_of(option):
            return made
    return NOTHING


def _type_of(value: Any) -> str:
    for kind, name in ((bool, "boolean"), (str, "string"), (int | float, "number"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name
    return "null"


def _of_json(text: str, kind: type) -> Any:
    try:
        value = json.loads(text, parse_float=_number_of_json, parse_constant=_refuse, object_pairs_hook=_object_of_json)
        text.encode()
        json.dumps(value, ensure_ascii=False).encode()  # an escaped half of a character is no text
    except (ValueError, RecursionError):
        return NOTHING
    return value if isinstance(value, kind) and _depth_is_bounded(value) else NOTHING


def _number_of_json(text: str) -> int | float:
    number = _decimal(text)
    exact = None if number is None else _exact(number)
    if exact is None:
        raise _LossyError(text)
    return float(exact)


def _refuse(text: str) -> Any:
    raise _LossyError(text)


def _object_of_json(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _LossyError("a member is given twice")
    return made


def _depth_is_bounded(value: Any) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return True
    return False
