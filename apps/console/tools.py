"""What the list of tools shows: rows with their figures, the choices of its filters."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from django.core.cache import cache
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.audit.figures import Span, ToolFigures, tool_figures
from apps.console.sparks import Spark, spark_of
from apps.console.tool_reach import Reach
from apps.console.tool_words import Word, marks_of, origin_of, section_label, source_word, state_word
from apps.registry.tool_search import TEXT_LIMIT, ToolFilters, ToolPage, tool_facets, tools_search

if TYPE_CHECKING:
    from apps.registry.models import Environment, Tool

SPAN: Final = timedelta(days=7)
FIGURES_FRESH_S: Final = 20
NOBODY: Final = "-nobody"
"""A value of the filter "who" that no agent can have as its id."""

LABELS: Final[Mapping[str, Promise]] = {
    "q": gettext_lazy("Search"),
    "state": gettext_lazy("State"),
    "source": gettext_lazy("Source"),
    "section": gettext_lazy("Section"),
    "plugin": gettext_lazy("Plugin"),
    "who": gettext_lazy("Who can use it"),
    "server": gettext_lazy("MCP server"),
    "found_by": gettext_lazy("Found by"),
}
CURSORS: Final = ("after", "before")


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool of the list. `figures` are None for who may not read calls, or when nobody called it."""

    record: "Tool"
    state: Word
    origin: Word
    origin_label: str
    section: str
    marks: list[Word]
    figures: ToolFigures | None
    spark: Spark | None
    agents: int | None

    @property
    def failed_percent(self) -> float:
        return round(100 * self.figures.failed_share, 1) if self.figures else 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """One filter: what may be picked, with how many tools fall under it."""

    name: str
    label: str
    options: list[tuple[str, str, int | None, bool]]


@dataclass(frozen=True, slots=True)
class FilterChip:
    label: str
    value: str
    url: str


class Asked:
    """What the URL of the list says."""

    def __init__(self, query: QueryDict) -> None:
        self.values = {name: query.get(name, "").strip()[:TEXT_LIMIT].replace("\0", "") for name in LABELS}
        self.values = {name: value for name, value in self.values.items() if value}
        self.after, self.before = (query.get(name, "")[:TEXT_LIMIT] for name in CURSORS)

    def url(self, **changes: str) -> str:
        """Write the URL of the list with some values changed; "" takes one away, and any change begins at the top."""
        values = {name: value for name, value in (self.values | changes).items() if value}
        return f"{reverse('tools')}?{urlencode(values)}" if values else reverse("tools")

    @property
    def address(self) -> str:
        """The URL of exactly this page."""
        return self.url(**{name: getattr(self, name) for name in CURSORS if getattr(self, name)})

    def filters(self, reach: Reach | None) -> ToolFilters:
        """Return the filters; who can use a tool is answered by the live snapshot."""
        values = {name: value for name, value in self.values.items() if name != "who"}
        who = self.values.get("who", "")
        return ToolFilters(**values, names=_names(reach, who) if who and who != NOBODY else None)

    @property
    def is_nobody(self) -> bool:
        return self.values.get("who") == NOBODY


def _names(reach: Reach | None, agent: str) -> frozenset[str]:
    return frozenset() if reach is None else reach.tools_of(agent)


def page_of(environment: "Environment", asked: Asked, reach: Reach | None) -> ToolPage:
    """Find the tools of a page."""
    filters = asked.filters(reach)
    without = reach.tools_of_anybody() if asked.is_nobody and reach is not None else frozenset()
    return tools_search(environment, filters, without=without, after=asked.after, before=asked.before)


def rows_of(environment: "Environment", page: ToolPage, reach: Reach | None, *, with_figures: bool) -> list[ToolRow]:
    """Lay out the tools of a page."""
    names = [tool.name for tool in page.rows]
    figures = _figures(environment, names) if with_figures and names else {}
    rows = []
    for tool in page.rows:
        used = figures.get(tool.name)
        rows.append(
            ToolRow(
                record=tool,
                state=state_word(tool.state),
                origin=source_word(tool.source),
                origin_label=origin_of(tool),
                section=section_label(environment, tool.section),
                marks=marks_of(tool),
                figures=used,
                spark=spark_of(used.series) if used else None,
                agents=None if reach is None else len(reach.agents_with(tool.name)),
            )
        )
    return rows


def _figures(environment: "Environment", names: Sequence[str]) -> dict[str, ToolFigures]:
    """Read the figures of some tools, or take what another tab read a moment ago."""
    key = f"tools:{environment.pk}:{hashlib.sha256(chr(10).join(names).encode()).hexdigest()}"
    found: dict[str, ToolFigures] | None = cache.get(key)
    if found is None:
        at = timezone.now()
        span = Span(environment=environment.slug, since=at - SPAN, until=at)
        found = {each.tool: each for each in tool_figures(span, tools=names, limit=len(names))}
        cache.set(key, found, FIGURES_FRESH_S)
    return found


def choices_of(environment: "Environment", asked: Asked, agents: Sequence[str]) -> list[Choice]:
    """List what may be filtered by."""
    facets = tool_facets(environment)
    words: dict[str, Any] = {
        "state": lambda value: str(state_word(value).label),
        "source": lambda value: str(source_word(value).label),
        "section": lambda value: section_label(environment, value),
        "plugin": str,
    }
    made = []
    for name, word in words.items():
        chosen = asked.values.get(name, "")
        counted: list[tuple[str, int | None]] = [*facets[name]]
        if chosen and chosen not in dict(counted):
            counted.append((chosen, None))
        options = [(value, word(value), count, value == chosen) for value, count in counted]
        if options:
            made.append(Choice(name, str(LABELS[name]), options))
    if agents:
        chosen = asked.values.get("who", "")
        who = [(agent, agent, None, agent == chosen) for agent in agents]
        made.append(Choice("who", str(LABELS["who"]), [*who, (NOBODY, _("nobody"), None, chosen == NOBODY)]))
    return made


def chips_of(environment: "Environment", asked: Asked) -> list[FilterChip]:
    """Name what is filtered, each with the URL that takes it away."""
    words: dict[str, Any] = {
        "state": lambda value: str(state_word(value).label),
        "source": lambda value: str(source_word(value).label),
        "section": lambda value: section_label(environment, value),
        "who": lambda value: _("nobody") if value == NOBODY else value,
    }
    return [
        FilterChip(str(LABELS[name]), words.get(name, str)(value), asked.url(**{name: ""}))
        for name, value in asked.values.items()
    ]
