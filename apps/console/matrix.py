"""The matrix: in how many of the known places does each agent have each tool."""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.console.layers import layer_name
from apps.console.situations import Situation, agent_names, group_value, named_places, place_label
from apps.console.verdicts import section_of
from apps.console.why import why_url
from apps.firewall.engine.contexts import Conversation
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.exec_policy import exec_rules
from apps.firewall.engine.exec_policy.explaining import EXEC
from apps.firewall.engine.layers import layers_of
from apps.firewall.engine.snapshot import Snapshot

AGENTS_SHOWN: Final = 60
CELLS_SHOWN: Final = 2_000
QUESTIONS: Final = 2_000
SHADES: Final = 4
PLACES_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Cell:
    """One agent and one tool: in how many places it is available, and how dark that is drawn."""

    tool: str
    count: int
    shade: int
    asks: bool
    starts_section: bool
    url: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    agent: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Agents by tools.

    Attributes:
        places: the places that were asked about, of `places_known`.
        start: how many of the `agents_known` stand before these; `step` how many there may be at once.
    """

    tools: tuple[tuple[str, bool], ...]
    rows: tuple[MatrixRow, ...]
    places: int
    places_known: int
    agents_known: int
    start: int
    step: int

    @property
    def first(self) -> int:
        return self.start + 1

    @property
    def last(self) -> int:
        return self.start + len(self.rows)


def matrix_of(snapshot: Snapshot, at: str, *, start: int = 0) -> Matrix:
    """Ask about agents in every place: outside channels, and each group that a policy names."""
    names = agent_names(snapshot)
    step = min(AGENTS_SHOWN, max(1, CELLS_SHOWN // max(1, len(snapshot.tool_names))))
    start = start if start < len(names) else 0
    shown = names[start : start + step]
    known = named_places(snapshot)
    places = known[: max(1, QUESTIONS // max(1, len(shown)))]
    tools = _columns(snapshot)
    rows = tuple(_row(snapshot, name, places, tools, at) for name in shown)
    return Matrix(tools, rows, len(places), len(known), len(names), start, step)


def _columns(snapshot: Snapshot) -> tuple[tuple[str, bool], ...]:
    columns, last = [], ""
    for tool in snapshot.tool_names:
        section = section_of(snapshot, tool)
        columns.append((tool, section != last and bool(last)))
        last = section
    return tuple(columns)


def _row(
    snapshot: Snapshot, agent: str, places: list[Conversation], tools: tuple[tuple[str, bool], ...], at: str
) -> MatrixRow:
    situations = [situation_in(agent, place) for place in places]
    sets = Counter(allowed_tools(snapshot, situation.context()) for situation in situations)
    counts: Counter[str] = Counter()
    for names, times in sets.items():
        counts.update(dict.fromkeys(names, times))
    rules = exec_rules(snapshot.exec_settings(agent), dialect=snapshot.dialect)
    asks = rules.ask == "always" or (rules.ask == "on-miss" and rules.security == "allowlist")
    base = reverse("explorer")
    cells = tuple(
        Cell(
            tool=tool,
            count=counts[tool],
            shade=_shade(counts[tool], len(places)),
            asks=tool == EXEC and asks and counts[tool] > 0,
            starts_section=starts,
            url=Situation(agent=agent).url(base, at=at, view="matrix", tool=tool),
        )
        for tool, starts in tools
    )
    return MatrixRow(agent, cells)


def situation_in(agent: str, place: Conversation) -> Situation:
    return Situation(agent=agent, channel=place.channel, group=group_value(place) if place.group else "")


def _shade(count: int, whole: int) -> int:
    """Return 0 for none and 4 for all; between them 1 to 3."""
    if count == 0:
        return 0
    return SHADES if count >= whole else 1 + min(SHADES - 2, count * (SHADES - 1) // whole)


@dataclass(frozen=True, slots=True)
class CellDetail:
    """One cell opened: where the tool is available, and which layer takes it away elsewhere, with a trace of each."""

    agent: str
    tool: str
    count: int
    places: int
    allowed_in: tuple[tuple[str, str], ...]
    more: int
    deniers: tuple[tuple[int | None, str, int, str], ...]
    example: str


def cell_of(snapshot: Snapshot, agent: str, tool: str, at: str) -> CellDetail:
    """Say where an agent has a tool."""
    known = named_places(snapshot)
    places = known[: max(1, QUESTIONS // 10)]
    base = reverse("explorer")
    numbers = {layer.key: number for number, layer in enumerate(layers_of(DIALECTS[snapshot.dialect]), start=1)}
    allowed: list[tuple[str, str]] = []
    deniers: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for place in places:
        situation = situation_in(agent, place)
        decision = decide(snapshot, situation.context(), tool)
        if decision.allowed:
            allowed.append((place_label(place) or _("outside channels"), situation.url(base, at=at, tool=tool)))
        elif decision.layer is not None:
            deniers[decision.layer] += 1
            examples.setdefault(decision.layer, why_url(tool, situation, at=at))
    return CellDetail(
        agent=agent,
        tool=tool,
        count=len(allowed),
        places=len(places),
        allowed_in=tuple(allowed[:PLACES_NAMED]),
        more=max(0, len(allowed) - PLACES_NAMED),
        deniers=tuple(
            (numbers.get(key), layer_name(key), times, examples[key]) for key, times in deniers.most_common()
        ),
        example=Situation(agent=agent).url(base, at=at, tool=tool),
    )
