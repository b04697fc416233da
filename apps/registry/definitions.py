"""Tool definitions that come from outside: read, checked, every mistake with its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.registry.errors import ToolInvalidError

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
NAME_RULE = gettext_lazy(
    "use at most 128 letters, digits and `_ . : / -`, and start with a letter, digit or underscore"
)
OPEN_SCHEMA: dict[str, Any] = {"type": "object", "additionalProperties": True}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """One tool as its author describes it. `params_schema` is a JSON Schema with an object at its root."""

    name: str
    label: str = ""
    description: str = ""
    section: str = ""
    params_schema: Mapping[str, Any] = field(default_factory=lambda: dict(OPEN_SCHEMA))
    owner_only: bool = False
    sensitive_fields: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "ToolDefinition":
        """Read a definition as MCP servers and plugins write it (`inputSchema` or `parameters`).

        Raises:
            ToolInvalidError: a member has the wrong type.
        """
        schema = document.get("params_schema", document.get("inputSchema", document.get("parameters")))
        texts = {
            key: "" if document.get(key) is None else document[key]
            for key in ("name", "label", "description", "section")
        }
        wrong = [key for key, value in texts.items() if not isinstance(value, str)]
        if schema is not None and not isinstance(schema, Mapping):
            wrong.append("params_schema")
        if wrong:
            details = [{"path": key, "code": "bad_type", "message": _("wrong type")} for key in wrong]
            raise ToolInvalidError(
                _("a tool definition has members of the wrong type: %(names)s") % {"names": ", ".join(wrong)}, details
            )
        return cls(
            name=texts["name"],
            label=texts["label"],
            description=texts["description"],
            section=texts["section"],
            params_schema=OPEN_SCHEMA if schema is None else schema,
            owner_only=document.get("owner_only", document.get("ownerOnly")) is True,
        )


def definition_mistakes(definition: ToolDefinition, *, path: str = "") -> list[dict[str, str]]:
    """List what is wrong with a definition, as details of an error.

    Args:
        path: where the definition stands in what the caller was given, for example `tools[3].`.
    """
    mistakes = []
    if not NAME.fullmatch(definition.name):
        mistakes.append({"path": f"{path}name", "code": "bad_name", "message": str(NAME_RULE)})
    if definition.params_schema.get("type") != "object":
        mistakes.append(
            {
                "path": f"{path}params_schema",
                "code": "not_an_object",
                "message": _("the schema must describe an object"),
            }
        )
    try:
        jsonschema_rs.meta.validate(dict(definition.params_schema))
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as exc:
        reason = getattr(exc, "message", str(exc))
        mistakes.append({"path": f"{path}params_schema", "code": "bad_schema", "message": reason[:500]})
    return mistakes


def raise_mistakes(definitions: Sequence[ToolDefinition]) -> None:
    """Check definitions together: each alone, and that no two share a name in any case.

    Raises:
        ToolInvalidError: with every mistake of all of them.
    """
    mistakes: list[dict[str, str]] = []
    seen: dict[str, int] = {}
    for index, definition in enumerate(definitions):
        path = f"tools[{index}]." if len(definitions) > 1 else ""
        mistakes += definition_mistakes(definition, path=path)
        key = definition.name.lower()
        if key in seen:
            mistakes.append(
                {
                    "path": f"{path}name",
                    "code": "twice",
                    "message": _("the same name as tools[%(number)s]") % {"number": seen[key]},
                }
            )
        seen.setdefault(key, index)
    if mistakes:
        raise ToolInvalidError(_("the tool definition is not valid: see details"), mistakes)
