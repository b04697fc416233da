"""The context that shows best what is wrong: of all that fail, the one with the fewest and most common conditions."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from apps.firewall.engine.columns import numbers_of
from apps.firewall.engine.contexts import ANY_OTHER, ContextClass, Conversation, SenderClass
from apps.firewall.engine.diff_boxes import Box, Frame
from apps.firewall.engine.diff_places import ANYBODY, mask_of_numbers
from apps.firewall.engine.universe import lowest_bit

Found: TypeAlias = tuple[int, int, Conversation, SenderClass]
"""Whether the speaker is one whom rules name, how odd the conversation is, and both."""

_OWNERS: Final = {None: 0, False: 1, True: 2}


class Steps(NamedTuple):
    """Members of a mask by how plain they are: the plainest first, each rank a mask."""

    masks: tuple[int, ...]

    def plainest(self, mask: int) -> tuple[int, int]:
        """Return the rank and the number of the plainest member; the mask is not 0."""
        for rank, step in enumerate(self.masks):
            if mask & step:
                return rank, lowest_bit(mask & step)
        return len(self.masks), lowest_bit(mask)


class Witnesses:
    """Finds contexts in the boxes of a frame."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._whos = _steps(
            len(frame.whos),
            lambda at: (
                int(frame.whos[at][2]),
                int(frame.whos[at][0] == ANY_OTHER),
                sum(part != ANY_OTHER for part in frame.whos[at][1]),
            ),
        )
        self._conversations = _steps(len(frame.conversations), lambda at: _odd(frame.conversations[at]))

    def most_readable(self, failing: Mapping[str, Iterable[Box]]) -> tuple[str, ContextClass]:
        """Return a tool and a context of its boxes."""
        ranked = [
            ((state[1], _OWNERS[state[0]], *self._whos.plainest(box.whos), tool), state, box)
            for tool, boxes in failing.items()
            for box in boxes
            for state in (min(box.states, key=lambda each: (each[1], _OWNERS[each[0]])),)
        ]
        best = min(rank for rank, _, _ in ranked)
        chosen = [(self._where(box), state) for rank, state, box in ranked if rank == best]
        (_, _, conversation, sender), state = min(chosen, key=lambda each: each[0])
        agent, model, sandboxed = self._frame.whos[best[3]]
        return best[4], ContextClass(agent, model, conversation, sender, state[0], sandboxed, state[1])

    def _where(self, box: Box) -> Found:
        return min(self._places(box))

    def _places(self, box: Box) -> Iterator[Found]:
        """Yield the plainest place of each group of speakers; anybody before those whom rules name."""
        for number in numbers_of(box.groups):
            group = self._frame.groups[number]
            here = box.silent & group.channel
            for sender, own in sorted(group.speakers, key=lambda each: each[0] != ANYBODY) if here else ():
                left = here & ~own
                if left:
                    rank, at = self._conversations.plainest(left)
                    yield int(sender != ANYBODY), rank, self._frame.conversations[at], sender
                    break
        if box.voices:
            yield 1, len(self._conversations.masks), *self._frame.voices[lowest_bit(box.voices)]


def _steps(size: int, oddness: Callable[[int], tuple[int, ...]]) -> Steps:
    """Rank members by how odd they are."""
    ranks: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for at in range(size):
        ranks[oddness(at)].append(at)
    return Steps(tuple(mask_of_numbers(numbers, size) for _, numbers in sorted(ranks.items())))


def _odd(where: Conversation) -> tuple[int, int]:
    return sum(part == ANY_OTHER for part in where), sum(bool(part) for part in where)
