"""The smallest fix: the fewest edits of lists that flip one verdict, and among these the one that changes least else.

An edit adds the tool's own name to a list, or removes an entry from one, in a block that holds in the context (see
`edits.blocks_in`) or in an own profile that one names; built-in lists and profiles stay as they are. Every layer that
refuses the tool needs an edit of a block that feeds it, so only such are tried. What OpenClaw would refuse is no fix.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import Final, TypeAlias

from apps.firewall.engine.agent_rows import LATE
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import Classes, agent_of
from apps.firewall.engine.diff import SnapshotDiff, diff_snapshots
from apps.firewall.engine.edits import Edit, Edited, blocks_after, blocks_in, engine_after, is_lawful, list_of, lists_in
from apps.firewall.engine.effects import Effect, agents_met, effects_of
from apps.firewall.engine.resolution import Resolution, layers_refusing
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.simulate import Block
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.surroundings import Surroundings
from apps.firewall.errors import FirewallError

MOST_EDITS: Final = 3

Edits: TypeAlias = tuple[Edit, ...]

_SHORT: Final = 3  # lists as short as that can be emptied by the edits of one fix
_OPENING: Final = frozenset({"optional", "global"})
_FEEDS: Final[dict[str, frozenset[str]]] = {
    "global": _OPENING | {"profile"},
    "agent": frozenset({"optional", "profile", "agent"}),
    "global_provider": frozenset({"optional", "provider_profile", "global_provider"}),
    "agent_provider": frozenset({"optional", "provider_profile", "agent_provider"}),
    "profile": frozenset({"optional", "profile", "provider_profile"}),
    "group": frozenset({"group"}),
    "sender": frozenset({"sender"}),
    "sandbox": frozenset({"sandbox"}),
    "subagent": frozenset({"subagent"}),
}
"""The layers to whose verdict a block may contribute."""


class UnknownToolError(FirewallError):
    """There is no tool of this name in the snapshot."""

    code = "tool_unknown"


@dataclass(frozen=True, slots=True)
class Fix:
    """What flips a verdict.

    Attributes:
        opens: the tool becomes allowed; else refused.
        edits: at most three.
        opened, closed: other tools of the same context that become allowed or refused by it.
        effects: over all classes of contexts, the asked one among them, which tools open and close in how many.
    """

    tool: str
    opens: bool
    edits: Edits
    opened: tuple[str, ...]
    closed: tuple[str, ...]
    effects: tuple[Effect, ...]

    @property
    def verdicts(self) -> int:
        """How many verdicts change over all classes of contexts."""
        return sum(effect.opened + effect.closed for effect in self.effects)


def smallest_fix(around: Surroundings, context: CallContext, tool: str) -> Fix | None:
    """Find the fewest edits that flip the verdict on a tool in a context; None when three do not do it.

    Raises:
        UnknownToolError: the snapshot has no such tool.
        ResolutionError: nothing can be decided in this context.
    """
    name = around.engine.canonical_name(tool)
    if name is None:
        raise UnknownToolError(f"there is no tool named `{tool}`")
    search = _Search(around.engine, context, name)
    for size in range(1, MOST_EDITS + 1):
        found = search.of_size(size)
        if found:
            return _least(around, search, found)
    return None


def fix_diff(snapshot: Snapshot, context: CallContext, fix: Fix, *, classes: Classes | None = None) -> SnapshotDiff:
    """Compare a snapshot with what a fix of it makes, over all contexts: who gains and loses what, and where.

    Args:
        context: for which the fix was found.
        classes: those of the snapshot, where they are known.
    """
    engine = snapshot.engine
    changed = blocks_after(blocks_in(engine, resolve(engine, context)), fix.edits)
    return diff_snapshots(snapshot, Edited(engine_after(engine, changed), snapshot.tool_names), classes=classes)


def beyond_lists(engine: Engine, context: CallContext, tool: str) -> tuple[str, ...]:
    """Return the layers that refuse a tool and listen to no list that holds in a context; `tool` is its own name.

    Raises:
        ResolutionError: nothing can be decided in this context.
    """
    resolution, bit = resolve(engine, context), engine.universe.bits[tool]
    fed = {layer for block in blocks_in(engine, resolution) for layer in _FEEDS[block.layer]}
    return tuple(key for key in layers_refusing(resolution, bit) if key not in fed)


class _Search:
    """Looks for sets of edits that flip one verdict."""

    def __init__(self, engine: Engine, context: CallContext, tool: str) -> None:
        self.engine = engine
        self.context = context
        self.tool = tool
        self.bit = engine.universe.bits[tool]
        self.before = resolve(engine, context)
        self.opens = not self.before.mask & self.bit
        self.blocks = blocks_in(engine, self.before)
        self._every = [edit for block in self.blocks for edit in self._edits(block)]
        self._some = [edit for edit in self._every if self._matters(edit)]
        self._known: dict[frozenset[Edit], Resolution] = {}

    def of_size(self, size: int) -> list[Edits]:
        """Return every set of so many edits that flips the verdict."""
        tried = ((edit,) for edit in self._every) if size == 1 else self._tried(size)
        flips = (edits for edits in tried if bool(self.after(edits).mask & self.bit) is self.opens)
        return [edits for edits in flips if all(map(is_lawful, blocks_after(self.blocks, edits).values()))]

    def after(self, edits: Iterable[Edit]) -> Resolution:
        """Resolve the context with edits."""
        key = frozenset(edits)
        if key not in self._known:
            self._known[key] = resolve(self.engine_after(key), self.context) if key else self.before
        return self._known[key]

    def changed(self, edits: Edits) -> int:
        """Return the tools of the context whose verdict edits change."""
        return self.before.mask ^ self.after(edits).mask

    def engine_after(self, edits: Iterable[Edit]) -> Engine:
        """Return the engine with edits."""
        return engine_after(self.engine, blocks_after(self.blocks, edits))

    def _edits(self, block: Block) -> Iterator[Edit]:
        policy = self.blocks[block]
        for member in lists_in(block):
            listed = list_of(policy, member)
            if self.tool not in listed:
                yield Edit(block, member, self.tool, is_added=True)
            for entry in dict.fromkeys(listed):
                yield Edit(block, member, entry, is_added=False)

    def _matters(self, edit: Edit) -> bool:
        """Leave out entries that have nothing to do with the tool, unless their list can be emptied."""
        candidates = self.before.opening.candidates
        short = len(set(list_of(self.blocks[edit.block], edit.member))) <= _SHORT
        return edit.is_added or short or bool(candidates.entry_mask(edit.entry) & self.bit)

    def _tried(self, size: int) -> Iterator[Edits]:
        if self.opens:
            yield from self._opening(size, frozenset(), set())
            return
        for layer in dict.fromkeys(edit.block.layer for edit in self._some):
            yield from combinations([edit for edit in self._some if layer in _FEEDS[edit.block.layer]], size)

    def _opening(self, size: int, edits: frozenset[Edit], seen: set[frozenset[Edit]]) -> Iterator[Edits]:
        """Go on with edits of blocks that feed the first layer that refuses the tool."""
        if edits in seen:
            return
        seen.add(edits)
        if len(edits) == size:
            yield tuple(edit for edit in self._some if edit in edits)
            return
        layer = next(layers_refusing(self.after(edits), self.bit), None)
        for edit in self._some:
            if layer in _FEEDS[edit.block.layer] and edit not in edits:
                yield from self._opening(size, edits | {edit}, seen)


def _least(around: Surroundings, search: _Search, found: list[Edits]) -> Fix:
    """Return the fix that changes the fewest verdicts; of equal ones that of the narrowest blocks.

    Those that change little in the asked context come first, and counting ends where more has been counted than the
    best of them changes.
    """
    order = sorted(range(len(found)), key=lambda number: (search.changed(found[number]).bit_count(), number))
    best, least, effects = order[0], inf, {}
    for number in order:
        limit = least if number < best else least - 1
        counted = _counted(around, search, found[number], limit)
        if counted is not None:
            best, least, effects = number, _total(counted), counted
    return _fix(search, found[best], effects)


def _counted(around: Surroundings, search: _Search, edits: Edits, limit: float) -> dict[str, Effect] | None:
    """Count what edits change: first for the asked agent, which takes little, then for all whom they meet."""
    blocks = blocks_after(search.blocks, edits)
    after = engine_after(search.engine, blocks)
    every, asked = around.classes.agents, search.before.opening.agent_name
    if LATE.issuperset(block.layer for block in blocks):
        return effects_of(around, after, blocks, agents_met(around, blocks), limit=limit)
    mine = tuple(agent for agent in every if agent_of(agent) == asked) or every[-1:]
    effects = effects_of(around, after, blocks, mine, limit=limit)
    others = tuple(agent for agent in agents_met(around, blocks) if agent not in mine)
    if effects is None or not others:
        return effects
    further = effects_of(around, after, blocks, others, limit=limit - _total(effects))
    return None if further is None else _summed(effects, further)


def _fix(search: _Search, edits: Edits, effects: dict[str, Effect]) -> Fix:
    before, after = search.before.mask & ~search.bit, search.after(edits).mask & ~search.bit
    names = search.engine.universe.names_of
    return Fix(
        tool=search.tool,
        opens=search.opens,
        edits=edits,
        opened=names(after & ~before),
        closed=names(before & ~after),
        effects=tuple(sorted(effects.values(), key=lambda each: (-each.opened - each.closed, each.tool))),
    )


def _total(effects: dict[str, Effect]) -> int:
    return sum(effect.opened + effect.closed for effect in effects.values())


def _summed(one: dict[str, Effect], other: dict[str, Effect]) -> dict[str, Effect]:
    found = dict(one)
    for tool, effect in other.items():
        known = found.get(tool, Effect(tool, 0, 0))
        found[tool] = Effect(tool, known.opened + effect.opened, known.closed + effect.closed)
    return found
