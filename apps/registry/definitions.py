"""Definitions and rows: what of a definition stands in which column, and what identifies an accepted one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.tools.definition import Definition, JsonObject, schema_digest
from apps.firewall.tools.definition_json import Problem, definition_json, definition_problems, read_definition
from apps.firewall.tools.executors import ToolExecutor, executor_json
from apps.registry.errors import ToolInvalidError
from apps.registry.models import Tool

COLUMNS: Final[Mapping[str, str]] = {
    "name": "name",
    "label": "label",
    "description": "description",
    "section": "section",
    "parameters": "params_schema",
    "owner_only": "owner_only",
    "sensitive": "sensitive_fields",
}
"""Member of a definition -> column. Every other member stands in `traits`."""

LIMITS: Final[Mapping[str, int]] = {"label": 200, "section": 64}


def definition_fields(definition: Definition) -> dict[str, Any]:
    """Spread a definition over the columns of a row."""
    members = definition_json(definition)
    fields: dict[str, Any] = {
        "name": definition.name,
        "label": definition.label[: LIMITS["label"]],
        "description": definition.description,
        "section": definition.section[: LIMITS["section"]],
        "params_schema": dict(definition.parameters),
        "owner_only": definition.owner_only,
        "sensitive_fields": list(definition.sensitive),
    }
    return fields | {"traits": {name: value for name, value in members.items() if name not in COLUMNS}}


def tool_definition(tool: Tool) -> Definition:
    """Put a row's definition together again.

    Raises:
        DefinitionInvalidError: somebody wrote to the row past the services.
    """
    return read_definition({**tool.traits, **{member: getattr(tool, column) for member, column in COLUMNS.items()}})


def pinned_json(definition: Definition, executor: ToolExecutor | Mapping[str, Any] | None) -> dict[str, Any]:
    """Write what an admin accepts: the definition, and what runs it."""
    pinned = definition_json(definition)
    if executor:
        pinned["executor"] = dict(executor) if isinstance(executor, Mapping) else executor_json(executor)
    return pinned


def tool_pinned(tool: Tool) -> dict[str, Any]:
    """Write what was accepted of a tool."""
    return pinned_json(tool_definition(tool), tool.executor)


def pinned_digest(pinned: JsonObject) -> str:
    """Identify what was accepted: SHA-256 in hex, the same for any order of keys."""
    return schema_digest(pinned)


def raise_mistakes(definitions: Sequence[Definition]) -> None:
    """Check definitions together: each alone, and that no two share a name in any case.

    Raises:
        ToolInvalidError: with every mistake of all of them.
    """
    mistakes: list[Problem] = []
    seen: dict[str, int] = {}
    for index, definition in enumerate(definitions):
        path = f"tools[{index}]." if len(definitions) > 1 else ""
        mistakes += definition_problems(definition, path=path)
        key = definition.name.lower()
        if key in seen:
            same = _("the same name as tools[%(number)s]") % {"number": seen[key]}
            mistakes.append({"path": f"{path}name", "code": "twice", "message": same})
        seen.setdefault(key, index)
    if mistakes:
        raise ToolInvalidError(_("the tool definition is not valid: see details"), mistakes)
