"""What authors read their params with: forgiving in the ways that models need, and no other.

Standard library and the error tree only: these run inside a tool's own process.
Source: conformance README, `params` (`readStringParam` and the like).
"""

import math
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, Literal, overload

from apps.firewall.errors import FirewallError

_BLANKS: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f"
    "\u3000\ufeff"
)
_NUMBER_AT_START: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)
_TEXT_FROM: Final = 1e21
_EXPONENT_BELOW: Final = 1e-6


class ToolInputError(FirewallError):
    """A param is missing, or is one that the tool cannot do anything with."""

    code = "tool_input_invalid"


class ToolAuthorizationError(ToolInputError):
    """Whoever calls may not have done what is asked of the tool."""

    code = "tool_authorization_denied"


def trimmed(text: str) -> str:
    """Take white space off both ends, all that Unicode knows and the byte order mark."""
    return text.strip(_BLANKS)


def is_blank(text: str) -> bool:
    """Say whether a text holds white space only."""
    return not trimmed(text)


def _raw(params: Mapping[str, Any], key: str) -> Any:
    """Look a name up as it is, then with underscores: `userId`, then `user_id`."""
    if key in params:
        return params[key]
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", key)
    return params.get(re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", parted).lower())


def _missing(key: str, label: str, *, required: bool) -> None:
    if required:
        raise ToolInputError(f"{label or key} required")


@overload
def read_string_param(
    params: Mapping[str, Any],
    key: str,
    *,
    required: Literal[True],
    trim: bool = ...,
    allow_empty: bool = ...,
    label: str = ...,
) -> str: ...
@overload
def read_string_param(
    params: Mapping[str, Any],
    key: str,
    *,
    required: bool = ...,
    trim: bool = ...,
    allow_empty: bool = ...,
    label: str = ...,
) -> str | None: ...
def read_string_param(
    params: Mapping[str, Any],
    key: str,
    *,
    required: bool = False,
    trim: bool = True,
    allow_empty: bool = False,
    label: str = "",
) -> str | None:
    """Read a text.

    Args:
        key: also found under its name with underscores.
        allow_empty: an empty text counts, too, also one that is empty once it is trimmed.
        label: what the param is called in the error.
    Returns:
        The text; None when it is absent, no text, or empty where that does not count.
    Raises:
        ToolInputError: it is required and not there.
    """
    raw = _raw(params, key)
    if isinstance(raw, str):
        text = trimmed(raw) if trim else raw
        if text or allow_empty:
            return text
    _missing(key, label, required=required)
    return None


@overload
def read_number_param(
    params: Mapping[str, Any],
    key: str,
    *,
    required: Literal[True],
    integer: bool = ...,
    strict: bool = ...,
    label: str = ...,
) -> int | float: ...
@overload
def read_number_param(
    params: Mapping[str, Any],
    key: str,
    *,
    required: bool = ...,
    integer: bool = ...,
    strict: bool = ...,
    label: str = ...,
) -> int | float | None: ...
def read_number_param(
    params: Mapping[str, Any],
    key: str,
    *,
    required: bool = False,
    integer: bool = False,
    strict: bool = False,
    label: str = "",
) -> int | float | None:
    """Read a number, also one at the start of a text.

    Args:
        integer: what follows the point is cut off.
        strict: a text must be a number as a whole: `12.5abc` and `1,5` are none.
    Raises:
        ToolInputError: it is required and not there.
    """
    raw = _raw(params, key)
    number: int | float | None = None
    if isinstance(raw, str):
        found = (_NUMBER_AT_START.fullmatch if strict else _NUMBER_AT_START.match)(trimmed(raw))
        number = float(found[0]) if found is not None else None
    elif isinstance(raw, int | float) and not isinstance(raw, bool):
        number = raw
    if number is None or not _is_finite(number):
        _missing(key, label, required=required)
        return None
    return math.trunc(number) if integer or number == math.trunc(number) else number


@overload
def read_string_array_param(
    params: Mapping[str, Any], key: str, *, required: Literal[True], label: str = ...
) -> list[str]: ...
@overload
def read_string_array_param(
    params: Mapping[str, Any], key: str, *, required: bool = ..., label: str = ...
) -> list[str] | None: ...
def read_string_array_param(
    params: Mapping[str, Any], key: str, *, required: bool = False, label: str = ""
) -> list[str] | None:
    """Read a list of texts, or one text as a list of one; what is blank or no text is passed over.

    Raises:
        ToolInputError: it is required and nothing is left.
    """
    raw = _raw(params, key)
    given = raw if isinstance(raw, list) else [raw]
    texts = [text for each in given if isinstance(each, str) and (text := trimmed(each))]
    if texts:
        return texts
    _missing(key, label, required=required)
    return None


@overload
def read_string_or_number_param(
    params: Mapping[str, Any], key: str, *, required: Literal[True], label: str = ...
) -> str: ...
@overload
def read_string_or_number_param(
    params: Mapping[str, Any], key: str, *, required: bool = ..., label: str = ...
) -> str | None: ...
def read_string_or_number_param(
    params: Mapping[str, Any], key: str, *, required: bool = False, label: str = ""
) -> str | None:
    """Read an identifier that may come as a text or as a number; it is a text either way.

    Raises:
        ToolInputError: it is required and not there.
    """
    raw = _raw(params, key)
    if isinstance(raw, int | float) and not isinstance(raw, bool) and _is_finite(raw):
        return number_text(raw)
    text = trimmed(raw) if isinstance(raw, str) else ""
    if text:
        return text
    _missing(key, label, required=required)
    return None


def _is_finite(number: int | float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def number_text(number: int | float) -> str:
    """Write a number as JavaScript does: `5` for `5.0`, `0.00001` without exponent; whole numbers keep all digits."""
    if isinstance(number, int):
        return str(number)
    if number == math.trunc(number) and abs(number) < _TEXT_FROM:
        return str(math.trunc(number))
    if _EXPONENT_BELOW <= abs(number) < _TEXT_FROM:
        return f"{Decimal(repr(number)):f}"
    mantissa, _, exponent = repr(number).partition("e")
    power = int(exponent)
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"
