"""Looking for tools: filters, how many fall under each, one page after the other."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from apps.registry.models import Environment, Tool, ToolState

PAGE: Final = 50
TEXT_LIMIT: Final = 200
_COLUMNS: Final = {"source": "source", "section": "section", "state": "state", "plugin": "plugin__key"}

_MORE: Final = {"server": "server_name", "found_by": "discovery_source__key"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFilters:
    """What to look for; an empty member filters nothing. Unregistered tools are found by their state only.

    Args:
        q: letters of the name, the label or the description.
        plugin: its key.
        server: name of an MCP server.
        found_by: key of the discovery source that brought it.
        names: nothing but these tools; None for any.
    """

    q: str = ""
    source: str = ""
    section: str = ""
    state: str = ""
    plugin: str = ""
    server: str = ""
    found_by: str = ""
    names: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class ToolPage:
    """Tools in the order of the catalogue; `after` and `before` are cursors, empty where nothing follows."""

    rows: tuple[Tool, ...]
    after: str
    before: str
    total: int


def tools_search(
    environment: Environment,
    filters: ToolFilters,
    *,
    without: Collection[str] = (),
    after: str = "",
    before: str = "",
    limit: int = PAGE,
) -> ToolPage:
    """Find tools.

    Args:
        without: names that are left out.
        after, before: a cursor of another page; one that cannot be read is the beginning.
    """
    found = _filtered(environment, filters).exclude(name__in=list(without))
    total = found.count()
    is_back = bool(before) and not after
    place = _place(before if is_back else after)
    rows = found.select_related("plugin")
    if place is not None:
        rows = rows.filter(_beyond(*place, is_back=is_back))
    order = ("-position", "-name") if is_back else ("position", "name")
    taken = list(rows.order_by(*order)[: limit + 1])
    has_more, taken = len(taken) > limit, taken[:limit]
    if is_back:
        taken.reverse()
    has_next = has_more or is_back
    has_previous = has_more if is_back else place is not None
    return ToolPage(
        rows=tuple(taken),
        after=_cursor(taken[-1]) if taken and has_next else "",
        before=_cursor(taken[0]) if taken and has_previous else "",
        total=total,
    )


def tool_facets(environment: Environment) -> dict[str, list[tuple[str, int]]]:
    """Count the tools by source, section, state and plugin; only the states count what is gone."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in _COLUMNS}
    for values in Tool.objects.filter(environment=environment).values_list(*_COLUMNS.values()):
        row = dict(zip(_COLUMNS, values, strict=True))
        is_gone = row["state"] == ToolState.UNREGISTERED
        for name, value in row.items():
            if value and (name == "state" or not is_gone):
                counts[name][value] += 1
    return {name: sorted(counter.items()) for name, counter in counts.items()}


def _filtered(environment: Environment, filters: ToolFilters) -> QuerySet[Tool]:
    found = Tool.objects.filter(environment=environment)
    if filters.state:
        found = found.filter(state=filters.state)
    else:
        found = found.exclude(state=ToolState.UNREGISTERED)
    for name, column in (*_COLUMNS.items(), *_MORE.items()):
        wanted = getattr(filters, name)
        if wanted and name != "state":
            found = found.filter(**{column: wanted})
    if filters.q:
        text = filters.q[:TEXT_LIMIT].replace("\0", "")
        found = found.filter(Q(name__icontains=text) | Q(label__icontains=text) | Q(description__icontains=text))
    if filters.names is not None:
        found = found.filter(name__in=list(filters.names))
    return found


def _beyond(position: int, name: str, *, is_back: bool) -> Q:
    if is_back:
        return Q(position__lt=position) | Q(position=position, name__lt=name)
    return Q(position__gt=position) | Q(position=position, name__gt=name)


def _cursor(tool: Tool) -> str:
    return f"{tool.position}~{tool.name}"


def _place(cursor: str) -> tuple[int, str] | None:
    position, mark, name = cursor.partition("~")
    if not mark or not (position.isascii() and position.isdigit()) or len(position) > 9 or "\0" in name:
        return None
    return int(position), name
