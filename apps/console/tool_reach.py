"""Who can use which tool now: every agent in every place that the live snapshot names, as the engine answers."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from django.utils.translation import gettext as _

from apps.console.layers import layer_name
from apps.console.matrix import situation_in
from apps.console.situations import agent_names, named_places
from apps.firewall.engine.answers import Decision
from apps.firewall.engine.contexts import Conversation
from apps.firewall.engine.decide import allowed_tools, decide
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.layers import layers_of
from apps.firewall.engine.snapshot import Snapshot

AGENTS_ASKED: Final = 60
QUESTIONS: Final = 6_000
REASONS: Final = 3


@dataclass(frozen=True, slots=True)
class Reach:
    """In how many of the places asked about each agent has each tool.

    Attributes:
        counts: by agent and tool; a tool that an agent has nowhere is absent.
        agents_known: how many agents there are, of which `counts` holds the first ones.
    """

    counts: dict[str, dict[str, int]]
    places: int
    places_known: int
    agents_known: int

    def agents_with(self, tool: str) -> tuple[str, ...]:
        return tuple(agent for agent, tools in self.counts.items() if tools.get(tool))

    def tools_of(self, agent: str) -> frozenset[str]:
        return frozenset(self.counts.get(agent, {}))

    def tools_of_anybody(self) -> frozenset[str]:
        return frozenset(tool for tools in self.counts.values() for tool in tools)


@dataclass(frozen=True, slots=True)
class Denier:
    """One layer that takes a tool away: its number and name, in how many places, by which rules.

    The commonest rule comes first.
    """

    number: int | None
    name: str
    places: int
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AgentReach:
    """One agent's line: in how many places it has the tool, and what takes it away elsewhere."""

    agent: str
    count: int
    places: int
    deniers: tuple[Denier, ...]

    @property
    def percent(self) -> int:
        return round(100 * self.count / self.places) if self.places else 0


@lru_cache(maxsize=4)
def reach_of(snapshot: Snapshot) -> Reach:
    """Ask about every agent in every place, as many as `QUESTIONS` allows; worked out once for a snapshot."""
    names, known, places = _asked(snapshot)
    counts: dict[str, dict[str, int]] = {}
    for agent in names:
        sets = Counter(allowed_tools(snapshot, situation_in(agent, place).context()) for place in places)
        found: Counter[str] = Counter()
        for tools, times in sets.items():
            for tool in tools:
                found[tool] += times
        counts[agent] = dict(found)
    return Reach(counts, len(places), known, len(agent_names(snapshot)))


def _asked(snapshot: Snapshot) -> tuple[tuple[str, ...], int, list[Conversation]]:
    names = agent_names(snapshot)[:AGENTS_ASKED]
    known = named_places(snapshot)
    return names, len(known), known[: max(1, QUESTIONS // max(1, len(names)))]


def agents_reached(snapshot: Snapshot, tool: str) -> list[AgentReach]:
    """Say for one tool where each agent has it, and why not elsewhere; those that have it everywhere come first."""
    reach = reach_of(snapshot)
    names, _known, places = _asked(snapshot)
    rows = []
    for agent in names:
        count = reach.counts[agent].get(tool, 0)
        deniers = _deniers(snapshot, agent, tool, places) if count < len(places) else ()
        rows.append(AgentReach(agent, count, len(places), deniers))
    return sorted(rows, key=lambda row: -row.count)


def _deniers(snapshot: Snapshot, agent: str, tool: str, places: list[Conversation]) -> tuple[Denier, ...]:
    numbers = {layer.key: number for number, layer in enumerate(layers_of(DIALECTS[snapshot.dialect]), start=1)}
    found: dict[str, Counter[str]] = {}
    for place in places:
        decision = decide(snapshot, situation_in(agent, place).context(), tool)
        if not decision.allowed:
            found.setdefault(decision.layer or "", Counter())[decision.rule or decision.reason] += 1
    layers = sorted(found.items(), key=lambda each: -each[1].total())[:REASONS]
    return tuple(
        Denier(
            numbers.get(layer), decider_name(layer), rules.total(), tuple(rule for rule, _times in rules.most_common())
        )
        for layer, rules in layers
    )


def decider_name(layer: str) -> str:
    """Name what decided: a layer, or why none was asked."""
    if layer == "unknown_tool":
        return _("not in the snapshot")
    return _("error") if layer == "error" else layer_name(layer)


def decider_number(snapshot: Snapshot, decision: Decision) -> int | None:
    """Find the number of the layer that decided; None when none did."""
    keys = [layer.key for layer in layers_of(DIALECTS[snapshot.dialect])]
    return keys.index(decision.layer) + 1 if decision.layer in keys else None
