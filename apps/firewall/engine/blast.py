"""How far changes go: everybody whom any of them meets, counted once.

Changes overlap: one context may gain a tool and lose two others. Who is met by the same boxes stands together, so that
neither agents nor conversations are ever written out to be counted.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from apps.firewall.engine.columns import columns, numbers_of
from apps.firewall.engine.diff import Change
from apps.firewall.engine.diff_boxes import Box, Frame

State: TypeAlias = tuple[bool | None, int]
"""is_owner and depth."""


class Region(NamedTuple):
    """Conversations, each with some of those who speak there.

    Attributes:
        silent: for each group of speakers in which conversations it is met, where no rule of these names the speaker.
        voices: who is named by rules of a conversation.
    """

    silent: tuple[tuple[int, int], ...]
    voices: int

    def count(self, frame: Frame) -> int:
        """Count conversations, each with the speakers who are told apart there."""
        return sum(frame.groups[group].count(mask) for group, mask in self.silent) + self.voices.bit_count()


@dataclass(frozen=True, slots=True)
class Met:
    """Agents with models and sandboxes who are met in the same places, in every state."""

    whos: int
    regions: dict[State, Region]


def met_by(boxes: Iterable[Box]) -> Iterator[Met]:
    """Put together who is met alike by any of some boxes; nobody stands in two answers."""
    alike: dict[tuple[tuple[int, int, int], tuple[State, ...]], int] = defaultdict(int)
    frame: Frame | None = None
    for box in boxes:
        frame = box.frame
        alike[(box.groups, box.silent, box.voices), box.states] |= box.whos
    if frame is None:
        return
    parts = list(alike)
    regions: dict[frozenset[tuple[int, int, int]], Region] = {}
    for whos, numbers in _signed(list(alike.values()), len(frame.whos)):
        places: dict[State, set[tuple[int, int, int]]] = defaultdict(set)
        for number in numbers:
            where, states = parts[number]
            for state in states:
                places[state].add(where)
        found: dict[State, Region] = {}
        for state, wheres in places.items():
            key = frozenset(wheres)
            if key not in regions:
                regions[key] = _united(frame, key)
            found[state] = regions[key]
        yield Met(whos, found)


def contexts_by_agent(changes: Iterable[Change]) -> Counter[str]:
    """Count the classes of contexts that any of some changes meets, by agent."""
    boxes = [box for change in changes for box in change.boxes]
    counted: Counter[str] = Counter()
    sizes: dict[Region, int] = {}
    for met in met_by(boxes):
        frame = boxes[0].frame
        for region in met.regions.values():
            if region not in sizes:
                sizes[region] = region.count(frame)
        places = sum(sizes[region] for region in met.regions.values())
        for number in numbers_of(met.whos):
            counted[frame.whos[number][0]] += places
    return counted


def _signed(masks: list[int], size: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Return the members that are in the same masks, as a mask, each with the numbers of these masks."""
    rows = [format(mask, f"0{size}b")[::-1] for mask in masks]
    alike: dict[int, list[int]] = defaultdict(list)
    for member, signature in enumerate(columns(rows, range(len(rows)))):
        if signature:
            alike[signature].append(member)
    for signature, members in alike.items():
        yield sum(1 << member for member in members), tuple(numbers_of(signature))


def _united(frame: Frame, wheres: Iterable[tuple[int, int, int]]) -> Region:
    """Unite groups of speakers, the conversations in which they are met, and voices."""
    silent: dict[int, int] = defaultdict(int)
    voices = 0
    for groups, conversations, named in wheres:
        voices |= named
        for group in numbers_of(groups):
            silent[group] |= conversations & frame.groups[group].channel
    return Region(tuple(sorted((group, mask) for group, mask in silent.items() if mask)), voices)
