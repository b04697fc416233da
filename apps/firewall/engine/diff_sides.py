"""The sides of a comparison: what agents, senders, depths and conversations let pass in both snapshots, side by side.

The tools of which no mask differs change for nobody. Of the few that are left each has its columns: whom its old and
its new masks let pass, as one integer each.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, NamedTuple, TypeAlias

from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.columns import Numbered, Projection, columns
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.contexts import (
    Classes,
    Conversation,
    Model,
    Naming,
    SenderClass,
    agent_of,
    model_of,
    named_classes,
    sender_of,
)
from apps.firewall.engine.diff_places import ANYBODY, Blocks, Places, identity_of, mask_of_numbers
from apps.firewall.engine.joint import Joint
from apps.firewall.engine.late import sandbox_mask
from apps.firewall.engine.opening import Opening, Question, build_opening
from apps.firewall.engine.owners import WEBCHAT
from apps.firewall.engine.senders import SenderIndex

Pair: TypeAlias = tuple[int, int]
Pairs: TypeAlias = tuple[list[int], list[int]]
"""Columns of the old and of the new snapshot."""

Flavors: TypeAlias = tuple[Candidates, Candidates]
Indexes: TypeAlias = tuple[SenderIndex[int] | None, SenderIndex[int] | None]
Owners: TypeAlias = tuple[bool | None, bool | None]
Who: TypeAlias = tuple[str, Model, bool]

Mark: TypeAlias = Callable[[SenderClass, str], Hashable]
"""What else tells a sender on a channel from others."""

_OPEN: Final = (-1, -1)


class Kind(NamedTuple):
    """What an agent's rules by sender are, and against which candidates all lists are read."""

    indexes: int
    flavors: Flavors


class Table:
    """What the layers of agents, models and sandboxes let pass, on a channel, for an owner or for a stranger."""

    def __init__(self, pairs: list[Pair], kinds: list[Kind]) -> None:
        self.pairs = pairs
        self.kinds = kinds
        self.any_of: dict[Kind, Pair] = {}
        for kind, (old, new) in zip(kinds, pairs, strict=True):
            olds, news = self.any_of.get(kind, (0, 0))
            self.any_of[kind] = (olds | old, news | new)

    def rows(self, project: Projection) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Flavors, ...]]:
        """Return what tells this table from others."""
        olds, news = (tuple(project.row(pair[side]) for pair in self.pairs) for side in (0, 1))
        return olds, news, tuple(kind.flavors for kind in self.kinds)

    def columns(self, project: Projection) -> Pairs:
        """Return for every touched tool who may have it."""
        old, new = Numbered(), Numbered()
        for was, now in self.pairs:
            old.add(project.row(was))
            new.add(project.row(now))
        return old.columns(), new.columns()

    def members(self) -> dict[Kind, int]:
        """Return who is of each kind, as a mask."""
        found: dict[Kind, list[int]] = {}
        for number, kind in enumerate(self.kinds):
            found.setdefault(kind, []).append(number)
        return {kind: mask_of_numbers(numbers, len(self.kinds)) for kind, numbers in found.items()}


class State(NamedTuple):
    """What an owner's state means for a speaker: the table of agents, and what each kind in it lets this speaker do."""

    table: int
    rules: tuple[tuple[Kind, Pair], ...]


class Bearing(NamedTuple):
    """Speakers on one channel whom the agents' side meets alike in every owner's state, and who are marked alike."""

    channel: str
    states: tuple[State, ...]
    mark: Hashable = None


class Sides:
    """Everything that is compared.

    Attributes:
        whos: every agent with every model, inside and outside a sandbox.
        tables: of agents; those that are equal in what is touched are one.
        bearings: each with those who have it: anybody, and who is named.
        apart: everybody whom the rules of agents, the sender layer or the owners name; whether or not that changes
            anything, so that a number of contexts means the same wherever one is told.
    """

    def __init__(
        self,
        old: Engine,
        new: Engine,
        classes: Classes,
        naming: Naming,
        *,
        also: Iterable[SenderClass] = (),
        mark: Mark | None = None,
        without: int = 0,
    ) -> None:
        """Read both sides.

        Args:
            also: senders of the classes who may be told apart though no layer of agents names them.
            without: tools that nobody has in the old one, where both are the same.
        """
        self.classes = classes
        self._engines = (old, new)
        self._without = without
        self._mark = mark
        self.names = tuple(sorted({*old.universe.names, *new.universe.names}))
        self._joints = (Joint(old, self.names), Joint(new, self.names))
        named = [*also, *(each for engine in self._engines for each in named_classes(engine, naming))]
        channels = {sender.channel for sender in named} | {each.channel for each in classes.conversations}
        special = {WEBCHAT, *old.transports, *new.transports, *(sender.channel for sender in named)}
        self.places = Places(self._engines, classes, frozenset((special & channels) - {""}), naming)
        self.whos: tuple[Who, ...] = tuple(
            (agent, model, sandboxed)
            for agent in classes.agents
            for model in classes.models
            for sandboxed in classes.sandboxed
        )
        self._indexes: dict[Indexes, int] = {}
        self._index_of = [self._number_indexes(agent) for agent in classes.agents]
        self._tables: dict[tuple[str, tuple[bool, bool]], int] = {}
        self.tables: list[Table] = []
        self._scalars: dict[tuple[Blocks, Owners, Flavors], Pair] = {}
        known = {identity_of(sender) for sender in named}
        speakers = self._bearings([sender for sender in classes.senders if identity_of(sender) in known])
        self._flavors = {kind.flavors for table in self.tables for kind in table.any_of}
        self.project = Projection(self._touched(speakers.values()), len(self.names))
        self.apart: frozenset[SenderClass] = frozenset()
        self.bearings: dict[Bearing, list[SenderClass]] = {}
        self._tell_apart(speakers)

    @property
    def touched(self) -> tuple[str, ...]:
        """The tools about which any mask differs."""
        return tuple(self.names[number] for number in self.project.numbers)

    def depth_pair(self, flavors: Flavors, depth: int) -> Pair:
        """Return what sub-agents of a depth may use."""
        if not depth:
            return _OPEN
        old, new = (
            joint.open_mask(candidates.rules(engine.subagent_of(depth), examined=False).mask)
            for engine, joint, candidates in zip(self._engines, self._joints, flavors, strict=True)
        )
        return old, new

    def place_columns(self, flavors: Flavors) -> tuple[Pairs, Pairs]:
        """Return for every touched tool in which conversations anybody, and which voices, may have it."""
        pairs = [self._block_pair(blocks, flavors) for blocks in self.places.blocks]
        found = []
        for order in (self.places.silent, self.places.spoken):
            old, new = (
                list(columns([self.project.row(pair[side]) for pair in pairs], order) if order else ())
                or [0] * len(self.project.numbers)
                for side in (0, 1)
            )
            found.append((old, new))
        return found[0], found[1]

    # --- agents ---

    def _number_indexes(self, agent: str) -> int:
        """Number an agent's own rules by sender in both snapshots; equal pairs have one number."""
        found: list[SenderIndex[int] | None] = []
        for engine in self._engines:
            own = engine.agent_defaults if engine.agents is None else engine.agents.get(agent_of(agent))
            found.append(own.senders if own is not None else None)
        return self._indexes.setdefault((found[0], found[1]), len(self._indexes))

    def _table(self, channel: str, owners: Owners) -> int:
        """Return the number of the table of agents before senders and owners, which most releases ask for later."""
        known_old, known_new = (
            owner is True or not engine.dialect.owner_unknown_is_stranger
            for owner, engine in zip(owners, self._engines, strict=True)
        )
        transports = {*self._engines[0].transports, *self._engines[1].transports}
        key = (channel if channel in transports else "", (known_old, known_new))
        if key not in self._tables:
            self._tables[key] = len(self.tables)
            self.tables.append(self._new_table(*key))
        return self._tables[key]

    def _new_table(self, channel: str, known: tuple[bool, bool]) -> Table:
        sides: list[list[tuple[int, Opening]]] = []
        for engine, joint, is_known in zip(self._engines, self._joints, known, strict=True):
            if sides and engine is self._engines[0] and is_known is known[0]:
                sides.append(sides[0])
                continue
            transport = channel if channel in engine.transports else None
            opened = self._opened(engine, transport, stranger=not is_known)
            sides.append(
                [
                    (joint.mask(opening.mask & sandbox_mask(engine, opening) if inside else opening.mask), opening)
                    for inside, opening in opened
                ]
            )
        old, new = sides
        per_agent = len(self.classes.models) * len(self.classes.sandboxed)
        return Table(
            [(was & ~self._without, now) for (was, _), (now, _) in zip(old, new, strict=True)],
            [
                Kind(self._index_of[at // per_agent], (was.candidates, now.candidates))
                for at, ((_, was), (_, now)) in enumerate(zip(old, new, strict=True))
            ],
        )

    def _opened(self, engine: Engine, transport: str | None, *, stranger: bool) -> Iterator[tuple[bool, Opening]]:
        models = [model_of(model) for model in self.classes.models]
        for agent in self.classes.agents:
            name = agent_of(agent)
            for provider, model in models:
                for inside in self.classes.sandboxed:
                    asked = Question(name, provider, model, stranger, transport, inside, True)
                    yield inside, build_opening(engine, asked)

    # --- speakers ---

    def _bearings(self, known: list[SenderClass]) -> dict[tuple[SenderClass, str], Bearing]:
        """Return how everybody stands whom the agents' side might tell apart, on every channel that matters."""
        found: dict[tuple[SenderClass, str], Bearing] = {}
        states: dict[tuple[Owners, int, tuple[Blocks, ...]], State] = {}
        for channel in sorted(self.places.channels):
            for sender in (ANYBODY, *known):
                if not sender.channel or self.places.channel(sender.channel) == channel:
                    found[sender, channel] = self._bearing(sender, channel, states)
        return found

    def _bearing(
        self, sender: SenderClass, channel: str, states: dict[tuple[Owners, int, tuple[Blocks, ...]], State]
    ) -> Bearing:
        own = []
        for is_owner in self.classes.owners:
            owners = self._owners(sender, channel, is_owner)
            key = (owners, self._table(channel, owners), tuple(self._rules_for(sender, channel, owners)))
            if key not in states:
                states[key] = self._state(*key)
            own.append(states[key])
        return Bearing(channel, tuple(own), self._mark(sender, channel) if self._mark is not None else None)

    def _state(self, owners: Owners, number: int, blocks: tuple[Blocks, ...]) -> State:
        rules = []
        for kind, (old, new) in self.tables[number].any_of.items():
            was, now = self._scalar(blocks[kind.indexes], owners, kind.flavors)
            rules.append((kind, (was & old | ~old, now & new | ~new)))
        return State(number, tuple(rules))

    def _scalar(self, blocks: Blocks, owners: Owners, flavors: Flavors) -> Pair:
        """Return what the sender layer and the owner's leave of all tools."""
        pair = self._scalars.get((blocks, owners, flavors))
        if pair is None:
            rules, owner = self._block_pair(blocks, flavors), self._owner_pair(owners, flavors)
            pair = self._scalars[blocks, owners, flavors] = (rules[0] & owner[0], rules[1] & owner[1])
        return pair

    def _owners(self, sender: SenderClass, channel: str, is_owner: bool | None) -> Owners:
        if is_owner is not None:
            return is_owner, is_owner
        speaking = sender_of(sender, Conversation(channel=channel))
        old, new = (engine.owners.knows(speaking.channel, speaking) for engine in self._engines)
        return old, new

    def _owner_pair(self, owners: Owners, flavors: Flavors) -> Pair:
        old, new = (
            joint.open_mask(candidates.rules(engine.owner_only, examined=False).mask)
            if owner is False and not engine.dialect.owner_unknown_is_stranger
            else -1
            for owner, engine, joint, candidates in zip(owners, self._engines, self._joints, flavors, strict=True)
        )
        return old, new

    def _rules_for(self, sender: SenderClass, channel: str, owners: Owners) -> Iterator[Blocks]:
        """Return the blocks of the sender layer for a speaker, for each pair of agents' own rules."""
        speaking = sender_of(sender, Conversation(channel=channel))
        for indexes in self._indexes:
            found: list[int | None] = []
            for engine, own, owner in zip(self._engines, indexes, owners, strict=True):
                rule = None
                if "sender" in engine.dialect.layers and not (owner and channel == WEBCHAT):
                    rule = own.find(speaking) if own is not None else None
                    if rule is None and engine.senders is not None:
                        rule = engine.senders.find(speaking)
                found.append(None if rule is None else rule[1])
            yield found[0], found[1]

    def _block_pair(self, blocks: Blocks, flavors: Flavors) -> Pair:
        if blocks == (None, None):
            return _OPEN
        pair = []
        for block, joint, candidates in zip(blocks, self._joints, flavors, strict=True):
            rules = None if block is None else candidates.block(block)
            pair.append(-1 if rules is None else joint.open_mask(rules.mask))
        return pair[0], pair[1]

    # --- what changes at all ---

    def _touched(self, bearings: Iterable[Bearing]) -> int:
        touched = 0
        for table in self.tables:
            for old, new in set(table.pairs):
                touched |= old ^ new
        for state in {state for bearing in set(bearings) for state in bearing.states}:
            for _, (old, new) in state.rules:
                touched |= old ^ new
        for flavors in self._flavors:
            pairs = [self.depth_pair(flavors, depth) for depth in self.classes.depths]
            pairs += [self._block_pair(blocks, flavors) for blocks in self.places.blocks]
            for old, new in pairs:
                touched |= old ^ new
        return touched & ((1 << len(self.names)) - 1)

    def _tell_apart(self, speakers: dict[tuple[SenderClass, str], Bearing]) -> None:
        """Put speakers together who are alike in what changes; each of them stays a class of its own."""
        numbers: dict[object, int] = {}
        same = [numbers.setdefault(table.rows(self.project), at) for at, table in enumerate(self.tables)]
        seen: dict[Bearing, Bearing] = {}
        for bearing in speakers.values():
            if bearing not in seen:
                seen[bearing] = bearing._replace(states=tuple(self._seen(state, same) for state in bearing.states))
        self.apart = frozenset(sender for sender, _ in speakers) - {ANYBODY}
        for (sender, _), bearing in speakers.items():
            self.bearings.setdefault(seen[bearing], []).append(sender)

    def _seen(self, state: State, same: list[int]) -> State:
        """Return a state as far as the touched tools go."""
        mask = sum(1 << number for number in self.project.numbers)
        rules = tuple((kind, (old & mask, new & mask)) for kind, (old, new) in state.rules)
        return State(same[state.table], rules)
