"""What an edit changes: every verdict over all classes of contexts, counted and never written out.

A verdict is an AND of independent parts: agent with model and sandbox, depth, who speaks, and where. Who has a tool in
each part is counted before and after, and the products are numbers of contexts.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

from apps.firewall.engine.agent_rows import LATE, Gate
from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.contexts import Conversation, SenderClass, agent_of, sender_of
from apps.firewall.engine.owners import WEBCHAT
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.senders import SenderIndex
from apps.firewall.engine.simulate import Block
from apps.firewall.engine.surroundings import Speakers, Surroundings, mask_of_block, part_of
from apps.firewall.engine.tally import Counted, Counts, Pair, Part, Sum, bits_of, product


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


def agents_met(around: Surroundings, blocks: Iterable[Block]) -> tuple[str, ...]:
    """Return the agents whom blocks concern; `*` is any other."""
    names = {None if block.layer == "group" else block.agent for block in blocks}
    every = around.classes.agents
    return every if None in names else tuple(agent for agent in every if agent_of(agent) in names)


def effects_of(
    around: Surroundings, after: Engine, blocks: Mapping[Block, Policy], agents: Sequence[str], *, limit: float = inf
) -> dict[str, Effect] | None:
    """Count the verdicts of some agents that differ afterwards, by tool; None once there are more than a limit.

    Args:
        after: the engine in which `blocks` are other ones.
    """
    return _Count(around, after, blocks, agents).effects(limit)


class _Group(NamedTuple):
    """Agents of one kind with those who speak to them at one gate; the numbers of both are factors."""

    gate: Gate
    kind: _Kind
    whos: Part
    deep: Part


class _Count:
    """One comparison: each part of a verdict, before and after."""

    def __init__(
        self, around: Surroundings, after: Engine, blocks: Mapping[Block, Policy], agents: Sequence[str]
    ) -> None:
        self._around = around
        self._engines = (around.engine, after)
        self._blocks = blocks
        self._agents = agents
        self._full = around.engine.universe.full
        self._moves = around.moves(after, blocks)
        layers = {block.layer for block in blocks}
        self._is_said_anew = "sender" in layers
        self._is_spoken_anew = self._is_said_anew or self._moves is not None
        self._shifted: dict[tuple[str | int, _Kind], Part] = {}
        self._spoken: dict[tuple[Gate, _Kind], list[tuple[Part, Sum]]] = {}

    def effects(self, limit: float) -> dict[str, Effect] | None:
        """Count by tool."""
        groups = [group for gate in self._around.speakers for group in self._groups(gate)]
        parts = (part for group in groups for part in (group.whos, group.deep, *self._touching(group)))
        names, found, total = self._around.engine.universe.names, [], 0
        for bit in bits_of(*parts):
            effect = self._effect(names[bit], bit, groups)
            total += effect.opened + effect.closed
            if total > limit:
                return None
            if effect.opened or effect.closed:
                found.append(effect)
        return {effect.tool: effect for effect in found}

    def _effect(self, tool: str, bit: int, groups: Iterable[_Group]) -> Effect:
        opened, closed = 0, 0
        for group in groups:
            spoken = self._spoken_to(group, bit)
            before, after, both = product((spoken, group.whos.counts(bit), group.deep.counts(bit)))
            opened += after - both
            closed += before - both
        return Effect(tool, opened, closed)

    # --- who speaks, and where ---

    def _touching(self, group: _Group) -> Iterator[Counted]:
        if self._is_changed(group.kind):
            for said, where in self._speaking(group.gate, group.kind):
                yield said
                yield where

    def _is_changed(self, kind: _Kind) -> bool:
        return self._is_spoken_anew or kind.before.mask != kind.after.mask

    def _spoken_to(self, group: _Group, bit: int) -> Counts:
        """Count speakers and places that leave a tool; where nothing about them changes, for the next edit too."""
        if self._is_changed(group.kind):
            return self._summed(group, bit)
        key = (group.gate, group.kind.agent, group.kind.before.mask, bit)
        known = self._around.spoken.get(key)
        if known is None:
            known = self._around.spoken[key] = self._summed(group, bit)
        return known

    def _summed(self, group: _Group, bit: int) -> Counts:
        before, after, both = 0, 0, 0
        for said, where in self._speaking(group.gate, group.kind):
            one, other = said.counts(bit), where.counts(bit)
            before += one.before * other.before
            after += one.after * other.after
            both += one.both * other.both
        return Counts(before, after, both)

    def _speaking(self, gate: Gate, kind: _Kind) -> list[tuple[Part, Sum]]:
        known = self._spoken.get((gate, kind))
        if known is None:
            known = self._spoken[gate, kind] = [
                (self._said(gate, kind, speakers), self._where(speakers.spread, kind))
                for speakers in self._around.speakers[gate]
            ]
        return known

    def _said(self, gate: Gate, kind: _Kind, speakers: Speakers) -> Part:
        """Count speakers by what the sender layer and the owners' leave."""
        if self._is_said_anew or kind.before.mask != kind.after.mask:
            return self._said_anew(kind, speakers)
        key = (gate, speakers.spread, speakers.is_owner, kind.agent, kind.before.mask)
        known = self._around.said.get(key)
        if known is None:
            known = self._around.said[key] = self._said_anew(kind, speakers)
        return known

    def _said_anew(self, kind: _Kind, speakers: Speakers) -> Part:
        channel = self._around.spreads[speakers.spread].channel
        found: Counter[Pair] = Counter()
        for sender, owner in speakers.each:
            was, now = (
                self._left_to(engine, candidates, kind.agent, channel, sender, owner)
                for engine, candidates in zip(self._engines, kind[1:], strict=True)
            )
            found[was, now] += 1
        return Part(found, self._full)

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
            mask &= mask_of_block(candidates, rule[1])
        if owner is False and not engine.dialect.owner_unknown_is_stranger:
            mask &= candidates.rules(engine.owner_only, examined=False).mask
        return mask

    def _where(self, number: int, kind: _Kind) -> Sum:
        """Count conversations by what their groups leave to the senders of a spread."""
        parts = self._around.places(number, kind.before, kind.after)
        if self._moves is not None:
            channel = self._around.spreads[number].channel
            for key, moves in ((channel, self._moves.silent[channel]), (number, self._moves.spoken[number])):
                if moves:
                    if (key, kind) not in self._shifted:
                        self._shifted[key, kind] = part_of(moves, kind.before, kind.after)
                    parts.append(self._shifted[key, kind])
        return Sum(parts)

    # --- agents and sub-agents ---

    def _groups(self, gate: Gate) -> Iterator[_Group]:
        for kind, whos in self._who(gate).items():
            yield _Group(gate, kind, whos, self._deep(kind))

    def _who(self, gate: Gate) -> dict[_Kind, Part]:
        """Count agents with models and sandboxes by what their layers leave."""
        after, rows = self._engines[1], self._around.rows
        if LATE.issuperset(block.layer for block in self._blocks) and self._agents == self._around.classes.agents:
            kept = self._everybody(gate)
            return {kind._replace(after=after.candidates(kind.after.mask)): part for kind, part in kept.items()}
        found: dict[_Kind, Counter[Pair]] = defaultdict(Counter)
        for agent in self._agents:
            name = self._name(agent)
            then = rows.after(after, self._blocks, agent, gate)
            for was, now in zip(rows.before(agent, gate), then, strict=True):
                found[_Kind(name, was.candidates, now.candidates)][was.mask, now.mask] += 1
        return {kind: Part(pairs, self._full) for kind, pairs in found.items()}

    def _everybody(self, gate: Gate) -> dict[_Kind, Part]:
        """Return all agents as they are, which holds for every edit that has nothing to do with them."""
        known = self._around.everybody.get(gate)
        if known is None:
            found: dict[_Kind, Counter[Pair]] = defaultdict(Counter)
            for agent in self._around.classes.agents:
                name = self._name(agent)
                for row in self._around.rows.before(agent, gate):
                    found[_Kind(name, row.candidates, row.candidates)][row.mask, row.mask] += 1
            known = {kind: Part(pairs, self._full) for kind, pairs in found.items()}
            self._around.everybody[gate] = known
        return known

    def _name(self, agent: str) -> str:
        return agent if any(self._senders(engine, agent) for engine in self._engines) else ""

    @staticmethod
    def _senders(engine: Engine, agent: str) -> SenderIndex[int] | None:
        if engine.agents is None:
            return engine.agent_defaults.senders
        rules = engine.agents.get(agent_of(agent))
        return rules.senders if rules is not None else None

    def _deep(self, kind: _Kind) -> Part:
        """Count depths of sub-agents by what they leave."""
        found: Counter[Pair] = Counter()
        for depth in self._around.classes.depths:
            was, now = (
                candidates.rules(engine.subagent_of(depth), examined=False).mask if depth else -1
                for engine, candidates in zip(self._engines, kind[1:], strict=True)
            )
            found[was, now] += 1
        return Part(found, self._full)
