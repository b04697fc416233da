"""What an edit changes elsewhere: every verdict over all classes of contexts, counted and never written out.

A verdict is an AND of independent parts: agent with model and sandbox, depth, who speaks, and where. Who has a tool in
each part is counted before and after, and the products are numbers of contexts. Senders whom the sender layer, agents'
rules or owners name are told apart everywhere, others where rules of a conversation name them.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

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
    agent_of,
    classes_of,
    context_of,
    model_of,
    named_classes,
    sender_of,
)
from apps.firewall.engine.conversation import block_in, chains_of
from apps.firewall.engine.diff_places import ANYBODY, Places, identity_of
from apps.firewall.engine.late import sandbox_mask
from apps.firewall.engine.opening import Question, build_opening
from apps.firewall.engine.resolve import WEBCHAT
from apps.firewall.engine.senders import SenderIndex
from apps.firewall.engine.session import session_of
from apps.firewall.engine.simulate import Block
from apps.firewall.engine.snapshot import Snapshot

Pair: TypeAlias = tuple[int, int]
"""Masks of tools, before and after."""

Move: TypeAlias = tuple[int | None, int | None]
"""The position of the group's block that holds, before and after."""

Row: TypeAlias = tuple[int, Candidates]
Gate: TypeAlias = tuple[str, bool]
"""The transport that restricts tools, and whether the sender is a stranger to the first gates."""

Speaker: TypeAlias = tuple[SenderClass, bool | None]
"""Who speaks, and whether that is an owner."""

_LATE: Final = frozenset({"group", "sender", "subagent"})
_ANY_MODEL: Final = Model(ANY_OTHER, ANY_OTHER)


class Effect(NamedTuple):
    """In how many classes of contexts a tool is opened and closed."""

    tool: str
    opened: int
    closed: int


class _Kind(NamedTuple):
    """Agents with the same rules by sender, of their own or none, whose lists are read against the same candidates."""

    agent: str
    before: Candidates
    after: Candidates


@dataclass(frozen=True, slots=True)
class _Spread:
    """Senders who are in the same places of one channel.

    Attributes:
        own: conversations whose rules name them.
        blocks: how often each block of a group holds for one of them.
    """

    channel: str
    senders: tuple[SenderClass, ...]
    own: frozenset[int]
    blocks: Counter[Move]


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
        self._rows: dict[tuple[str, Gate], list[Row]] = {}
        self.spreads = [each for channel in sorted(self._places.channels) for each in self._spread(channel)]

    def agents_met(self, blocks: Iterable[Block]) -> tuple[str, ...]:
        """Return the agents whom blocks concern; `*` is any other."""
        names = {None if block.layer == "group" else block.agent for block in blocks}
        if None in names:
            return self.classes.agents
        return tuple(agent for agent in self.classes.agents if agent_of(agent) in names)

    def effects(self, after: Engine, blocks: Collection[Block], agents: Sequence[str]) -> dict[str, Effect]:
        """Count the verdicts of some agents that differ afterwards, by tool.

        Args:
            after: the engine in which `blocks` are other ones.
        """
        late = {block.layer for block in blocks} <= _LATE
        return _Count(self, after, agents, self._moved(after, blocks), late=late).effects()

    def rows(self, agent: str, gate: Gate) -> list[Row]:
        """Return what the layers of an agent leave with each model, outside and inside a sandbox."""
        known = self._rows.get((agent, gate))
        if known is None:
            known = self._rows[agent, gate] = self.rows_in(self.engine, agent, gate)
        return known

    def rows_in(self, engine: Engine, agent: str, gate: Gate) -> list[Row]:
        """Do the same in another engine."""
        found = []
        transport, is_stranger = gate
        for provider, model in self._models:
            for inside in self.classes.sandboxed:
                asked = Question(agent_of(agent), provider, model, is_stranger, transport or None, inside, True)
                opening = build_opening(engine, asked)
                mask = opening.mask & sandbox_mask(engine, opening) if inside else opening.mask
                found.append((mask, opening.candidates))
        return found

    @cached_property
    def _models(self) -> list[tuple[str | None, str | None]]:
        return [model_of(model) for model in self.classes.models]

    # --- places ---

    def _spread(self, channel: str) -> Iterator[_Spread]:
        """Put senders together who are in the same places of a channel."""
        places = self._places
        blocks, here = places.blocks, list(numbers_of(places.channels[channel]))
        silent = Counter(blocks[places.silent[number]] for number in here)
        spoken: dict[SenderClass, Counter[Move]] = defaultdict(Counter)
        own: dict[SenderClass, set[int]] = defaultdict(set)
        for number in here:
            for voice in self._voices.get(number, ()):
                sender = self._speaker(voice)
                spoken[sender][blocks[places.spoken[voice]]] += 1
                if sender != ANYBODY:
                    own[sender].add(number)
        yield _Spread(channel, (ANYBODY,), frozenset(), silent + spoken[ANYBODY])
        around = sorted(each for each in self._known if not each.channel or places.channel(each.channel) == channel)
        for sender in (each for each in around if each in own):
            elsewhere = silent - Counter(blocks[places.silent[number]] for number in own[sender])
            yield _Spread(channel, (sender,), frozenset(own[sender]), elsewhere + spoken[sender])
        plain = tuple(each for each in around if each not in own)
        if plain:
            yield _Spread(channel, plain, frozenset(), silent)

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
                (name.removeprefix("channels."), *place.path) for name, chain in chains for place in chain
            ):
                found[path].append(number)
        return found

    def _moved(self, after: Engine, blocks: Iterable[Block]) -> list[Counter[Move]]:
        """Return for every spread how often a block holds before and another one afterwards."""
        moved = [each.blocks for each in self.spreads]
        paths = [block.path for block in blocks if block.layer == "group"]
        touched = sorted({number for path in paths for number in self._chained.get(path, ())})
        if touched:
            moved = [Counter(each) for each in moved]
        for number in touched:
            self._move(after, number, moved)
        return moved

    def _move(self, after: Engine, number: int, moved: list[Counter[Move]]) -> None:
        conversation = self.classes.conversations[number]
        context = context_of(ContextClass(ANY_OTHER, _ANY_MODEL, conversation, ANYBODY, None, False, 0))
        chains = chains_of(after, context, session_of(after.dialect, context))
        places, channel = self._places, self._places.channel(conversation.channel)

        def move(spread: Counter[Move], block: int | None, sender: SenderClass) -> None:
            spread[block, block] -= 1
            spread[block, block_in(after, chains, sender_of(sender, conversation))] += 1

        spoken: dict[SenderClass, list[int]] = defaultdict(list)
        for voice in self._voices.get(number, ()):
            spoken[self._speaker(voice)].append(voice)
        for each, spread in zip(self.spreads, moved, strict=True):
            if each.channel != channel:
                continue
            if number not in each.own:
                move(spread, places.blocks[places.silent[number]][0], ANYBODY)
            for sender in each.senders:
                for voice in spoken.get(sender, ()):
                    move(spread, places.blocks[places.spoken[voice]][0], places.voices[voice][1])


class _Count:
    """One comparison: each part of a verdict, before and after."""

    def __init__(
        self, around: Surroundings, after: Engine, agents: Sequence[str], moved: list[Counter[Move]], *, late: bool
    ) -> None:
        self._around = around
        self._engines = (around.engine, after)
        self._agents = agents
        self._moved = moved
        self._late = late
        self._whos: dict[Gate, dict[_Kind, Counter[Pair]]] = {}
        self._wheres: dict[tuple[int, Candidates, Candidates], Counter[Pair]] = {}
        self._opened: Counter[int] = Counter()
        self._closed: Counter[int] = Counter()

    def effects(self) -> dict[str, Effect]:
        """Count by tool."""
        for number, spread in enumerate(self._around.spreads):
            for is_owner in self._around.classes.owners:
                by_gate: dict[Gate, list[Speaker]] = defaultdict(list)
                for sender in spread.senders:
                    owner = self._owner(sender, spread.channel, is_owner)
                    by_gate[self._gate(spread.channel, owner)].append((sender, owner))
                for gate, speakers in by_gate.items():
                    for kind, whos in self._who(gate).items():
                        said = self._said(kind, spread.channel, speakers)
                        self._multiply(whos, said, self._deep(kind), self._where(number, kind))
        names = self._around.engine.universe.names
        met = sorted({*self._opened, *self._closed})
        return {names[bit]: Effect(names[bit], self._opened[bit], self._closed[bit]) for bit in met}

    def _multiply(self, *parts: Mapping[Pair, int]) -> None:
        touched = 0
        for part in parts:
            for before, after in part:
                touched |= before ^ after
        for bit in numbers_of(touched & self._around.engine.universe.full):
            before, after, both = 1, 1, 1
            for part in parts:
                had = [(was >> bit & 1, now >> bit & 1, times) for (was, now), times in part.items()]
                before *= sum(times for was, _, times in had if was)
                after *= sum(times for _, now, times in had if now)
                both *= sum(times for was, now, times in had if was and now)
            if after > both:
                self._opened[bit] += after - both
            if before > both:
                self._closed[bit] += before - both

    def _owner(self, sender: SenderClass, channel: str, is_owner: bool | None) -> bool | None:
        if is_owner is not None:
            return is_owner
        speaking = sender_of(sender, Conversation(channel=channel))
        return self._around.engine.owners.knows(speaking.channel, speaking.id)

    def _gate(self, channel: str, owner: bool | None) -> Gate:
        engine = self._around.engine
        is_stranger = engine.dialect.owner_unknown_is_stranger and owner is not True
        return channel if channel in engine.transports else "", is_stranger

    def _who(self, gate: Gate) -> dict[_Kind, Counter[Pair]]:
        """Count agents with models and sandboxes by what their layers leave."""
        if gate not in self._whos:
            found: dict[_Kind, Counter[Pair]] = defaultdict(Counter)
            for agent in self._agents:
                before = self._around.rows(agent, gate)
                name = agent if any(self._senders(engine, agent) for engine in self._engines) else ""
                for (was, old), (now, new) in zip(before, self._rows_after(agent, gate, before), strict=True):
                    found[_Kind(name, old, new)][was, now] += 1
            self._whos[gate] = found
        return self._whos[gate]

    def _rows_after(self, agent: str, gate: Gate, before: list[Row]) -> list[Row]:
        after = self._engines[1]
        if not self._late:
            return self._around.rows_in(after, agent, gate)
        return [(mask, after.candidates(candidates.mask)) for mask, candidates in before]

    @staticmethod
    def _senders(engine: Engine, agent: str) -> SenderIndex[int] | None:
        if engine.agents is None:
            return engine.agent_defaults.senders
        rules = engine.agents.get(agent_of(agent))
        return rules.senders if rules is not None else None

    def _said(self, kind: _Kind, channel: str, speakers: Iterable[Speaker]) -> Counter[Pair]:
        """Count speakers by what the sender layer and the owners' leave."""
        found: Counter[Pair] = Counter()
        for sender, owner in speakers:
            was, now = (
                self._left_to(engine, candidates, kind.agent, channel, sender, owner)
                for engine, candidates in zip(self._engines, kind[1:], strict=True)
            )
            found[was, now] += 1
        return found

    def _left_to(
        self,
        engine: Engine,
        candidates: Candidates,
        agent: str,
        channel: str,
        sender: SenderClass,
        owner: bool | None,
    ) -> int:
        mask, rule = -1, None
        if "sender" in engine.dialect.layers and not (owner and channel == WEBCHAT):
            speaking, own = sender_of(sender, Conversation(channel=channel)), self._senders(engine, agent)
            rule = own.find(speaking) if own is not None else None
            if rule is None and engine.senders is not None:
                rule = engine.senders.find(speaking)
        if rule is not None:
            mask &= _of_block(candidates, rule[1])
        if owner is False and not engine.dialect.owner_unknown_is_stranger:
            mask &= candidates.rules(engine.owner_only, examined=False).mask
        return mask

    def _deep(self, kind: _Kind) -> Counter[Pair]:
        """Count depths of sub-agents by what they leave."""
        found: Counter[Pair] = Counter()
        for depth in self._around.classes.depths:
            was, now = (
                candidates.rules(engine.subagent_of(depth), examined=False).mask if depth else -1
                for engine, candidates in zip(self._engines, kind[1:], strict=True)
            )
            found[was, now] += 1
        return found

    def _where(self, spread: int, kind: _Kind) -> Counter[Pair]:
        """Count conversations by what their groups leave to the senders of a spread."""
        key = (spread, kind.before, kind.after)
        if key not in self._wheres:
            found: Counter[Pair] = Counter()
            for (was, now), times in self._moved[spread].items():
                if times:
                    found[_of_block(kind.before, was), _of_block(kind.after, now)] += times
            self._wheres[key] = found
        return self._wheres[key]


def _of_block(candidates: Candidates, position: int | None) -> int:
    rules = None if position is None else candidates.block(position)
    return -1 if rules is None else rules.mask
