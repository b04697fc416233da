"""The whole definition of a tool as a snapshot holds it."""

from dataclasses import replace
from typing import Any

from apps.firewall.engine.source import ToolEntry
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.definition import OPEN_SCHEMA, Definition
from apps.firewall.tools.definition_json import read_definition

REMEMBERED = 8192

_read: dict[int, tuple[ToolEntry, Definition]] = {}
"""Identity of an entry -> the entry, kept so that no other can take its identity, and its definition."""


def definition_of(entry: ToolEntry) -> Definition:
    """Put a tool's entry and its traits together; each entry is read once, and none may change afterwards.

    The schema is taken as it is: whoever compares params with it says when it cannot be used.

    Raises:
        DefinitionInvalidError: the traits are none of a definition.
    """
    known = _read.get(id(entry))
    if known is not None:
        return known[1]
    made = _definition(entry)
    if len(_read) >= REMEMBERED:
        _read.clear()
    _read[id(entry)] = (entry, made)
    return made


def _definition(entry: ToolEntry) -> Definition:
    traits = read_definition({**_own_traits(entry), **(entry.traits or {}), "name": entry.name, "parameters": {}})
    return replace(
        traits,
        label=entry.label,
        description=entry.description,
        section=entry.section,
        owner_only=entry.owner_only,
        parameters=entry.params or dict(OPEN_SCHEMA),
        sensitive=tuple(dict.fromkeys((*entry.sensitive, *traits.sensitive))),
    )


def _own_traits(entry: ToolEntry) -> dict[str, Any]:
    """Say how the firewall's own tools run, where a snapshot was made without it."""
    own = BUILTINS.get(entry.name) if entry.plugin is None else None
    if own is None:
        return {}
    return {
        "execution_mode": own.definition.execution_mode,
        "result_limit": own.definition.result_limit,
        "sensitive": list(own.definition.sensitive),
    }
