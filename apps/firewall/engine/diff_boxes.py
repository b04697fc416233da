"""Whom a change meets: sets of classes kept as masks, counted without being written out."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.firewall.engine.columns import columns, numbers_of
from apps.firewall.engine.contexts import Conversation, SenderClass
from apps.firewall.engine.diff_places import ANYBODY, Where, mask_of_numbers
from apps.firewall.engine.diff_sides import Sides, Who


class Group:
    """Speakers with one bearing: the conversations of their channel, and for each those in which rules name them."""

    __slots__ = ("channel", "named", "plain", "speakers", "voices")

    def __init__(self, channel: int, speakers: list[tuple[SenderClass, int]], voices: int) -> None:
        self.channel = channel
        self.speakers = speakers
        self.voices = voices
        self.named = [own for _, own in speakers if own & channel]
        self.plain = len(speakers) - len(self.named)

    def count(self, silent: int) -> int:
        """Count the places outside voices."""
        here = silent & self.channel
        return self.plain * here.bit_count() + sum((here & ~own).bit_count() for own in self.named)


class Frame:
    """What the bits of a comparison's masks stand for."""

    def __init__(self, sides: Sides) -> None:
        self.whos = sides.whos
        self.conversations = sides.places.conversations
        self.voices = sides.places.voices
        self.voice_at = sides.places.voice_at
        self.groups = self._read(sides)
        self._allowed: dict[int, tuple[int, int]] = {}

    def allowed(self, groups: int) -> tuple[int, int]:
        """Return the conversations and the voices of some groups of speakers."""
        known = self._allowed.get(groups)
        if known is None:
            silent, voices = 0, 0
            for number in numbers_of(groups):
                silent |= self.groups[number].channel
                voices |= self.groups[number].voices
            known = self._allowed[groups] = (silent, voices)
        return known

    def count(self, groups: int, silent: int, voices: int) -> int:
        """Count conversations, each with the speakers who are told apart there."""
        return sum(self.groups[number].count(silent) for number in numbers_of(groups)) + voices.bit_count()

    def wheres(self, groups: int, silent: int, voices: int) -> Iterator[Where]:
        """Write conversations and speakers out."""
        for number in numbers_of(groups):
            group = self.groups[number]
            for sender, own in group.speakers:
                for at in numbers_of(silent & group.channel & ~own):
                    yield self.conversations[at], sender
        for at in numbers_of(voices):
            yield self.voices[at]

    def everywhere(self) -> tuple[int, int, int]:
        """Return the masks of all groups, conversations and voices."""
        every = (1 << len(self.groups)) - 1
        return (every, *self.allowed(every))

    @staticmethod
    def _read(sides: Sides) -> list[Group]:
        """Make a group of each bearing; a sender who is not told apart has the voice of anybody."""
        places, numbers = sides.places, {}
        for number, (bearing, senders) in enumerate(sides.bearings.items()):
            numbers.update({(sender, bearing.channel): number for sender in senders})
        own: dict[SenderClass, list[int]] = {}
        order = []
        for at, (conversation, sender) in zip(places.voice_at, places.voices, strict=True):
            if sender in sides.apart:
                own.setdefault(sender, []).append(at)
            speaker = sender if sender in sides.apart else ANYBODY
            order.append(numbers[speaker, places.channel(conversation.channel)])
        width = len(sides.bearings)
        marks = ["0" * number + "1" + "0" * (width - 1 - number) for number in range(width)]
        voices = list(columns(marks, order)) if order else [0] * width
        masks = {sender: mask_of_numbers(here, len(places.conversations)) for sender, here in own.items()}
        return [
            Group(places.channels[bearing.channel], [(each, masks.get(each, 0)) for each in senders], voices[number])
            for number, (bearing, senders) in enumerate(sides.bearings.items())
        ]


@dataclass(frozen=True, slots=True)
class Box:
    """Classes that change alike: each of `who` in each of `where`, in each of `states`.

    Attributes:
        whos, groups, silent, voices: the same as masks (see `Frame`).
        states: is_owner and depth.
    """

    frame: Frame = field(repr=False, compare=False)
    whos: int
    groups: int
    silent: int
    voices: int
    states: tuple[tuple[bool | None, int], ...]

    @property
    def who(self) -> tuple[Who, ...]:
        """Agent, model, sandboxed."""
        return tuple(self.frame.whos[number] for number in numbers_of(self.whos))

    @property
    def where(self) -> tuple[Where, ...]:
        """Conversation, sender."""
        return tuple(self.frame.wheres(self.groups, self.silent, self.voices))

    @property
    def size(self) -> int:
        """How many classes of contexts these are."""
        places = self.frame.count(self.groups, self.silent, self.voices)
        return self.whos.bit_count() * places * len(self.states)


def conversations_of(boxes: tuple[Box, ...]) -> tuple[Conversation, ...]:
    """Return where any of some boxes is, in order."""
    found: set[int] = set()
    seen: set[tuple[int, int, int]] = set()
    for box in boxes:
        if (box.groups, box.silent, box.voices) in seen:
            continue
        seen.add((box.groups, box.silent, box.voices))
        for number in numbers_of(box.groups):
            group = box.frame.groups[number]
            for _, own in group.speakers:
                found.update(numbers_of(box.silent & group.channel & ~own))
                if not own:
                    break
        found.update(box.frame.voice_at[at] for at in numbers_of(box.voices))
    return tuple(boxes[0].frame.conversations[at] for at in sorted(found)) if boxes else ()


def senders_of(boxes: tuple[Box, ...]) -> tuple[SenderClass, ...]:
    """Return who speaks in any of some boxes, in order."""
    found: set[SenderClass] = set()
    voices = 0
    for box in boxes:
        voices |= box.voices
        for number in numbers_of(box.groups):
            group = box.frame.groups[number]
            here = box.silent & group.channel
            found.update(sender for sender, own in group.speakers if here & ~own)
    if boxes:
        found.update(boxes[0].frame.voices[at][1] for at in numbers_of(voices))
    return tuple(sorted(found))
