"""Values as JavaScript sees them: the recordings come from there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

_EXACT: Final = 2**53


def is_truthy(value: Any) -> bool:
    """Say whether a value counts as true: every object and list does, even an empty one."""
    return isinstance(value, dict | list) or bool(value)


def members(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object; a list has its positions as names."""
    if isinstance(value, dict):
        yield from value.items()
    else:
        yield from ((str(index), member) for index, member in enumerate(value))


def type_word(value: Any) -> str:
    """Name the kind of a value: `string`, `number`, `boolean`, or `object` for all others, null included."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "object"


def unique(values: Iterable[Any]) -> list[Any]:
    """Drop repetitions; objects and lists are equal only to themselves."""
    kept: dict[Any, Any] = {}
    for value in values:
        key = ("object", id(value)) if isinstance(value, dict | list) else (type_word(value), value)
        kept.setdefault(key, value)
    return list(kept.values())


def enum_text(value: Any) -> str | None:
    """Write a text, number or boolean as text; None for what is none of these."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, int | float) else None


def number_text(number: float) -> str | None:
    """Write a number the shortest way that gives it back; None for one that is not finite."""
    if isinstance(number, int) and abs(number) <= _EXACT:
        return str(number)
    try:
        number = float(number)
    except OverflowError:
        return None
    if number != number or number in (float("inf"), float("-inf")):
        return None
    digits, exponent = _digits(number)
    sign = "-" if number < 0 else ""
    return sign + _placed(digits, exponent)


def _digits(number: float) -> tuple[str, int]:
    """Return the significant digits, and where the point stands: 12.5 is (`125`, 2)."""
    mantissa, _, exponent = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    shift = int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", len(whole) + shift - leading


def _placed(digits: str, point: int) -> str:
    if digits == "0":
        return "0"
    if len(digits) <= point <= 21:
        return digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    exponent = point - 1
    mantissa = digits[0] + (f".{digits[1:]}" if len(digits) > 1 else "")
    return f"{mantissa}e{'+' if exponent >= 0 else '-'}{abs(exponent)}"


def with_annotations(source: Mapping[str, Any], target: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Lay annotations of one schema over another, in place."""
    for name in names:
        if name in source:
            target[name] = source[name]
    return target
