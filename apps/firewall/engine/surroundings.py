"""What holds around an edit: all classes of contexts of one snapshot, read once for any number of edits.

Senders whom the sender layer, agents' rules or owners name are told apart everywhere, others where rules of a
conversation name them. What an edit changes in them is counted by `effects`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from apps.firewall.engine.agent_rows import AgentRows, Gate
from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.columns import numbers_of
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.contexts import (
    ANY_OTHER,
    ContextClass,
    Conversation,
    Model,
    Naming,
    SenderClass,
    classes_of,
    context_of,
    named_classes,
    sender_of,
)
from apps.firewall.engine.conversation import block_in, chains_of
from apps.firewall.engine.diff_places import ANYBODY, Places, identity_of
from apps.firewall.engine.owners import WEBCHAT
from apps.firewall.engine.session import session_of
from apps.firewall.engine.simulate import Block
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.tally import Counts, Part

Move: TypeAlias = tuple[int | None, int | None]
"""The position of the group's block that holds, before and after."""

Speaker: TypeAlias = tuple[SenderClass, bool | None]
"""Who speaks, and whether that is an owner."""

_ANY_MODEL: Final = Model(ANY_OTHER, ANY_OTHER)


@dataclass(frozen=True, slots=True)
class Spread:
    """Senders who are in the same places of one channel.

    Attributes:
        own: conversations whose rules name them.
        blocks: how often each block of a group holds for one of them, more often or less than for somebody whom no
            rule names.
    """

    channel: str
    senders: tuple[SenderClass, ...]
    own: frozenset[int]
    blocks: Counter[Move]


class Speakers(NamedTuple):
    """Those of a spread who meet the same gates, as owners, as strangers or as they are listed."""

    spread: int
    is_owner: bool | None
    each: tuple[Speaker, ...]


class Moves(NamedTuple):
    """Where another block of a group holds after an edit: of whoever is not named, by channel; of spreads besides."""

    silent: dict[str, Counter[Move]]
    spoken: list[Counter[Move]]


class Surroundings:
    """All classes of contexts of one snapshot, read once for any number of edits."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.engine = engine = snapshot.engine
        naming = Naming()
        self.classes = classes_of(snapshot, naming=naming)
        named = list(named_classes(engine, naming))
        identities = {identity_of(sender) for sender in named}
        self._known = {each for each in self.classes.senders if identity_of(each) in identities} - {ANYBODY}
        channels = {sender.channel for sender in named} | {each.channel for each in self.classes.conversations}
        special = {WEBCHAT, *engine.transports, *(sender.channel for sender in named)}
        self._places = Places((engine, engine), self.classes, frozenset((special & channels) - {""}), naming)
        self.rows = AgentRows(engine, self.classes)
        self._silent: dict[str, Counter[Move]] = {}
        self.everybody: dict[Gate, Any] = {}
        self.said: dict[tuple[Gate, int, bool | None, str, int], Part] = {}
        self.spoken: dict[tuple[Gate, str, int, int], Counts] = {}
        self._parts: dict[tuple[str | int, int], Part] = {}
        self.spreads = [each for channel in sorted(self._places.channels) for each in self._spread(channel)]

    @property
    def contexts(self) -> int:
        """How many classes of contexts there are, each told apart from all others."""
        classes = self.classes
        places = sum(
            len(each.senders) * (self._silent[each.channel].total() + each.blocks.total()) for each in self.spreads
        )
        asked = len(classes.agents) * len(classes.models) * len(classes.sandboxed)
        return asked * len(classes.depths) * len(classes.owners) * places

    # --- who speaks ---

    @cached_property
    def speakers(self) -> dict[Gate, list[Speakers]]:
        """Everybody who speaks, owner or not, by gate."""
        found: dict[Gate, list[Speakers]] = defaultdict(list)
        for number, spread in enumerate(self.spreads):
            for is_owner in self.classes.owners:
                by_gate: dict[Gate, list[Speaker]] = defaultdict(list)
                for sender in spread.senders:
                    owner = self._owner(sender, spread.channel, is_owner)
                    by_gate[self._gate(spread.channel, owner)].append((sender, owner))
                for gate, speakers in by_gate.items():
                    found[gate].append(Speakers(number, is_owner, tuple(speakers)))
        return found

    def _owner(self, sender: SenderClass, channel: str, is_owner: bool | None) -> bool | None:
        if is_owner is not None:
            return is_owner
        speaking = sender_of(sender, Conversation(channel=channel))
        return self.engine.owners.knows(speaking.channel, speaking)

    def _gate(self, channel: str, owner: bool | None) -> Gate:
        is_stranger = self.engine.dialect.owner_unknown_is_stranger and owner is not True
        return channel if channel in self.engine.transports else "", is_stranger

    # --- places ---

    def _spread(self, channel: str) -> Iterator[Spread]:
        """Put senders together who are in the same places of a channel."""
        places = self._places
        blocks, here = places.blocks, list(numbers_of(places.channels[channel]))
        self._silent[channel] = Counter(blocks[places.silent[number]] for number in here)
        spoken: dict[SenderClass, Counter[Move]] = defaultdict(Counter)
        own: dict[SenderClass, set[int]] = defaultdict(set)
        for number in here:
            for voice in self._voices.get(number, ()):
                sender = self._speaker(voice)
                spoken[sender][blocks[places.spoken[voice]]] += 1
                if sender != ANYBODY:
                    own[sender].add(number)
        yield Spread(channel, (ANYBODY,), frozenset(), spoken[ANYBODY])
        around = sorted(each for each in self._known if not each.channel or places.channel(each.channel) == channel)
        for sender in (each for each in around if each in own):
            spoken[sender].subtract(blocks[places.silent[number]] for number in own[sender])
            yield Spread(channel, (sender,), frozenset(own[sender]), spoken[sender])
        plain = tuple(each for each in around if each not in own)
        if plain:
            yield Spread(channel, plain, frozenset(), Counter())

    @cached_property
    def _voices(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for voice, number in enumerate(self._places.voice_at):
            found[number].append(voice)
        return found

    def _speaker(self, voice: int) -> SenderClass:
        sender = self._places.voices[voice][1]
        return sender if sender in self._known else ANYBODY

    @cached_property
    def _chained(self) -> dict[tuple[str, ...], list[int]]:
        """Which conversations ask a group, by its path."""
        found: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for number, (chains, _) in enumerate(self._places.chains):
            for path in dict.fromkeys(
                (name.removeprefix("channels."), *each.path)
                for name, chain in chains
                for place in chain
                for each in place.each
            ):
                found[path].append(number)
        return found

    def places(self, number: int, before: Candidates, after: Candidates) -> list[Part]:
        """Count what the groups of a spread leave, where no block has moved."""
        spread = self.spreads[number]
        found = []
        for key, moves in ((spread.channel, self._silent[spread.channel]), (number, spread.blocks)):
            known = self._parts.get((key, before.mask)) if before.mask == after.mask else None
            if known is None:
                known = part_of(moves, before, after)
                if before.mask == after.mask:
                    self._parts[key, before.mask] = known
            found.append(known)
        return found

    def moves(self, after: Engine, blocks: Iterable[Block]) -> Moves | None:
        """Return where other blocks of groups hold afterwards; None for nowhere."""
        paths = [block.path for block in blocks if block.layer == "group"]
        touched = sorted({number for path in paths for number in self._chained.get(path, ())})
        if not touched:
            return None
        moves = Moves(defaultdict(Counter), [Counter() for _ in self.spreads])
        for number in touched:
            self._move(after, number, moves)
        return moves

    def _move(self, after: Engine, number: int, moves: Moves) -> None:
        conversation, places = self.classes.conversations[number], self._places
        context = context_of(ContextClass(ANY_OTHER, _ANY_MODEL, conversation, ANYBODY, None, False, 0))
        chains = chains_of(after, context, session_of(after.dialect, context))
        channel = places.channel(conversation.channel)

        def moved(block: int | None, sender: SenderClass) -> dict[Move, int]:
            other = block_in(after, chains, sender_of(sender, conversation))
            return {(block, other): 1, (block, block): -1} if other != block else {}

        silent = moved(places.blocks[places.silent[number]][0], ANYBODY)
        moves.silent[channel].update(silent)
        for voice in self._voices.get(number, ()):
            spoken = moved(places.blocks[places.spoken[voice]][0], places.voices[voice][1])
            at = self._spread_at.get((channel, self._speaker(voice)))
            if spoken and at is not None:
                moves.spoken[at].update(spoken)
        for at in self._owned.get((channel, number), ()):
            moves.spoken[at].subtract(silent)

    @cached_property
    def _spread_at(self) -> dict[tuple[str, SenderClass], int]:
        """Where the spread of a sender stands, by channel and sender."""
        return {(each.channel, sender): at for at, each in enumerate(self.spreads) for sender in each.senders}

    @cached_property
    def _owned(self) -> dict[tuple[str, int], list[int]]:
        """The spreads of those whom the rules of a conversation name."""
        found: dict[tuple[str, int], list[int]] = defaultdict(list)
        for at, each in enumerate(self.spreads):
            for number in each.own:
                found[each.channel, number].append(at)
        return found


def part_of(moves: Counter[Move], before: Candidates, after: Candidates) -> Part:
    """Count what blocks of groups leave, before and afterwards."""
    pairs: Counter[tuple[int, int]] = Counter()
    for (was, now), times in moves.items():
        pairs[mask_of_block(before, was), mask_of_block(after, now)] += times
    return Part(pairs, before.universe.full)


def mask_of_block(candidates: Candidates, position: int | None) -> int:
    """Return what the block at a position leaves; no block leaves everything."""
    rules = None if position is None else candidates.block(position)
    return -1 if rules is None else rules.mask
