"""Definitions and rows: what of a definition stands in which column, and what identifies an accepted one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.tools.definition import Definition, JsonObject, schema_digest
from apps.firewall.tools.definition_json import Problem, definition_json, definition_problems, read_definition
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """What an admin accepts of a tool: what it says, what runs it, who brings it, and whether it is optional."""

    definition: Definition
    executor: Mapping[str, Any] = field(default_factory=dict)
    plugin: str = ""
    is_optional: bool = False

    def to_json(self) -> dict[str, Any]:
        """Write it; the digest is taken of this."""
        pinned = definition_json(self.definition)
        if self.executor:
            pinned["executor"] = dict(self.executor)
        if self.plugin:
            pinned["plugin"] = self.plugin
        if self.is_optional:
            pinned["optional"] = True
        return pinned

    @property
    def digest(self) -> str:
        """Identify it: SHA-256 in hex, the same for any order of keys."""
        return schema_digest(self.to_json())


def read_pinned(document: JsonObject) -> Pinned:
    """Read what `Pinned.to_json` wrote.

    Raises:
        DefinitionInvalidError: it holds no definition.
    """
    return Pinned(
        definition=read_definition(document),
        executor=document.get("executor", {}),
        plugin=document.get("plugin", ""),
        is_optional=document.get("optional", False),
    )


def tool_pinned(tool: Tool) -> Pinned:
    """Give what a row says.

    Raises:
        DefinitionInvalidError: as `tool_definition`.
    """
    return Pinned(
        definition=tool_definition(tool),
        executor=tool.executor,
        plugin="" if tool.plugin is None else tool.plugin.key,
        is_optional=tool.is_optional,
    )


def as_strict(document: JsonObject, tool: Tool) -> dict[str, Any]:
    """Write a definition that a source brings, as strict as admins have made the row: a source never loosens that."""
    strict = dict(document)
    if tool.owner_only:
        strict["owner_only"] = True
    sensitive = list(dict.fromkeys((*document.get("sensitive", ()), *tool.sensitive_fields)))
    if sensitive:
        strict["sensitive"] = sensitive
    successor = tool.traits.get("successor", "")
    if successor and "successor" not in strict:
        strict["successor"] = successor
    return strict


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
