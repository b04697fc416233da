"""JSON whose numbers are kept as they were sent, or refused with their places: none is changed in silence.

What is kept: whole numbers of 64 bits (from -2^63 to 2^64-1), and decimals that a double writes back as they were.
"""

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import orjson

from apps.firewall.errors import FirewallError

LEAST: Final = -(2**63)
MOST: Final = 2**64 - 1
DIGITS: Final = 20
PLACES_LIMIT: Final = 50
_OTHER: Final = b" "
_LETTERS: Final = bytes(_OTHER[0] if chr(each) not in "0123456789.eE+-" else ord("0") for each in range(256))
_EXPONENTS: Final = bytes.maketrans(b"0123456789.E+", b"00000000000e-")
_LONG: Final = b"0" * 16


class NumberInexactError(FirewallError):
    """JSON holds numbers that could not be kept as they are; `details` names the place of each."""

    code = "number_inexact"

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__("; ".join(each["message"] for each in details))
        self.details = details


class _Inexact:
    """A number that cannot be kept, and why."""

    def __init__(self, problem: str) -> None:
        self.problem = problem


def read_json(text: bytes | str) -> Any:
    """Read JSON.

    Raises:
        ValueError: it is none.
        NumberInexactError: a number of it could not be kept.
    """
    try:
        value = orjson.loads(text)
    except ValueError:
        _check_refused(text)
        raise
    check_numbers(text)
    return value


def _check_refused(text: bytes | str) -> None:
    """Name the place of a number that is too large for any double: it alone may be why the text could not be read."""
    try:
        check_numbers(text)
    except ValueError:
        return


def check_numbers(text: bytes | str) -> None:
    """Refuse JSON, which was found to be some, with numbers that could not be kept.

    Raises:
        NumberInexactError: it names the place of each.
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if not _is_suspect(data):
        return
    try:
        exact = json.loads(data, parse_int=_whole, parse_float=_decimal)
        places = [each for _, each in zip(range(PLACES_LIMIT), _inexact(exact, ""), strict=False)]
    except RecursionError:
        return  # deeper than any door takes: who reads it says so
    if places:
        raise NumberInexactError(places)


def _is_suspect(data: bytes) -> bool:
    """Say whether JSON may hold a number that could be changed: one of 16 letters, or with an exponent of two.

    Most bodies hold none, and are told so in a microsecond.
    """
    if _LONG in data.translate(_LETTERS):
        return True
    if b"e" not in data and b"E" not in data:
        return False
    shapes = data.translate(_EXPONENTS)
    return b"0e00" in shapes or b"0e-00" in shapes


def _whole(text: str) -> int | _Inexact:
    if len(text.lstrip("-")) <= DIGITS and LEAST <= int(text) <= MOST:
        return int(text)
    return _Inexact(f"is a whole number beyond 64 bits (from {LEAST} to {MOST}): send it as a text")


def _decimal(text: str) -> float | _Inexact:
    number = float(text)
    try:
        is_kept = Decimal(text) == Decimal(repr(number))
    except InvalidOperation:
        is_kept = False
    return number if is_kept else _Inexact("is a number with more digits, or larger, than are kept: send it as a text")


def _inexact(value: Any, place: str) -> Iterator[dict[str, str]]:
    if isinstance(value, _Inexact):
        yield {"path": place, "code": NumberInexactError.code, "message": f"`{place}` {value.problem}"}
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _inexact(inner, f"{place}.{name}" if place else name)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _inexact(inner, f"{place}[{number}]")
