"""The sides of a comparison: for agents, senders, depths and conversations the masks of both snapshots, side by side.

The tools of which no mask differs change for nobody. Seen through the few that are left, thousands of agents and
conversations fall together into a handful of distinct pairs of masks.
"""

from collections import defaultdict
from collections.abc import Iterator
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
    classes_in,
    context_of,
    named_classes,
    sender_of,
    speaks_in,
)
from apps.firewall.engine.conversation import Chains, answer_in, chains_of
from apps.firewall.engine.groups import Place
from apps.firewall.engine.joint import Joint
from apps.firewall.engine.late import apply_sandbox
from apps.firewall.engine.resolve import WEBCHAT, open_resolution
from apps.firewall.engine.senders import SenderIndex
from apps.firewall.engine.session import session_of

Pair: TypeAlias = tuple[int, int]
Blocks: TypeAlias = tuple[int | None, int | None]
Flavors: TypeAlias = tuple[Candidates, Candidates]
Indexes: TypeAlias = tuple[SenderIndex[int] | None, SenderIndex[int] | None]
Owners: TypeAlias = tuple[bool | None, bool | None]
Who: TypeAlias = tuple[str, Model, bool]
Where: TypeAlias = tuple[Conversation, SenderClass]

ANYBODY: Final = SenderClass()
_ANY_MODEL: Final = Model(ANY_OTHER, ANY_OTHER)
_OPEN: Final = (-1, -1)


class Speaker(NamedTuple):
    """A sender whom the agent's side tells from anybody else, on a channel that matters (`*` for one that does not)."""

    sender: SenderClass
    channel: str


class AgentGroup(NamedTuple):
    """Agents, models and sandboxes with the same masks and the same rules by sender in both snapshots."""

    pair: Pair
    flavors: Flavors
    indexes: Indexes
    number: int


class AgentSide(NamedTuple):
    """A group of agents as a speaker meets it."""

    pair: Pair
    flavors: Flavors
    number: int


class Sides:
    """Everything that is compared, counted by distinct masks."""

    def __init__(self, old: Engine, new: Engine, classes: Classes) -> None:
        self.classes = classes
        self._engines = (old, new)
        self.names = tuple(sorted({*old.universe.names, *new.universe.names}))
        self._joints = (Joint(old, self.names), Joint(new, self.names))
        named = [each for engine in self._engines for each in named_classes(engine)]
        channels = {sender.channel for sender in named} | {each.channel for each in classes.conversations}
        special = {WEBCHAT, *old.transports, *new.transports, *(sender.channel for sender in named)}
        self._special = (special & channels) - {""}
        known = {_identity(sender) for sender in named}
        self._known = [sender for sender in classes.senders if _identity(sender) in known]
        self._by_identity: dict[tuple[str, str], list[SenderClass]] = defaultdict(list)
        for sender in classes.senders:
            self._by_identity[_identity(sender)].append(sender)
        self._whos: list[tuple[Who, ...]] = []
        self._agents: dict[tuple[str, tuple[bool, bool]], list[AgentGroup]] = {}
        self._silent: dict[str, dict[Blocks, list[Conversation]]] = defaultdict(lambda: defaultdict(list))
        self._named: dict[SenderClass, dict[Conversation, Blocks]] = defaultdict(dict)
        self._read_conversations()
        self._touched = self._find_touched()
        self._speakers = self._find_speakers()
        self._voices: dict[str, dict[Blocks, list[Where]]] = defaultdict(lambda: defaultdict(list))
        self._gather_voices()
        self._wheres: list[tuple[Speaker, tuple[Blocks, ...]]] = []
        self._places: dict[tuple[Speaker, Flavors], list[tuple[Pair, int]]] = {}

    @property
    def speakers(self) -> tuple[Speaker, ...]:
        """Everybody whom the agent's side tells apart, anybody included."""
        return self._speakers

    def told_apart(self) -> tuple[frozenset[SenderClass], frozenset[Where]]:
        """Return the senders who are known everywhere, and where the others are known."""
        there = frozenset((conversation, sender) for sender, here in self._named.items() for conversation in here)
        return frozenset(speaker.sender for speaker in self._speakers), there

    def names_of(self, mask: int) -> tuple[str, ...]:
        """Return the tools of a joint mask, sorted."""
        return tuple(name for bit, name in enumerate(self.names) if mask >> bit & 1)

    def tools(self) -> Iterator[tuple[int, str]]:
        """Return the bit and the name of every tool about which any mask differs."""
        for number, name in enumerate(self.names):
            if self._touched >> number & 1:
                yield 1 << number, name

    def who(self, number: int) -> tuple[Who, ...]:
        """Return the agents, models and sandboxes of a group."""
        return self._whos[number]

    def where(self, number: int) -> Iterator[Where]:
        """Return the conversations of a group of places, each with the sender who speaks there."""
        speaker, alike = self._wheres[number]
        own = self._named.get(speaker.sender, {})
        for blocks in alike:
            for conversation in self._silent[speaker.channel].get(blocks, ()):
                if conversation not in own and speaks_in(speaker.sender, conversation):
                    yield conversation, speaker.sender
            if speaker.sender == ANYBODY:
                yield from self._voices[speaker.channel].get(blocks, ())
            elif own:
                for conversation, found in own.items():
                    if found == blocks and self._channel(conversation.channel) == speaker.channel:
                        yield conversation, speaker.sender

    def agent_sides(self, speaker: Speaker, is_owner: bool | None) -> Iterator[AgentSide]:
        """Return the agent's side for a speaker, as far as it touches what changes anywhere."""
        owners = self._owners(speaker, is_owner)
        rules_for: dict[tuple[Indexes, Flavors], Pair] = {}
        for group in self._agents_for(speaker.channel, owners):
            kind = (group.indexes, group.flavors)
            if kind not in rules_for:
                rules = self._block_pair(self._rules_for(speaker, group.indexes, owners), group.flavors)
                owner = self._owner_pair(owners, group.flavors)
                rules_for[kind] = (rules[0] & owner[0] & self._touched, rules[1] & owner[1] & self._touched)
            old, new = rules_for[kind]
            pair = (group.pair[0] & old, group.pair[1] & new)
            if pair != (0, 0):
                yield AgentSide(pair, group.flavors, group.number)

    def depth_pair(self, flavors: Flavors, depth: int) -> Pair:
        """Return what sub-agents of a depth may use."""
        if not depth:
            return _OPEN
        old, new = (
            joint.open_mask(candidates.rules(engine.subagent_of(depth), examined=False).mask)
            for engine, joint, candidates in zip(self._engines, self._joints, flavors, strict=True)
        )
        return old, new

    def places(self, speaker: Speaker, flavors: Flavors) -> list[tuple[Pair, int]]:
        """Return the groups of places where a speaker speaks, by what they let pass of the touched tools."""
        known = self._places.get((speaker, flavors))
        if known is None:
            alike: dict[Pair, list[Blocks]] = defaultdict(list)
            for blocks in self._blocks_met_by(speaker):
                old, new = self._block_pair(blocks, flavors)
                alike[old & self._touched, new & self._touched].append(blocks)
            known = self._places[speaker, flavors] = []
            for pair, met in alike.items():
                known.append((pair, len(self._wheres)))
                self._wheres.append((speaker, tuple(met)))
        return known

    # --- conversations ---

    def _read_conversations(self) -> None:
        """Ask every conversation what it says to anybody, and to those whom its rules name."""
        dialects = {engine.dialect.release: engine.dialect for engine in self._engines}
        for conversation in self.classes.conversations:
            context = context_of(ContextClass(ANY_OTHER, _ANY_MODEL, conversation, ANYBODY, None, False, 0))
            sessions = {release: session_of(dialect, context) for release, dialect in dialects.items()}
            chains = [chains_of(engine, context, sessions[engine.dialect.release]) for engine in self._engines]
            blocks = self._blocks(chains, conversation, ANYBODY)
            self._silent[self._channel(conversation.channel)][blocks].append(conversation)
            here = {_identity(sender) for each in chains for sender in _named_in(each)}
            for sender in (each for identity in here for each in self._by_identity[identity]):
                if speaks_in(sender, conversation):
                    self._named[sender][conversation] = self._blocks(chains, conversation, sender)

    def _blocks(self, chains: list[Chains], conversation: Conversation, sender: SenderClass) -> Blocks:
        speaking = sender_of(sender, conversation)
        old, new = (answer_in(engine, each, speaking) for engine, each in zip(self._engines, chains, strict=True))
        return old and old[0], new and new[0]

    def _blocks_met_by(self, speaker: Speaker) -> dict[Blocks, None]:
        met = dict.fromkeys(self._silent[speaker.channel])
        if speaker.sender == ANYBODY:
            met.update(dict.fromkeys(self._voices[speaker.channel]))
        for conversation, blocks in self._named.get(speaker.sender, {}).items():
            if self._channel(conversation.channel) == speaker.channel:
                met[blocks] = None
        return met

    def _gather_voices(self) -> None:
        """Put the senders who are known in single conversations, and otherwise anybody, beside anybody."""
        apart = {speaker.sender for speaker in self._speakers}
        for sender, here in self._named.items():
            if sender not in apart:
                for conversation, blocks in here.items():
                    self._voices[self._channel(conversation.channel)][blocks].append((conversation, sender))

    def _channel(self, channel: str) -> str:
        return channel if channel in self._special or not channel else ANY_OTHER

    # --- agents and senders ---

    def _agents_for(self, channel: str, owners: Owners) -> list[AgentGroup]:
        """Return the agents as they are before senders and owners, which most releases ask for later."""
        known_old, known_new = (
            owner is True or not engine.dialect.owner_unknown_is_stranger
            for owner, engine in zip(owners, self._engines, strict=True)
        )
        transports = {*self._engines[0].transports, *self._engines[1].transports}
        key = (channel if channel in transports else "", (known_old, known_new))
        if key not in self._agents:
            self._agents[key] = self._agent_groups(*key)
        return self._agents[key]

    def _agent_groups(self, channel: str, known_owners: tuple[bool, bool]) -> list[AgentGroup]:
        merged: dict[tuple[Pair, Flavors, Indexes], list[Who]] = defaultdict(list)
        conversation = Conversation(channel=channel)
        for agent in self.classes.agents:
            for model in self.classes.models:
                for sandboxed in self.classes.sandboxed:
                    opened = []
                    for engine, known in zip(self._engines, known_owners, strict=True):
                        asked = ContextClass(agent, model, conversation, ANYBODY, known or None, sandboxed, 0)
                        resolution = open_resolution(engine, context_of(asked))
                        apply_sandbox(engine, resolution)
                        opened.append(resolution)
                    old, new = opened
                    pair = (self._joints[0].mask(old.mask), self._joints[1].mask(new.mask))
                    flavors = (old.opening.candidates, new.opening.candidates)
                    rules = [each.opening.agent.senders if each.opening.agent else None for each in opened]
                    merged[pair, flavors, (rules[0], rules[1])].append((agent, model, sandboxed))
        return [AgentGroup(*key, self._number(who)) for key, who in merged.items()]

    def _number(self, who: list[Who]) -> int:
        self._whos.append(tuple(who))
        return len(self._whos) - 1

    def _owners(self, speaker: Speaker, is_owner: bool | None) -> Owners:
        if is_owner is not None:
            return is_owner, is_owner
        sender = sender_of(speaker.sender, Conversation(channel=speaker.channel))
        old, new = (engine.owners.knows(sender.channel, sender.id) for engine in self._engines)
        return old, new

    def _owner_pair(self, owners: Owners, flavors: Flavors) -> Pair:
        old, new = (
            joint.open_mask(candidates.rules(engine.owner_only, examined=False).mask)
            if owner is False and not engine.dialect.owner_unknown_is_stranger
            else -1
            for owner, engine, joint, candidates in zip(owners, self._engines, self._joints, flavors, strict=True)
        )
        return old, new

    def _rules_for(self, speaker: Speaker, indexes: Indexes, owners: Owners) -> Blocks:
        """Return the blocks of the sender layer for a speaker."""
        sender = sender_of(speaker.sender, Conversation(channel=speaker.channel))
        found: list[int | None] = []
        for engine, own, owner in zip(self._engines, indexes, owners, strict=True):
            rule = None
            if "sender" in engine.dialect.layers and not (owner and speaker.channel == WEBCHAT):
                rule = own.find(sender) if own is not None else None
                if rule is None and engine.senders is not None:
                    rule = engine.senders.find(sender)
            found.append(None if rule is None else rule[1])
        return found[0], found[1]

    def _block_pair(self, blocks: Blocks, flavors: Flavors) -> Pair:
        if blocks == (None, None):
            return _OPEN
        pair = []
        for block, joint, candidates in zip(blocks, self._joints, flavors, strict=True):
            rules = None if block is None else candidates.block(block)
            pair.append(-1 if rules is None else joint.open_mask(rules.mask))
        return pair[0], pair[1]

    # --- what changes at all ---

    def _all_speakers(self) -> Iterator[Speaker]:
        """Return everybody whom the agent's side might tell apart."""
        for channel in sorted(self._silent):
            yield Speaker(ANYBODY, channel)
            for sender in self._known:
                if not sender.channel or self._channel(sender.channel) == channel:
                    yield Speaker(sender, channel)

    def _pairs(self) -> Iterator[Pair]:
        """Return every pair of masks that any class can meet."""
        kinds: dict[tuple[str, Owners], set[tuple[Indexes, Flavors]]] = {}
        for speaker in self._all_speakers():
            for is_owner in self.classes.owners:
                owners = self._owners(speaker, is_owner)
                asked = (speaker.channel, owners)
                if asked not in kinds:
                    kinds[asked] = {(group.indexes, group.flavors) for group in self._agents_for(*asked)}
                for indexes, flavors in kinds[asked]:
                    yield self._block_pair(self._rules_for(speaker, indexes, owners), flavors)
                    yield self._owner_pair(owners, flavors)
        yield from (group.pair for groups in self._agents.values() for group in groups)
        blocks = {each for here in self._silent.values() for each in here}
        blocks.update(each for here in self._named.values() for each in here.values())
        for flavors in {flavors for found in kinds.values() for _, flavors in found}:
            yield from (self.depth_pair(flavors, depth) for depth in self.classes.depths)
            yield from (self._block_pair(each, flavors) for each in blocks)

    def _find_touched(self) -> int:
        touched = 0
        for old, new in self._pairs():
            touched |= old ^ new
        touched &= (1 << len(self.names)) - 1
        for key, groups in self._agents.items():
            self._agents[key] = self._projected(groups, touched)
        return touched

    def _projected(self, groups: list[AgentGroup], touched: int) -> list[AgentGroup]:
        """Merge the groups that are equal as far as the touched tools go."""
        merged: dict[tuple[Pair, Flavors, Indexes], list[Who]] = defaultdict(list)
        for group in groups:
            pair = (group.pair[0] & touched, group.pair[1] & touched)
            merged[pair, group.flavors, group.indexes].extend(self._whos[group.number])
        return [AgentGroup(*key, self._number(who)) for key, who in merged.items()]

    def _find_speakers(self) -> tuple[Speaker, ...]:
        """Return the speakers who differ from anybody in what changes."""
        signatures: dict[str, object] = {}
        found = []
        for speaker in self._all_speakers():
            signature = [self._signature(speaker, is_owner) for is_owner in self.classes.owners]
            if speaker.sender == ANYBODY:
                signatures[speaker.channel] = signature
                found.append(speaker)
            elif signatures.get(speaker.channel) != signature:
                found.append(speaker)
        apart = {speaker.sender for speaker in found}
        return tuple(speaker for speaker in self._all_speakers() if speaker.sender in apart)

    def _signature(self, speaker: Speaker, is_owner: bool | None) -> list[tuple[Pair, Flavors]]:
        """Return what the agent's side lets pass, and against which candidates the groups' lists are then read."""
        return [(side.pair, side.flavors) for side in self.agent_sides(speaker, is_owner)]


def _identity(sender: SenderClass) -> tuple[str, str]:
    """Return what a rule of either spelling finds a sender by: an id also without its `@`."""
    return sender.kind, sender.value.removeprefix("@")


def _named_in(chains: Chains) -> Iterator[SenderClass]:
    places: Iterator[Place[int]] = (place for _, chain in chains for place in chain)
    for place in places:
        if place.entry.senders is not None:
            yield from classes_in(place.entry.senders)
