"""What the layers of each agent leave with each model, outside and inside a sandbox; and what they leave after an edit.

Edits that reach every agent meet thousands of such rows. Where an edit changes a list that all agents share, or what
all sandboxes leave, only the layers that read it are worked out anew, once for all rows with the same opening.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from apps.firewall.engine.candidates import Candidates
from apps.firewall.engine.compile import Engine
from apps.firewall.engine.contexts import Classes, agent_of, model_of
from apps.firewall.engine.late import sandbox_mask
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.names import fold
from apps.firewall.engine.opening import Opening, Question, build_opening, profile_beside
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.simulate import Block

Gate: TypeAlias = tuple[str, bool]
"""The transport that restricts tools, and whether the sender is a stranger to the first gates."""

LATE: Final = frozenset({"group", "sender", "subagent"})
"""The layers of blocks that have nothing to do with agent, model or sandbox."""


_PROFILES: Final = {"global": "profile", "global_provider": "provider_profile"}
"""The layer of the profile that reads a shared block, too."""


class Row(NamedTuple):
    """An agent with one model, in a sandbox or not.

    Attributes:
        mask: the tools that are left.
        inside: what the sandbox leaves; -1 outside of one.
    """

    mask: int
    candidates: Candidates
    opening: Opening
    inside: int


class AgentRows:
    """The rows of the agents of one snapshot, worked out when they are first asked for."""

    def __init__(self, engine: Engine, classes: Classes) -> None:
        self._engine = engine
        self._models = [model_of(model) for model in classes.models]
        self._sandboxed = classes.sandboxed
        self._rows: dict[tuple[str, Gate], list[Row]] = {}

    def before(self, agent: str, gate: Gate) -> list[Row]:
        """Return the rows of an agent."""
        known = self._rows.get((agent, gate))
        if known is None:
            known = self._rows[agent, gate] = list(self._built(self._engine, agent, gate))
        return known

    def after(self, engine: Engine, blocks: Mapping[Block, Policy], agent: str, gate: Gate) -> Iterable[Row]:
        """Return them in an engine in which some blocks are other ones."""
        met = {None, agent_of(agent)}
        others = [block for block in blocks if block.layer not in LATE and block.agent in met]
        if not others:
            return self._kept(engine, agent, gate)
        if all(self._is_read_by_few(block, blocks[block]) for block in others):
            return self._changed(engine, others, agent, gate)
        if all(block.layer == "profile" for block in others):
            return self._with_profiles(engine, {block.profile for block in others}, agent, gate)
        return self._built(engine, agent, gate)

    def _built(self, engine: Engine, agent: str, gate: Gate) -> Iterator[Row]:
        transport, is_stranger = gate
        for provider, model in self._models:
            for sandboxed in self._sandboxed:
                asked = Question(agent_of(agent), provider, model, is_stranger, transport or None, sandboxed, True)
                opening = build_opening(engine, asked)
                inside = sandbox_mask(engine, opening) if sandboxed else -1
                yield Row(opening.mask & inside, opening.candidates, opening, inside)

    def _with_profiles(self, engine: Engine, profiles: set[str | None], agent: str, gate: Gate) -> Iterable[Row]:
        """Work all rows out again where one of them names a profile that is another one now."""
        openings = (row.opening for row in self.before(agent, gate))
        named = {name for opening in openings for name in (opening.profile, opening.provider_profile)}
        rows = self._kept if profiles.isdisjoint(named) else self._built
        return rows(engine, agent, gate)

    def _kept(self, engine: Engine, agent: str, gate: Gate) -> Iterator[Row]:
        for row in self.before(agent, gate):
            yield row._replace(candidates=engine.candidates(row.candidates.mask))

    def _is_read_by_few(self, block: Block, policy: Policy) -> bool:
        """Say whether a block of every agent changes nothing but its own layer, and that of the profile beside it."""
        if block.agent is not None or block.layer == "profile":
            return False
        if block.layer == "sandbox":
            return True
        before, universe = _shared(self._engine, block.layer, block.provider) or Policy(), self._engine.universe
        names = _allowed(before) ^ _allowed(policy)
        return not (names and universe.optional & universe.named_optional(frozenset(map(fold, names))))

    def _changed(self, engine: Engine, blocks: Iterable[Block], agent: str, gate: Gate) -> Iterator[Row]:
        changed: dict[str, set[str | None]] = defaultdict(set)
        for block in blocks:
            changed[block.layer].add(block.provider)
        left: dict[int, int] = {}
        for row in self.before(agent, gate):
            opening, inside = row.opening, row.inside
            candidates = engine.candidates(row.candidates.mask)
            mask = left.get(id(opening))
            if mask is None:
                met = {key for key in _PROFILES if _provider(key, opening) in changed.get(key, ())}
                mask = left[id(opening)] = _left(engine, opening, met, candidates)
            if "sandbox" in changed and inside >= 0:
                inside = candidates.rules(engine.sandbox_of(opening.agent).policy, examined=False).mask
            yield Row(mask & inside, candidates, opening, inside)


def _allowed(policy: Policy) -> set[str]:
    return {*(policy.allow or ()), *(policy.also_allow or ())}


def _left(engine: Engine, opening: Opening, changed: set[str], candidates: Candidates) -> int:
    """Return what an opening leaves when some shared blocks are those of another engine."""
    if not changed:
        return opening.mask
    anew = changed | {_PROFILES[key] for key in changed}
    mask = candidates.mask
    for layer, _, rules, _ in opening.layers:
        if layer.key not in anew:
            mask &= rules.mask
    for key in changed:
        policy = _shared(engine, key, _provider(key, opening))
        merged = policy.merged() if policy is not None else None
        profile = profile_beside(engine, _own(key, opening), policy)
        for each, left in ((key, merged), (_PROFILES[key], profile)):
            if left is not None:
                mask &= candidates.rules(left, examined=LAYERS[each].examined).mask
    return mask


def _provider(key: str, opening: Opening) -> str | None:
    return opening.provider_key if key == "global_provider" else None


def _own(key: str, opening: Opening) -> Policy | None:
    """Return the agent's own block beside a shared one."""
    if opening.agent is None:
        return None
    if key == "global":
        return opening.agent.policy
    blocks = opening.agent.by_provider.values()
    return next((block.policy for block in blocks if block.key == opening.agent_provider_key), None)


def _shared(engine: Engine, layer: str, provider: str | None) -> Policy | None:
    """Return a block of every agent: the global one, or that of a provider."""
    if layer == "global":
        return engine.policy
    return next((block.policy for block in engine.by_provider.values() if block.key == provider), None)
