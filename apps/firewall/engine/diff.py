"""What changes for whom between two snapshots, over all classes of contexts.

A verdict is an AND of masks, one of the agent's side (agent, model, sandbox), one each of sender, depth and
conversation. The diff therefore never walks through all contexts: it counts the distinct masks of every side and
combines those. Conversations with thousands of rules cost one look-up each.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from apps.firewall.engine.contexts import Classes, Conversation, Model, SenderClass, classes_of
from apps.firewall.engine.diff_sides import AgentSide, Flavors, Pair, Sides, Where, Who
from apps.firewall.engine.snapshot import Snapshot

Tools = tuple[str, ...]
Meets = tuple[bool, bool, bool]
"""Whether the agent had the tool, whether it has it, and whether that is a gain in a place."""


@dataclass(frozen=True, slots=True)
class Box:
    """Classes that change alike: each of `who` in each of `where`, with this owner's state and depth.

    Attributes:
        who: agent, model, sandboxed.
        where: conversation, sender.
    """

    who: tuple[Who, ...]
    where: tuple[Where, ...]
    is_owner: bool | None
    depth: int


@dataclass(frozen=True, slots=True)
class Change:
    """Tools that the same classes gain, or that the same classes lose, and everybody whom it meets.

    Attributes:
        gained, lost: names of tools, sorted; one of the two is empty.
        boxes: exactly who is met; the other members say with which agents, models and so on this happens at all. Any
            of them may hold `*`, any other.
    """

    gained: Tools
    lost: Tools
    agents: tuple[str, ...]
    models: tuple[Model, ...]
    conversations: tuple[Conversation, ...]
    senders: tuple[SenderClass, ...]
    owners: tuple[bool | None, ...]
    sandboxed: tuple[bool, ...]
    depths: tuple[int, ...]
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class SnapshotDiff:
    """The difference between two snapshots.

    Attributes:
        changes: those that meet most agents and conversations first.
        tools_added, tools_removed: tools that only one of the snapshots has.
        classes: the dimensions over which was compared, so that "all agents" can be told from "3 agents".
        known_everywhere, known_there: senders who are told apart, in every conversation or in one; where a sender is
            not, what is said of anybody, `*`, holds for them.
    """

    changes: tuple[Change, ...]
    tools_added: Tools
    tools_removed: Tools
    classes: Classes
    known_everywhere: frozenset[SenderClass]
    known_there: frozenset[Where]

    def tells_apart(self, conversation: Conversation, sender: SenderClass) -> bool:
        """Say whether a sender is more than anybody in a conversation."""
        return sender in self.known_everywhere or (conversation, sender) in self.known_there

    @property
    def is_empty(self) -> bool:
        """Whether nobody gains or loses anything."""
        return not self.changes


def diff_snapshots(old: Snapshot, new: Snapshot) -> SnapshotDiff:
    """Compare two snapshots over all classes of contexts."""
    classes = classes_of(old, new)
    sides = Sides(old.engine, new.engine, classes)
    alike: dict[frozenset[_Spot], list[tuple[bool, str]]] = defaultdict(list)
    for (tool, is_gain), spots in _spots(sides).items():
        alike[frozenset(spots)].append((is_gain, tool))
    makers = _Makers(sides)
    changes = [
        makers.change(tuple(tool for gain, tool in tools if gain is is_gain), is_gain, spots)
        for spots, tools in alike.items()
        for is_gain in sorted({gain for gain, _ in tools})
    ]
    changes.sort(key=lambda change: (-len(change.agents) * len(change.conversations), change.lost, change.gained))
    known_everywhere, known_there = sides.told_apart()
    before, after = set(old.tool_names), set(new.tool_names)
    return SnapshotDiff(
        changes=tuple(changes),
        tools_added=tuple(sorted(after - before)),
        tools_removed=tuple(sorted(before - after)),
        classes=classes,
        known_everywhere=known_everywhere,
        known_there=known_there,
    )


class _Spot(NamedTuple):
    """Groups of agents and groups of places, by number, so that equal ones are found without comparing members."""

    agents: tuple[int, ...]
    places: tuple[int, ...]
    is_owner: bool | None
    depth: int


def _spots(sides: Sides) -> dict[tuple[str, bool], list[_Spot]]:
    """Find for every tool where it is gained and where it is lost."""
    found: dict[tuple[str, bool], list[_Spot]] = defaultdict(list)
    for speaker in sides.speakers:
        by_tool: dict[tuple[Flavors, int], dict[Meets, tuple[int, ...]]] = {}
        for is_owner in sides.classes.owners:
            by_flavors: dict[Flavors, list[AgentSide]] = defaultdict(list)
            for side in sides.agent_sides(speaker, is_owner):
                by_flavors[side.flavors].append(side)
            for flavors, agents in by_flavors.items():
                for bit, tool in sides.tools():
                    if (flavors, bit) not in by_tool:
                        by_tool[flavors, bit] = _places_of_tool(sides.places(speaker, flavors), bit)
                    for is_gain, spot in _of_tool(sides, flavors, agents, by_tool[flavors, bit], bit, is_owner):
                        found[tool, is_gain].append(spot)
    return found


def _places_of_tool(places: list[tuple[Pair, int]], bit: int) -> dict[Meets, tuple[int, ...]]:
    """Return the places where a tool is lost or gained, by whether the agent had and has it."""
    found: dict[Meets, list[int]] = defaultdict(list)
    for (old, new), number in places:
        for had, has in ((True, True), (True, False), (False, True)):
            was, will = had and bool(old & bit), has and bool(new & bit)
            if was is not will:
                found[had, has, will].append(number)
    return {meets: tuple(numbers) for meets, numbers in found.items()}


def _of_tool(
    sides: Sides,
    flavors: Flavors,
    agents: list[AgentSide],
    places: dict[Meets, tuple[int, ...]],
    bit: int,
    is_owner: bool | None,
) -> Iterator[tuple[bool, _Spot]]:
    """Combine who may have one tool with where it may be had, in the old and in the new snapshot."""
    who: dict[tuple[bool, bool], list[int]] = defaultdict(list)
    for side in agents:
        who[bool(side.pair[0] & bit), bool(side.pair[1] & bit)].append(side.number)
    for depth in sides.classes.depths:
        old_depth, new_depth = sides.depth_pair(flavors, depth)
        for (had, has), numbers in who.items():
            for is_gain in (False, True):
                meant = places.get((had and bool(old_depth & bit), has and bool(new_depth & bit), is_gain))
                if meant is not None:
                    yield is_gain, _Spot(tuple(numbers), meant, is_owner, depth)


class _Makers:
    """Makes changes of spots; equal agents and equal places are written out once."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._who: dict[tuple[int, ...], tuple[Who, ...]] = {}
        self._where: dict[tuple[int, ...], tuple[Where, ...]] = {}

    def change(self, tools: Tools, is_gain: bool, spots: frozenset[_Spot]) -> Change:
        """Return one change; its boxes stand in a fixed order."""
        boxes = [self._box(spot) for spot in sorted(spots, key=repr)]
        whos = {id(box.who): box.who for box in boxes}.values()  # boxes share them: each is looked through once
        wheres = {id(box.where): box.where for box in boxes}.values()
        who = {each for some in whos for each in some}
        where = {each for some in wheres for each in some}
        return Change(
            gained=tuple(sorted(tools)) if is_gain else (),
            lost=() if is_gain else tuple(sorted(tools)),
            agents=tuple(sorted({agent for agent, _, _ in who})),
            models=tuple(sorted({model for _, model, _ in who})),
            conversations=tuple(sorted({conversation for conversation, _ in where})),
            senders=tuple(sorted({sender for _, sender in where})),
            owners=tuple(sorted({box.is_owner for box in boxes}, key=str)),
            sandboxed=tuple(sorted({sandboxed for _, _, sandboxed in who})),
            depths=tuple(sorted({box.depth for box in boxes})),
            boxes=tuple(boxes),
        )

    def _box(self, spot: _Spot) -> Box:
        if spot.agents not in self._who:
            self._who[spot.agents] = tuple(each for number in spot.agents for each in self._sides.who(number))
        if spot.places not in self._where:
            self._where[spot.places] = tuple(each for number in spot.places for each in self._sides.where(number))
        return Box(self._who[spot.agents], self._where[spot.places], spot.is_owner, spot.depth)
