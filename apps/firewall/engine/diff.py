"""What changes for whom between two snapshots, over all classes of contexts.

A verdict is an AND of masks, one of the agent's side (agent, model, sandbox), one each of sender, depth and
conversation. The diff therefore never walks through all contexts: it counts the distinct masks of every side and
combines those. Conversations with thousands of rules cost one look-up each.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from apps.firewall.engine.contexts import Classes, Conversation, Model, SenderClass, classes_of
from apps.firewall.engine.diff_sides import Pair, Sides
from apps.firewall.engine.snapshot import Snapshot

Who = tuple[str, Model, bool]
"""Agent, model, sandboxed."""
Where = tuple[Conversation, SenderClass]
Tools = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """Classes that change alike: each of `who` in each of `where`, with this owner's state and depth."""

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
        told_apart: senders that are known in a conversation; there every other sender is anybody, `*`.
    """

    changes: tuple[Change, ...]
    tools_added: Tools
    tools_removed: Tools
    classes: Classes
    told_apart: frozenset[Where]

    @property
    def is_empty(self) -> bool:
        """Whether nobody gains or loses anything."""
        return not self.changes


@dataclass(slots=True)
class _Found:
    boxes: list[Box] = field(default_factory=list)


def diff_snapshots(old: Snapshot, new: Snapshot) -> SnapshotDiff:
    """Compare two snapshots over all classes of contexts."""
    classes = classes_of(old, new)
    sides = Sides(old.engine, new.engine, classes)
    found: dict[Pair, _Found] = defaultdict(_Found)
    for change, box in _boxes(sides):
        found[change].boxes.append(box)
    changes = [
        _change(sides.names_of(gained), sides.names_of(lost), each.boxes) for (gained, lost), each in found.items()
    ]
    changes.sort(key=lambda change: (-len(change.agents) * len(change.conversations), change.lost, change.gained))
    before, after = set(old.tool_names), set(new.tool_names)
    return SnapshotDiff(
        changes=tuple(changes),
        tools_added=tuple(sorted(after - before)),
        tools_removed=tuple(sorted(before - after)),
        classes=classes,
        told_apart=sides.told_apart(),
    )


def _boxes(sides: Sides) -> Iterator[tuple[Pair, Box]]:
    """Combine the distinct masks of every side; yield those that change anything, as (gained, lost)."""
    for speaker in sides.speakers():
        for is_owner in sides.classes.owners:
            for group in sides.agent_groups(speaker, is_owner):
                depths = [(depth, sides.depth_pair(group.flavors, depth)) for depth in sides.classes.depths]
                places = sides.place_groups(speaker, group.flavors)
                for depth, (old_depth, new_depth) in depths:
                    before, after = group.pair[0] & old_depth, group.pair[1] & new_depth
                    if not before and not after:
                        continue
                    for (old_place, new_place), where in places.items():
                        was, will = before & old_place, after & new_place
                        if was != will:
                            yield (will & ~was, was & ~will), Box(group.who, where, is_owner, depth)


def _change(gained: Tools, lost: Tools, boxes: Iterable[Box]) -> Change:
    boxes = tuple(boxes)
    who = {each for who in {box.who for box in boxes} for each in who}
    where = {each for where in {box.where for box in boxes} for each in where}
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
        boxes=boxes,
    )
