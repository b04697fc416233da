"""Adapter of the area `params`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.tools.aliases import file_tool_params, with_aliases
from apps.firewall.tools.readers import (
    read_number_param,
    read_string_array_param,
    read_string_or_number_param,
    read_string_param,
)


def execute(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `execute`."""
    return {"params": file_tool_params(given["tool"], given["params"], release=dialect.release)}


def schema_patch(_dialect: Dialect, given: Mapping[str, Any]) -> Any:
    """Answer `schema_patch_2026_2`."""
    return with_aliases(given["schema"])


def read_string(_dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readStringParam`."""
    return {"value": read_string_param(given["params"], given["key"], **given["options"])}


def read_number(_dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readNumberParam`."""
    return {"value": read_number_param(given["params"], given["key"], **given["options"])}


def read_string_array(_dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readStringArrayParam`."""
    return {"value": read_string_array_param(given["params"], given["key"], **given["options"])}


def read_string_or_number(_dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `readStringOrNumberParam`."""
    return {"value": read_string_or_number_param(given["params"], given["key"], **given["options"])}
