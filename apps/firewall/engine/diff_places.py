"""The places of a comparison: every conversation, every sender whom its rules name, and the blocks that hold there."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import (
    ANY_OTHER,
    Classes,
    ContextClass,
    Conversation,
    Model,
    Naming,
    SenderClass,
    context_of,
    sender_of,
    speaks_in,
)
from apps.firewall.engine.conversation import Chains, block_in, chains_of
from apps.firewall.engine.senders import Sender, SenderIndex
from apps.firewall.engine.session import Session, session_of

Blocks: TypeAlias = tuple[int | None, int | None]
"""The positions of the blocks that hold, in the old and in the new snapshot."""

Where: TypeAlias = tuple[Conversation, SenderClass]

ANYBODY: Final = SenderClass()
_ANY_MODEL: Final = Model(ANY_OTHER, ANY_OTHER)


class Places:
    """Every conversation, and every voice: a sender whom the rules of a conversation name.

    Attributes:
        chains: for each conversation what may answer there, in the old and in the new snapshot.
        silent: for each conversation the number of the blocks that hold for whoever is not named there.
        voices: each with its conversation, the conversations in order.
        spoken: for each voice the number of the blocks that hold for it.
        blocks: every pair of blocks that holds anywhere.
        channels: for each channel that matters its conversations as a mask; `*` has those of all others.
        group_ids: for each conversation by which ids the old snapshot's release knows the groups around it.
    """

    def __init__(
        self, engines: tuple[Engine, Engine], classes: Classes, special: Collection[str], naming: Naming
    ) -> None:
        self.conversations = classes.conversations
        self.chains: list[tuple[Chains, Chains]] = []
        self.silent: list[int] = []
        self.voices: list[Where] = []
        self.voice_at: list[int] = []
        self.spoken: list[int] = []
        self.blocks: list[Blocks] = []
        self.channels: dict[str, int] = {}
        self.group_ids: list[tuple[str, ...]] = []
        self._special = special
        self._engines = engines
        self._numbers: dict[Blocks, int] = {}
        self._naming = naming
        self._senders = frozenset(classes.senders)
        self._odd = _odd_spellings(classes.senders)
        self._read()
        del self._senders, self._odd

    def channel(self, channel: str) -> str:
        """Return the channel as which this one counts."""
        return channel if channel in self._special or not channel else ANY_OTHER

    def _read(self) -> None:
        dialects = {engine.dialect.key_reading: engine.dialect for engine in self._engines}
        channels: dict[str, list[int]] = defaultdict(list)
        for number, conversation in enumerate(self.conversations):
            context = context_of(ContextClass(ANY_OTHER, _ANY_MODEL, conversation, ANYBODY, None, False, 0))
            sessions = {reading: session_of(dialect, context) for reading, dialect in dialects.items()}
            old, new = self._chains(context, sessions)
            self.chains.append((old, new))
            self.group_ids.append(sessions[self._engines[0].dialect.key_reading].group_ids)
            channels[self.channel(conversation.channel)].append(number)
            self.silent.append(self._number(old, new, sender_of(ANYBODY, conversation)))
            if old or new:
                self._read_voices(number, conversation, old, new)
        everywhere = len(self.conversations)
        for channel, numbers in channels.items():
            self.channels[channel] = mask_of_numbers(numbers, everywhere)

    def _chains(self, context: CallContext, sessions: Mapping[tuple[str, bool], Session]) -> tuple[Chains, Chains]:
        before, after = self._engines
        old = chains_of(before, context, sessions[before.dialect.key_reading])
        return old, old if after is before else chains_of(after, context, sessions[after.dialect.key_reading])

    def _read_voices(self, number: int, conversation: Conversation, old: Chains, new: Chains) -> None:
        here: dict[SenderClass, None] = {}
        for chains in (old,) if new is old else (old, new):
            for _, chain in chains:
                for place in chain:
                    here.update(dict.fromkeys(self._spelt(SenderClass("id", peer) for peer in place.peers)))
                    for each in place.each:
                        if each.entry is not None and each.entry.senders is not None:
                            here.update(dict.fromkeys(self._found_by(each.entry.senders)))
        for sender in here:
            if speaks_in(sender, conversation):
                self.voices.append((conversation, sender))
                self.voice_at.append(number)
                self.spoken.append(self._number(old, new, sender_of(sender, conversation)))

    def _number(self, old: Chains, new: Chains, sender: Sender) -> int:
        before, after = self._engines
        block = block_in(before, old, sender)
        blocks = (block, block if after is before and new is old else block_in(after, new, sender))
        number = self._numbers.get(blocks)
        if number is None:
            number = self._numbers[blocks] = len(self.blocks)
            self.blocks.append(blocks)
        return number

    def _spelt(self, peers: Iterable[SenderClass]) -> Iterable[SenderClass]:
        """Return senders in each spelling that is told apart; who stands for everybody is none."""
        for sender in peers:
            if sender.value != ANY_OTHER:
                yield sender
                yield from self._odd.get(identity_of(sender), ())

    def _found_by(self, index: SenderIndex[int]) -> Iterable[SenderClass]:
        """Return the classes whom the rules of an index find: an id with and without its `@`, on any channel."""
        named = self._naming.classes_in(index)
        if not self._odd:
            return named
        found: list[SenderClass] = []
        for sender in named:
            identity = sender.kind, sender.value
            if sender.channel or sender.value[:1] == "@":
                identity = identity_of(sender)
                plain = SenderClass(*identity)
                found += (plain,) if plain in self._senders else ()
            elif sender != ANYBODY:
                found.append(sender)
            if identity in self._odd:
                found += self._odd[identity]
        return found


def mask_of_numbers(numbers: Collection[int], size: int) -> int:
    """Return a mask with these bits."""
    digits = bytearray(b"0" * size)
    for number in numbers:
        digits[size - 1 - number] = 49  # the digit 1
    return int(digits or b"0", 2)


def identity_of(sender: SenderClass) -> tuple[str, str]:
    """Return what a rule of either spelling finds a sender by: an id also without its `@`."""
    return sender.kind, sender.value.removeprefix("@")


def _odd_spellings(senders: Collection[SenderClass]) -> dict[tuple[str, str], list[SenderClass]]:
    """Return the senders that are written with an `@` or a channel, by what they are found by."""
    found: dict[tuple[str, str], list[SenderClass]] = defaultdict(list)
    for sender in senders:
        if sender.channel or sender.value[:1] == "@":
            found[identity_of(sender)].append(sender)
    return found
