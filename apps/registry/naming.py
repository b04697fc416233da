"""Tools, plugins and tool groups by a part of their name."""

from dataclasses import dataclass
from typing import Any, Final, Literal

from django.db.models import CharField, F, Value

from apps.registry.models import Environment, Plugin, ToolGroup
from apps.registry.selectors import tools_of
from apps.rows import named

LIMIT: Final = 6


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A tool, plugin or tool group whose name holds a text; `beside` is its label, `rank` where the text stands."""

    kind: Literal["tool", "plugin", "tool_group"]
    name: str
    beside: str
    rank: int


def catalogue_named(environment: Environment, text: str, *, limit: int = LIMIT) -> list[NamedPart]:
    """Find tools, plugins and tool groups whose name holds a text, in one query; of each kind at most `limit`."""
    if not text:
        return []
    parts: tuple[tuple[str, Any, str, str | None], ...] = (
        ("tool", tools_of(environment).select_related(None), "name", "label"),
        ("plugin", Plugin.objects.filter(environment=environment), "key", "name"),
        ("tool_group", ToolGroup.objects.filter(environment=environment), "name", None),
    )
    first, *others = (
        named(rows, (name, label) if label else (name,), text)
        .annotate(
            kind=Value(kind, output_field=CharField()),
            called=F(name),
            beside=F(label) if label else Value("", output_field=CharField()),
        )
        .order_by("rank", name)
        .values_list("kind", "called", "beside", "rank")[:limit]
        for kind, rows, name, label in parts
    )
    return [NamedPart(*row) for row in first.union(*others, all=True)]
