"""The part of a decision that depends on agent, provider and model only: gates, profiles, global and agent blocks.

Source: conformance README, "Block to policy", "Profile", "Agent" and "Provider key"; `apply_patch.jsonl`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, cast

from apps.firewall.engine.apply_patch import gate_refusal, read_apply_patch, sandbox_refuses
from apps.firewall.engine.candidates import Candidates, Rules
from apps.firewall.engine.compile import AgentRules, Engine
from apps.firewall.engine.layers import GATE_OWNER_ONLY, LAYERS, Layer
from apps.firewall.engine.names import ANYTHING, fold
from apps.firewall.engine.policy import APPLY_PATCH, Policy, add_also_allow, profile_policy
from apps.firewall.engine.providers import ProviderBlock, find_provider, provider_keys
from apps.firewall.engine.sandbox_policy import left_by_transport

Place: TypeAlias = tuple[str, ...]
"""Where a rule stands, in parts: they are put together only when somebody asks."""

Applied: TypeAlias = tuple[Layer, str, Rules, Place]
"""A layer that has a policy here: the layer, its label, its rules, and where they stand (see `where_of`)."""


def where_of(place: Place) -> str:
    """Return where a rule stands, its parts joined by dots."""
    return place[0] if len(place) == 1 else ".".join(place)


class Gate(NamedTuple):
    """A removal of candidates before the layers."""

    layer: Layer
    removed: int
    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Opening:
    """What holds for an agent with a provider and a model; `mask` is what gates and layers let pass.

    `later` keeps the layers that come after and depend on nothing else but how the session runs (see `late`).
    """

    agent: AgentRules | None
    agent_name: str | None
    candidates: Candidates
    gates: tuple[Gate, ...]
    layers: tuple[Applied, ...]
    mask: int
    profile: str | None
    provider_profile: str | None
    provider_key: str | None
    agent_provider_key: str | None
    later: dict[Any, Any] = field(default_factory=dict, compare=False)


class Question(NamedTuple):
    """What an opening depends on.

    Attributes:
        stranger: the sender is not known to be the owner, in a release where that alone removes tools.
        transport: the message provider, if it restricts tools by itself.
        gated: whether gates that OpenClaw applies while it builds the list of tools act.
    """

    agent: str | None
    provider: str | None
    model_id: str | None
    stranger: bool
    transport: str | None
    sandboxed: bool
    gated: bool


_PATCH_OPEN: Final = ("tools.exec.applyPatch", "apply_patch is offered")
_PATCH_REASONS: Final = {
    "enabled": "apply_patch is not switched on",
    "provider": "apply_patch is not offered to this provider",
    "allowModels": "apply_patch is not offered to this model",
}


def build_opening(engine: Engine, question: Question) -> Opening:
    """Work an opening out."""
    agent = _agent_rules(engine, question.agent)
    keys = provider_keys(engine.dialect, question.provider, question.model_id)
    shared_block = find_provider(engine.by_provider, keys)
    own_block = find_provider(agent.by_provider, keys) if agent else None
    gates = tuple(_gates(engine, question, agent))
    if engine.universe.optional:
        gates = (_optional_gate(engine, agent, shared_block, own_block), *gates)
    # callers may name any provider and model; what they amount to is kept once
    amount = (question.agent, shared_block and shared_block.key, own_block and own_block.key, gates)
    opening = engine.openings.get(amount)
    if opening is None:
        opening = engine.remember(
            engine.openings, amount, _opening(engine, question.agent, agent, shared_block, own_block, gates)
        )
    return cast(Opening, opening)


def _opening(
    engine: Engine,
    name: str | None,
    agent: AgentRules | None,
    shared_block: ProviderBlock | None,
    own_block: ProviderBlock | None,
    gates: tuple[Gate, ...],
) -> Opening:
    mask = engine.universe.full
    for gate in gates:
        mask &= ~gate.removed
    candidates = engine.candidates(mask)
    blocks = _Blocks(engine, name, agent, shared_block, own_block)
    layers = tuple(blocks.applied(candidates))
    for _, _, rules, _ in layers:
        mask &= rules.mask
    return Opening(
        agent=agent,
        agent_name=name,
        candidates=candidates,
        gates=gates,
        layers=layers,
        mask=mask,
        profile=blocks.profile[0],
        provider_profile=blocks.provider_profile[0],
        provider_key=shared_block.key if shared_block else None,
        agent_provider_key=own_block.key if own_block else None,
    )


def _agent_rules(engine: Engine, name: str | None) -> AgentRules | None:
    if engine.agents is None:
        return engine.agent_defaults if engine.dialect.agent_entries else None
    return None if name is None else engine.agents.get(name)


class _Blocks:
    """The six blocks of one agent, provider and model, as layers."""

    def __init__(
        self,
        engine: Engine,
        name: str | None,
        agent: AgentRules | None,
        shared_block: ProviderBlock | None,
        own_block: ProviderBlock | None,
    ) -> None:
        self._engine = engine
        self._name = name or "main"
        self._agent = agent
        self._shared_block, self._own_block = shared_block, own_block
        own = agent.policy if agent else None
        self.profile = _profile(own, engine.policy)
        self.provider_profile = _profile(
            own_block.policy if own_block else None, shared_block.policy if shared_block else None
        )

    def applied(self, candidates: Candidates) -> Iterator[Applied]:
        """Return the layers that have a policy, in order."""
        mine = f"agents.{self._name}.tools"
        agent = self._agent
        shared_key = self._shared_block.key if self._shared_block else ""
        own_key = self._own_block.key if self._own_block else ""
        scope = mine if agent and agent.policy and agent.policy.profile is not None else "tools"
        own_profile = self._own_block is not None and self._own_block.policy.profile is not None
        provider_scope = f"{mine}.byProvider.{own_key}" if own_profile else f"tools.byProvider.{shared_key}"
        found: tuple[tuple[str, Policy | None, str], ...] = (
            ("profile", self._of_profile(self.profile), f"{scope}.profile {self.profile[0]}"),
            (
                "provider_profile",
                self._of_profile(self.provider_profile),
                f"{provider_scope}.profile {self.provider_profile[0]}",
            ),
            ("global", _merged(self._engine.policy), "tools"),
            (
                "global_provider",
                _merged(self._shared_block.policy if self._shared_block else None),
                f"tools.byProvider.{shared_key}",
            ),
            ("agent", _merged(agent.policy if agent else None), mine),
            (
                "agent_provider",
                _merged(self._own_block.policy if self._own_block else None),
                f"{mine}.byProvider.{own_key}",
            ),
        )
        for key, policy, place in found:
            if policy is not None:
                layer = LAYERS[key]
                profile = self.profile[0] if key == "profile" else self.provider_profile[0]
                label = layer.label.format(agent=self._name, profile=profile)
                yield layer, label, candidates.rules(policy, examined=layer.examined), (place,)

    def _of_profile(self, profile: tuple[str | None, tuple[str, ...]]) -> Policy | None:
        return _profile_layer(self._engine, *profile)


def profile_beside(engine: Engine, own: Policy | None, shared: Policy | None) -> Policy | None:
    """Return the profile's layer of an agent's block and the shared one; None for no layer."""
    return _profile_layer(engine, *_profile(own, shared))


def _profile_layer(engine: Engine, name: str | None, extra: tuple[str, ...]) -> Policy | None:
    return add_also_allow(profile_policy(engine.dialect, name), extra)


def _merged(policy: Policy | None) -> Policy | None:
    return None if policy is None else policy.merged()


def _profile(own: Policy | None, shared: Policy | None) -> tuple[str | None, tuple[str, ...]]:
    """Return the profile's name and the names added to it: the agent's member before the global one, each by itself.

    An empty name counts as one: it takes the place of the global profile and means none.
    """
    name: str | None = None
    extra: tuple[str, ...] | None = None
    for policy in (own, shared):
        if policy is not None and name is None:
            name = policy.profile
        if policy is not None and extra is None:
            extra = policy.also_allow
    return name, extra or ()


def _gates(engine: Engine, question: Question, agent: AgentRules | None) -> Iterator[Gate]:
    universe, dialect = engine.universe, engine.dialect
    patch = universe.same.get(APPLY_PATCH, 0)
    if question.gated and patch:
        reason = _patch_refusal(engine, question, agent)
        yield Gate(LAYERS["apply_patch"], patch, *reason) if reason else Gate(LAYERS["apply_patch"], 0, *_PATCH_OPEN)
    if question.gated and question.transport is not None:
        carried = left_by_transport(dialect, universe.same, question.transport)
        removed = universe.full & ~universe.mask_of_names(carried)
        rule = f"built-in list of {question.transport}"
        yield Gate(LAYERS["transport"], removed, rule, f"the message provider `{question.transport}` cannot carry it")
    if question.stranger:
        removed = universe.mask_of_names(dialect.owner_only)
        if dialect.owner_flag_counts:
            removed |= universe.owner_only
        yield Gate(GATE_OWNER_ONLY, removed, "built-in owner-only list", "only a known owner may use it")


def _policies(*policies: Policy | None) -> tuple[Policy, ...]:
    return tuple(policy for policy in policies if policy is not None)


def _optional_gate(
    engine: Engine, agent: AgentRules | None, shared_block: ProviderBlock | None, own_block: ProviderBlock | None
) -> Gate:
    """Hold back the optional tools that no allow list of these blocks names, as written, by themselves or by plugin.

    The lists of groups, senders, sandboxes and sub-agents only narrow: they bring no optional tool, and the review of a
    draft names those that would in OpenClaw.
    """
    shared, own = engine.policy, agent.policy if agent else None
    of_shared, of_own = shared_block and shared_block.policy, own_block and own_block.policy
    named: set[str] = set()
    for policy in _policies(shared, own, of_shared, of_own):
        named.update((*(policy.allow or ()), *(policy.also_allow or ())))
        if policy.allow == () and policy.also_allow:
            named.add(ANYTHING)  # what is added to a list without a name is added to everything
    for profile, _ in (_profile(own, shared), _profile(of_own or None, of_shared or None)):
        allowed = profile_policy(engine.dialect, profile)
        named.update(() if allowed is None else allowed.allow or ())
    removed = engine.universe.optional & ~engine.universe.named_optional(frozenset(map(fold, named)))
    return Gate(LAYERS["optional"], removed, "allow lists", "it is optional, and no allow list names it or its plugin")


def _patch_refusal(engine: Engine, question: Question, agent: AgentRules | None) -> tuple[str, str] | None:
    """Return the rule that closes the gate of `apply_patch`, and why."""
    own: Mapping[str, Any] = agent.settings if agent else {}
    settings = read_apply_patch(engine.settings, own)
    member = gate_refusal(engine.dialect, settings, provider=question.provider, model_id=question.model_id)
    if member is not None:
        return f"tools.exec.applyPatch.{member}", _PATCH_REASONS[member]
    access = own.get("workspaceAccess", engine.settings.get("workspaceAccess"))
    if question.sandboxed and sandbox_refuses(access):
        return "sandbox.workspaceAccess ro", "the sandbox's workspace may only be read"
    return None
