"""What changes for whom between two snapshots, over all classes of contexts.

A verdict is an AND of masks, one of the agent's side (agent, model, sandbox), one each of sender, depth and
conversation. The diff therefore never walks through all contexts: for each tool it combines the columns of every side,
which say in one integer who or where has it. Conversations with thousands of rules cost one look-up each.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from apps.firewall.engine.columns import Numbered, numbers_of
from apps.firewall.engine.contexts import Classes, Compared, Conversation, Model, Naming, SenderClass, classes_of
from apps.firewall.engine.diff_boxes import Box, Frame, conversations_of, senders_of
from apps.firewall.engine.diff_places import Where
from apps.firewall.engine.diff_sides import Flavors, Kind, Pairs, Sides, Who

Tools: TypeAlias = tuple[str, ...]
Spoken: TypeAlias = tuple[int, int, int]
"""The groups of speakers whom a tool passes in both snapshots, in the old one only, in the new one only."""


@dataclass(frozen=True)
class Change:
    """Tools that the same classes gain, or that the same classes lose, and everybody whom it meets.

    Attributes:
        gained, lost: names of tools, sorted; one of the two is empty.
        boxes: exactly who is met, nobody twice; the other members say with which agents, models and so on this
            happens at all. Any of them may hold `*`, any other.
        classes: how many classes of contexts are met.
    """

    gained: Tools
    lost: Tools
    boxes: tuple[Box, ...]
    classes: int

    @cached_property
    def agents(self) -> tuple[str, ...]:
        return tuple(sorted({agent for agent, _, _ in self._whos}))

    @cached_property
    def models(self) -> tuple[Model, ...]:
        return tuple(sorted({model for _, model, _ in self._whos}))

    @cached_property
    def sandboxed(self) -> tuple[bool, ...]:
        return tuple(sorted({sandboxed for _, _, sandboxed in self._whos}))

    @cached_property
    def conversations(self) -> tuple[Conversation, ...]:
        return conversations_of(self.boxes)

    @cached_property
    def senders(self) -> tuple[SenderClass, ...]:
        return senders_of(self.boxes)

    @cached_property
    def owners(self) -> tuple[bool | None, ...]:
        return tuple(sorted({is_owner for box in self.boxes for is_owner, _ in box.states}, key=str))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        return tuple(sorted({depth for box in self.boxes for _, depth in box.states}))

    @cached_property
    def _whos(self) -> list[Who]:
        met = 0
        for box in self.boxes:
            met |= box.whos
        return [self.boxes[0].frame.whos[number] for number in numbers_of(met)]


@dataclass(frozen=True)
class SnapshotDiff:
    """The difference between two snapshots.

    Attributes:
        changes: those that meet most classes of contexts first.
        tools_added, tools_removed: tools that only one of the snapshots has.
        classes: the dimensions over which was compared, so that "all agents" can be told from "3 agents".
        known_everywhere: senders who are told apart in every conversation, beside those told apart in one: whom the
            sender layer, agents' rules or owners name; where a sender is not, what is said of anybody, `*`, holds.
    """

    changes: tuple[Change, ...]
    tools_added: Tools
    tools_removed: Tools
    classes: Classes
    known_everywhere: frozenset[SenderClass]
    frame: Frame

    @cached_property
    def known_there(self) -> frozenset[Where]:
        """Conversations with the senders whom their rules name."""
        return frozenset(self.frame.voices)

    @property
    def places(self) -> int:
        """How many conversations there are, each counted with everybody who is told apart there."""
        return self.frame.count(*self.frame.everywhere())

    @property
    def contexts(self) -> int:
        """How many classes of contexts were compared, each told apart from all others."""
        return len(self.frame.whos) * self.places * len(self.classes.owners) * len(self.classes.depths)

    def tells_apart(self, conversation: Conversation, sender: SenderClass) -> bool:
        """Say whether a sender is more than anybody in a conversation."""
        return sender in self.known_everywhere or (conversation, sender) in self.known_there

    @property
    def is_empty(self) -> bool:
        """Whether nobody gains or loses anything."""
        return not self.changes


def diff_snapshots(old: Compared, new: Compared, *, classes: Classes | None = None) -> SnapshotDiff:
    """Compare two snapshots over all classes of contexts.

    Args:
        classes: those to compare over, where they are known to cover both; else those of the two.
    """
    naming = Naming()
    classes = classes or classes_of(old, new, naming=naming)
    sides = Sides(old.engine, new.engine, classes, naming)
    frame = Frame(sides)
    alike: dict[frozenset[Box], list[tuple[bool, str]]] = defaultdict(list)
    for (tool, is_gain), boxes in combined(sides, frame).items():
        alike[frozenset(boxes)].append((is_gain, tool))
    changes = [
        _change(tuple(sorted(tool for gain, tool in tools if gain is is_gain)), is_gain, boxes)
        for boxes, tools in alike.items()
        for is_gain in sorted({gain for gain, _ in tools})
    ]
    changes.sort(key=lambda change: (-change.classes, change.lost, change.gained))
    before, after = set(old.tool_names), set(new.tool_names)
    return SnapshotDiff(
        changes=tuple(changes),
        tools_added=tuple(sorted(after - before)),
        tools_removed=tuple(sorted(before - after)),
        classes=classes,
        known_everywhere=sides.apart,
        frame=frame,
    )


def combined(sides: Sides, frame: Frame) -> dict[tuple[str, bool], list[Box]]:
    """Find for every tool who gains it, True, and who loses it; nobody stands in two boxes of one tool."""
    return _Combining(sides, frame).boxes()


def _change(tools: Tools, is_gain: bool, boxes: frozenset[Box]) -> Change:
    """Return one change; its boxes stand in a fixed order."""
    ordered = sorted(boxes, key=lambda box: (box.whos, box.groups, box.silent, box.voices, str(box.states)))
    return Change(tools if is_gain else (), () if is_gain else tools, tuple(ordered), sum(box.size for box in boxes))


class _Combining:
    """Combines who may have each tool with where it may be had, in the old and in the new snapshot."""

    def __init__(self, sides: Sides, frame: Frame) -> None:
        self._sides = sides
        self._frame = frame
        self._tools = range(len(sides.project.numbers))
        self._places: dict[Flavors, tuple[Pairs, Pairs]] = {}
        self._counts: dict[tuple[int, int, int], int] = {}

    def boxes(self) -> dict[tuple[str, bool], list[Box]]:
        """Find for every tool where it is gained and where it is lost."""
        found: dict[tuple[str, bool], list[Box]] = defaultdict(list)
        if not self._tools:
            return found
        touched = self._sides.touched
        used = {state.table for bearing in self._sides.bearings for state in bearing.states}
        for number in sorted(used):
            table = self._sides.tables[number]
            who = table.columns(self._sides.project)
            members = table.members()
            for kinds in self._alike(number):
                whos = sum(members[kind] for kind in kinds)  # they share no member
                spoken = self._spoken(number, kinds[0])
                for tool in self._tools:
                    for is_gain, box in self._of_tool(
                        tool, (who[0][tool] & whos, who[1][tool] & whos), kinds[0].flavors, spoken[tool]
                    ):
                        found[touched[tool], is_gain].append(box)
        return found

    def _alike(self, table: int) -> list[list[Kind]]:
        """Put the kinds of agents together who meet every speaker alike."""
        found: dict[object, list[Kind]] = defaultdict(list)
        for kind in self._sides.tables[table].any_of:
            met = tuple(
                dict(state.rules)[kind] if state.table == table else None
                for bearing in self._sides.bearings
                for state in bearing.states
            )
            found[kind.flavors, met].append(kind)
        return list(found.values())

    def _spoken(self, table: int, kind: Kind) -> list[dict[Spoken, list[tuple[bool | None, int]]]]:
        """Find for every tool which speakers it passes, and in which states these are the same."""
        found: list[dict[Spoken, list[tuple[bool | None, int]]]] = [defaultdict(list) for _ in self._tools]
        numbers = self._sides.project.numbers
        for place, is_owner in enumerate(self._sides.classes.owners):
            old, new = self._passing(table, kind, place)
            for depth in self._sides.classes.depths:
                was, now = self._sides.depth_pair(kind.flavors, depth)
                for tool, number in enumerate(numbers):
                    before = old[tool] if was >> number & 1 else 0
                    after = new[tool] if now >> number & 1 else 0
                    if before or after:
                        found[tool][before & after, before & ~after, after & ~before].append((is_owner, depth))
        return found

    def _passing(self, table: int, kind: Kind, owner: int) -> Pairs:
        old, new = Numbered(), Numbered()
        for bearing in self._sides.bearings:
            state = bearing.states[owner]
            was, now = dict(state.rules)[kind] if state.table == table else (0, 0)
            old.add(self._sides.project.row(was))
            new.add(self._sides.project.row(now))
        return old.columns(), new.columns()

    def _of_tool(
        self,
        tool: int,
        who: tuple[int, int],
        flavors: Flavors,
        spoken: dict[Spoken, list[tuple[bool | None, int]]],
    ) -> Iterator[tuple[bool, Box]]:
        """Combine one tool's columns: gains and losses."""
        if not who[0] and not who[1]:
            return
        if flavors not in self._places:
            self._places[flavors] = self._sides.place_columns(flavors)
        silent, voices = self._places[flavors]
        before, after = (silent[0][tool], voices[0][tool]), (silent[1][tool], voices[1][tool])
        gone = (before[0] & ~after[0], before[1] & ~after[1])
        come = (after[0] & ~before[0], after[1] & ~before[1])
        both, old, new = who[0] & who[1], who[0] & ~who[1], who[1] & ~who[0]
        for (kept, dropped, added), states in spoken.items():
            for is_gain, whos, groups, places in (
                (False, both, kept, gone),
                (False, both, dropped, before),
                (False, old, kept | dropped, before),
                (True, both, kept, come),
                (True, both, added, after),
                (True, new, kept | added, after),
            ):
                box = self._box(whos, groups, places, tuple(states)) if whos and groups else None
                if box is not None:
                    yield is_gain, box

    def _box(
        self, whos: int, groups: int, places: tuple[int, int], states: tuple[tuple[bool | None, int], ...]
    ) -> Box | None:
        silent, voices = self._frame.allowed(groups)
        where = (groups, places[0] & silent, places[1] & voices)
        if where not in self._counts:
            self._counts[where] = self._frame.count(*where)
        return Box(self._frame, whos, *where, states) if self._counts[where] else None
