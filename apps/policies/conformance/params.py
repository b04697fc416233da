"""Adapter of the area `params`."""

from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.tools.aliases import file_tool_params, with_aliases
from apps.firewall.tools.readers import (
    read_number_param,
    read_string_array_param,
    read_string_or_number_param,
    read_string_param,
)

# An option of a recorded row -> the same option of our readers, where its name differs.
_OPTIONS: Final = {"allowEmpty": "allow_empty"}
# The older release takes no number strictly: it passes over the option.
_PASSED_OVER: Final = {"2026.9": frozenset[str](), "2026.2": frozenset({"strict"})}


def execute(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `execute`."""
    return {"params": file_tool_params(given["tool"], given["params"], release=dialect.release)}


def schema_patch(_dialect: Dialect, given: Mapping[str, Any]) -> Any:
    """Answer `schema_patch_2026_2`."""
    return with_aliases(given["schema"])


def read_string(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readStringParam`."""
    return {"value": read_string_param(given["params"], given["key"], **_options(dialect, given))}


def read_number(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readNumberParam`."""
    return {"value": read_number_param(given["params"], given["key"], **_options(dialect, given))}


def read_string_array(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readStringArrayParam`."""
    return {"value": read_string_array_param(given["params"], given["key"], **_options(dialect, given))}


def read_string_or_number(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readStringOrNumberParam`."""
    return {"value": read_string_or_number_param(given["params"], given["key"], **_options(dialect, given))}


def _options(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    options = given["options"].items()
    passed_over = _PASSED_OVER[dialect.release]
    return {_OPTIONS.get(name, name): value for name, value in options if name not in passed_over}
