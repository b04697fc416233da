"""What authors of tools import: `from openclaw_admin.tools import tool, BaseTool, json_result, …` (docs/tools.md).

`ToolRegistry` comes when it is asked for: tools that run in a process of their own do without what it needs.
"""

from typing import TYPE_CHECKING, Any

from apps.firewall.tools.authoring.base import BaseTool
from apps.firewall.tools.authoring.context import ToolContext
from apps.firewall.tools.authoring.decorator import tool, tool_factory
from apps.firewall.tools.authoring.errors import ToolError
from apps.firewall.tools.authoring.formats import format_check
from apps.firewall.tools.readers import (
    ToolAuthorizationError,
    ToolInputError,
    read_number_param,
    read_string_array_param,
    read_string_or_number_param,
    read_string_param,
)
from apps.firewall.tools.results import (
    file_result,
    file_result_from_file,
    image_result,
    image_result_from_file,
    json_result,
    string_enum,
    text_result,
)

if TYPE_CHECKING:
    from apps.firewall.tools.authoring.registry import ToolRegistry

__all__ = [
    "BaseTool",
    "ToolAuthorizationError",
    "ToolContext",
    "ToolError",
    "ToolInputError",
    "ToolRegistry",
    "file_result",
    "file_result_from_file",
    "format_check",
    "image_result",
    "image_result_from_file",
    "json_result",
    "read_number_param",
    "read_string_array_param",
    "read_string_or_number_param",
    "read_string_param",
    "string_enum",
    "text_result",
    "tool",
    "tool_factory",
]


def __getattr__(name: str) -> Any:
    if name != "ToolRegistry":
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
    from apps.firewall.tools.authoring.registry import ToolRegistry

    return ToolRegistry
