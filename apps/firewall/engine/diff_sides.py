"""The sides of a comparison: for agents, senders, depths and conversations the masks of both snapshots, side by side.

A speaker is what the agent's side can tell senders apart by: a sender that the rules of the sender layer or the owners
name, on a channel that matters to them; everybody else is one speaker.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.contexts import (
    ANY_OTHER,
    Classes,
    ContextClass,
    Conversation,
    Model,
    SenderClass,
    class_of,
    context_of,
    named_senders,
    sender_of,
    speaks_in,
)
from apps.firewall.engine.conversation import Chains, answer_in, chains_of
from apps.firewall.engine.groups import Place
from apps.firewall.engine.resolve import WEBCHAT, Resolution, apply_layers, open_resolution
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.session import session_of

Pair: TypeAlias = tuple[int, int]
Blocks: TypeAlias = tuple[int | None, int | None]
Flavors: TypeAlias = tuple[Candidates, Candidates]
Who: TypeAlias = tuple[str, Model, bool]
Where: TypeAlias = tuple[Conversation, SenderClass]

ANYBODY: Final = SenderClass()
_ANY_MODEL: Final = Model(ANY_OTHER, ANY_OTHER)


class Speaker(NamedTuple):
    """A sender that the agent's side knows, or anybody else, on a channel that matters (`*` for one that does not)."""

    sender: SenderClass
    channel: str


@dataclass(frozen=True, slots=True)
class AgentGroup:
    """Agents, models and sandboxes with the same masks in both snapshots."""

    pair: Pair
    flavors: Flavors
    who: tuple[Who, ...]


class Joint:
    """Brings the masks of one snapshot to the bits of both."""

    def __init__(self, engine: Engine, names: tuple[str, ...]) -> None:
        own = engine.universe.names
        self._same = own == names
        places = {name: 1 << bit for bit, name in enumerate(names)}
        self._bits = [places[name] for name in own]
        self._beyond = 0 if self._same else (1 << len(names)) - 1 - sum(self._bits)
        self._known: dict[int, int] = {}

    def mask(self, mask: int) -> int:
        """Return a mask over the tools of both."""
        if self._same:
            return mask
        joint = self._known.get(mask)
        if joint is None:
            joint = self._known[mask] = sum(bit for at, bit in enumerate(self._bits) if mask >> at & 1)
        return joint

    def open_mask(self, mask: int) -> int:
        """Return the mask of one layer: it says nothing about tools that only the other snapshot has."""
        return self.mask(mask) | self._beyond


class Sides:
    """Everything that is compared, counted by distinct masks."""

    def __init__(self, old: Engine, new: Engine, classes: Classes) -> None:
        self.classes = classes
        self._engines = (old, new)
        self.names = tuple(sorted({*old.universe.names, *new.universe.names}))
        self._joints = (Joint(old, self.names), Joint(new, self.names))
        named = [class_of(sender) for engine in self._engines for sender in named_senders(engine)]
        self._known = {_identity(sender) for sender in named}
        special = {WEBCHAT, *old.transports, *new.transports, *(sender.channel for sender in named)}
        channels = {conversation.channel for conversation in classes.conversations}
        self._special = (special & channels | {sender.channel for sender in named}) - {""}
        self._agents: dict[tuple[Speaker, bool | None], list[AgentGroup]] = {}
        self._chains = [[self._chains_of(engine, each) for each in classes.conversations] for engine in self._engines]
        self._places: dict[Speaker, dict[Blocks, list[Where]]] = defaultdict(lambda: defaultdict(list))
        self._fill_places()
        for speaker in self._places:
            for is_owner in classes.owners:
                self._agents[speaker, is_owner] = self._agent_groups(speaker, is_owner)
        self._touched = self._find_touched()

    def speakers(self) -> Iterator[Speaker]:
        """Return every speaker that has a place to speak in."""
        yield from self._places

    def told_apart(self) -> frozenset[Where]:
        """Return every conversation with every sender that is known in it, anybody included."""
        return frozenset(each for places in self._places.values() for where in places.values() for each in where)

    def names_of(self, mask: int) -> tuple[str, ...]:
        """Return the tools of a joint mask, sorted."""
        return tuple(name for bit, name in enumerate(self.names) if mask >> bit & 1)

    def agent_groups(self, speaker: Speaker, is_owner: bool | None) -> list[AgentGroup]:
        """Return the agent's side for a speaker, as far as it touches what changes anywhere."""
        merged: dict[tuple[Pair, Flavors], list[Who]] = defaultdict(list)
        for group in self._agents[speaker, is_owner]:
            pair = (group.pair[0] & self._touched, group.pair[1] & self._touched)
            if pair != (0, 0):
                merged[pair, group.flavors].extend(group.who)
        return [AgentGroup(pair, flavors, tuple(who)) for (pair, flavors), who in merged.items()]

    def depth_pair(self, flavors: Flavors, depth: int) -> Pair:
        """Return what sub-agents of a depth may use."""
        old, new = (
            joint.open_mask(candidates.rules(engine.subagent_of(depth), examined=False).mask) if depth else -1
            for engine, joint, candidates in zip(self._engines, self._joints, flavors, strict=True)
        )
        return old, new

    def place_groups(self, speaker: Speaker, flavors: Flavors) -> dict[Pair, tuple[Where, ...]]:
        """Return the conversations of a speaker by what they let pass."""
        merged: dict[Pair, list[Where]] = defaultdict(list)
        for blocks, where in self._places[speaker].items():
            old, new = self._block_pair(blocks, flavors)
            merged[old & self._touched, new & self._touched].extend(where)
        return {pair: tuple(where) for pair, where in merged.items()}

    def _block_pair(self, blocks: Blocks, flavors: Flavors) -> Pair:
        pair = []
        for block, joint, candidates in zip(blocks, self._joints, flavors, strict=True):
            rules = None if block is None else candidates.block(block)
            pair.append(-1 if rules is None else joint.open_mask(rules.mask))
        return pair[0], pair[1]

    def _find_touched(self) -> int:
        """Return the tools about which any mask of the two snapshots differs; the others change for nobody."""
        touched = 0
        flavors: dict[Flavors, None] = {}
        for groups in self._agents.values():
            for group in groups:
                touched |= group.pair[0] ^ group.pair[1]
                flavors[group.flavors] = None
        for each in flavors:
            for depth in self.classes.depths:
                old, new = self.depth_pair(each, depth)
                touched |= old ^ new
            for blocks in {blocks for places in self._places.values() for blocks in places}:
                old, new = self._block_pair(blocks, each)
                touched |= old ^ new
        return touched & (1 << len(self.names)) - 1

    def _chains_of(self, engine: Engine, conversation: Conversation) -> Chains:
        context = context_of(ContextClass(ANY_OTHER, _ANY_MODEL, conversation, ANYBODY, None, False, 0))
        return chains_of(engine, context, session_of(engine.dialect, context))

    def _fill_places(self) -> None:
        """Give every conversation to the speakers it knows: those named in it, those of the agent's side, anybody."""
        known = [sender for sender in self.classes.senders if _identity(sender) in self._known]
        for conversation, *chains in zip(self.classes.conversations, *self._chains, strict=True):
            here = {
                class_of(sender) for each in chains for _, chain in each for place in chain for sender in _named(place)
            }
            for sender in {ANYBODY, *known, *here}:
                if speaks_in(sender, conversation):
                    found = self._blocks(chains, conversation, sender)
                    self._places[self._speaker(sender, conversation)][found].append((conversation, sender))

    def _blocks(self, chains: list[Chains], conversation: Conversation, sender: SenderClass) -> Blocks:
        speaking = sender_of(sender, conversation)
        old, new = (answer_in(engine, each, speaking) for engine, each in zip(self._engines, chains, strict=True))
        return old and old[0], new and new[0]

    def _speaker(self, sender: SenderClass, conversation: Conversation) -> Speaker:
        channel = conversation.channel or sender.channel
        if channel and channel not in self._special:
            channel = ANY_OTHER
        return Speaker(sender if _identity(sender) in self._known else ANYBODY, channel)

    def _agent_groups(self, speaker: Speaker, is_owner: bool | None) -> list[AgentGroup]:
        merged: dict[tuple[Pair, Flavors], list[Who]] = defaultdict(list)
        conversation = Conversation(channel=speaker.channel)
        for agent in self.classes.agents:
            for model in self.classes.models:
                for sandboxed in self.classes.sandboxed:
                    asked = ContextClass(agent, model, conversation, speaker.sender, is_owner, sandboxed, 0)
                    old, new = (self._open(engine, asked) for engine in self._engines)
                    pair = (self._joints[0].mask(old.mask), self._joints[1].mask(new.mask))
                    flavors = (old.opening.candidates, new.opening.candidates)
                    merged[pair, flavors].append((agent, model, sandboxed))
        return [AgentGroup(pair, flavors, tuple(who)) for (pair, flavors), who in merged.items()]

    def _open(self, engine: Engine, asked: ContextClass) -> Resolution:
        resolution = open_resolution(engine, context_of(asked))
        apply_layers(engine, resolution, (key for key in engine.dialect.layers if key != "group"))
        return resolution


def _identity(sender: SenderClass) -> tuple[str, str]:
    """Return what a rule of either spelling finds a sender by: an id also without its `@`."""
    return sender.kind, sender.value.removeprefix("@")


def _named(place: Place[int]) -> Iterator[Sender]:
    return iter(()) if place.entry.senders is None else place.entry.senders.senders()
