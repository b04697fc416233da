"""A tool as search knows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

JsonObject: TypeAlias = Mapping[str, Any]
Source: TypeAlias = Literal["core", "plugin", "mcp", "client"]
SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptor:
    """One tool of a catalogue.

    Args:
        id: `core:read`, `plugin:<plugin>:<name>`, `mcp:<server>:<tool>` or `client:<name>`; one in the catalogue.
        name: the policy name, under which it is called.
        parameters: its JSON Schema.
        output: the JSON Schema of its result; None when its author promises nothing.
        is_trusted: somebody here answers for its words. Of the others, schemas are neither indexed nor summed up.
    """

    id: str
    name: str
    source: Source
    label: str = ""
    description: str = ""
    section: str = ""
    parameters: JsonObject
    output: JsonObject | None = None
    is_trusted: bool = True
