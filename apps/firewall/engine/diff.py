"""What changes for whom between two snapshots, over all classes of contexts.

A verdict is an AND of masks, one of the agent's side (agent, model, sandbox), one each of sender, depth and
conversation. The diff therefore never walks through all contexts: it counts the distinct masks of every side and
combines those. Conversations with thousands of rules cost one look-up each.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from apps.firewall.engine.contexts import Classes, Conversation, Model, SenderClass, classes_of
from apps.firewall.engine.diff_sides import Flavors, Pair, Sides, Where, Who
from apps.firewall.engine.snapshot import Snapshot

Tools = tuple[str, ...]


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
    """One gain and loss of tools, and everybody whom it meets. Any member may hold `*`, any other.

    Attributes:
        gained, lost: names of tools, sorted.
        boxes: exactly who is met; the other members say in which agents, models and so on this happens at all.
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
    found: dict[Pair, list[Box]] = defaultdict(list)
    for change, box in _boxes(sides):
        found[change].append(box)
    changes = [_change(sides.names_of(gained), sides.names_of(lost), boxes) for (gained, lost), boxes in found.items()]
    known_everywhere, known_there = sides.told_apart()
    changes.sort(key=lambda change: (-len(change.agents) * len(change.conversations), change.lost, change.gained))
    before, after = set(old.tool_names), set(new.tool_names)
    return SnapshotDiff(
        changes=tuple(changes),
        tools_added=tuple(sorted(after - before)),
        tools_removed=tuple(sorted(before - after)),
        classes=classes,
        known_everywhere=known_everywhere,
        known_there=known_there,
    )


def _boxes(sides: Sides) -> Iterator[tuple[Pair, Box]]:
    """Combine the distinct masks of every side; yield those that change anything, as (gained, lost)."""
    for speaker in sides.speakers:
        places: dict[Flavors, dict[Pair, tuple[Where, ...]]] = {}
        for is_owner in sides.classes.owners:
            for (before, after), flavors, who in sides.agent_groups(speaker, is_owner):
                if flavors not in places:
                    places[flavors] = sides.place_groups(speaker, flavors)
                for depth in sides.classes.depths:
                    old_depth, new_depth = sides.depth_pair(flavors, depth)
                    for (old_place, new_place), where in places[flavors].items():
                        was, will = before & old_depth & old_place, after & new_depth & new_place
                        if was != will:
                            yield (will & ~was, was & ~will), Box(who, where, is_owner, depth)


def _change(gained: Tools, lost: Tools, boxes: list[Box]) -> Change:
    # boxes share their tuples: each is looked through once
    whos = {id(box.who): box.who for box in boxes}.values()
    wheres = {id(box.where): box.where for box in boxes}.values()
    who = {each for some in whos for each in some}
    where = {each for some in wheres for each in some}
    return Change(
        gained=gained,
        lost=lost,
        agents=tuple(sorted({agent for agent, _, _ in who})),
        models=tuple(sorted({model for _, model, _ in who})),
        conversations=tuple(sorted({conversation for conversation, _ in where})),
        senders=tuple(sorted({sender for _, sender in where})),
        owners=tuple(sorted({box.is_owner for box in boxes}, key=str)),
        sandboxed=tuple(sorted({sandboxed for _, _, sandboxed in who})),
        depths=tuple(sorted({box.depth for box in boxes})),
        boxes=tuple(boxes),
    )
