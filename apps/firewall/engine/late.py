"""The layers after an opening: what holds for who speaks, for how the session runs, and what the caller brings.

How a session runs takes a handful of states, so those layers are kept with the opening; who speaks is looked up for
each call.
Source: conformance README, `pipeline.jsonl`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.conversation import answer_in
from apps.firewall.engine.dialect import DIALECTS, Dialect
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.names import normalize_name
from apps.firewall.engine.opening import Applied, Opening
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.resolution import Given, Places, Resolution
from apps.firewall.engine.subagents import LEAF_ROLE

_GROUP: Final = LAYERS["group"]
_SENDER: Final = LAYERS["sender"]
_SANDBOX_PLACES: Final = {
    "agent": "agents.{agent}.tools.sandbox.tools",
    "global": "tools.sandbox.tools",
    "default": "built-in sandbox list",
}
S = TypeVar("S")


class State(NamedTuple):
    """How a session runs.

    Attributes:
        is_stranger: the sender is known not to be an owner.
        role: of a sub-agent, `leaf` or `orchestrator`; None for another session.
    """

    sandboxed: bool
    is_stranger: bool
    role: str | None


class Standing(NamedTuple):
    """The layers of a state, and the mask of what passes them all."""

    layers: tuple[Applied, ...]
    mask: int
    sandbox_places: Places | None


def finish_resolution(engine: Engine, resolution: Resolution, given: Given | None = None, until: int = 0) -> None:
    """Apply the layers that an open resolution still lacks.

    Args:
        until: the bit of a tool; the layers behind the one that removes it are left out.
    """
    stages = _STAGES[engine.dialect.release]
    late = resolution.late
    if not resolution.delegated:
        group = _group(engine, resolution, given)
        if group is not None:
            late.append(group)
            resolution.mask &= group[2].mask
        own = _sender_layer(engine, resolution) if stages.asks_sender else None
        if own is not None:
            late.append(own)
            resolution.mask &= own[2].mask
        if until and not resolution.mask & until:
            return
    layers, mask, resolution.sandbox_places = _standing(engine, resolution, given)
    late += layers
    resolution.mask &= mask
    context = resolution.context
    if context.runtime_tools is not None or context.stored_session is not None:
        _apply_brought(engine, resolution, stages.brought)


def sandbox_mask(engine: Engine, opening: Opening) -> int:
    """Return what the sandbox's layer lets pass in a sandboxed session of an opening."""
    state = State(True, is_stranger=False, role=None)
    standing = opening.later.get(state) or _keep_standing(engine, opening, state)
    return standing.mask


# --- who speaks ---


def _group(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    candidates = resolution.opening.candidates
    if given is not None:
        policy = given.group.merged() if given.group else None
        if policy is None:
            return None
        return _GROUP, _GROUP.label, candidates.rules(policy, examined=True), ("group tools",)
    found = answer_in(engine, resolution.chains, resolution.group_sender)
    if found is None:
        return None
    rules = candidates.block(found[0])
    return None if rules is None else (_GROUP, _GROUP.label, rules, found[1])


def _sender_layer(engine: Engine, resolution: Resolution) -> Applied | None:
    agent, sender = resolution.opening.agent, resolution.sender
    own = agent.senders if agent is not None else None
    if (own is None and engine.senders is None) or (resolution.is_owner and resolution.talk.is_webchat):
        return None
    found, scope = None, "tools.toolsBySender"
    if own is not None:
        found = own.find(sender)
        if found is not None:
            scope = f"agents.{resolution.opening.agent_name or 'main'}.tools.toolsBySender"
    if found is None and engine.senders is not None:
        found = engine.senders.find(sender)
    if found is None:
        return None
    rules = resolution.opening.candidates.block(found[1])
    return None if rules is None else (_SENDER, _SENDER.label, rules, (scope, found[0]))


# --- how the session runs ---


def _standing(engine: Engine, resolution: Resolution, given: Given | None) -> Standing:
    opening, role = resolution.opening, None
    if resolution.is_child:
        role = LEAF_ROLE if resolution.depth >= engine.leaf_depth else "orchestrator"
    state = (resolution.sandboxed, resolution.is_owner is False, role)
    if given is not None:
        return _stand(engine, opening, State(*state), given)
    kept: Standing | None = opening.later.get(state)
    return _keep_standing(engine, opening, State(*state)) if kept is None else kept


def _keep_standing(engine: Engine, opening: Opening, state: State) -> Standing:
    standing: Standing = opening.later.setdefault(state, _stand(engine, opening, state, None))
    return standing


def _stand(engine: Engine, opening: Opening, state: State, given: Given | None) -> Standing:
    found = (select(engine, opening, state, given) for select in _STAGES[engine.dialect.release].standing)
    layers = tuple(applied for applied in found if applied is not None)
    mask = engine.universe.full
    for _, _, rules, _ in layers:
        mask &= rules.mask
    places = _sandbox_places(engine, opening) if state.sandboxed and given is None else None
    return Standing(layers, mask, places)


def _sandbox(engine: Engine, opening: Opening, state: State, given: Given | None) -> Applied | None:
    if given is not None:
        policy = given.sandbox and Policy(given.sandbox.allow, given.sandbox.deny)
    else:
        policy = engine.sandbox_of(opening.agent).policy if state.sandboxed else None
    return None if policy is None else _built_in("sandbox", opening, policy)


def _sandbox_places(engine: Engine, opening: Opening) -> Places:
    sandbox = engine.sandbox_of(opening.agent)
    allow, deny = _SANDBOX_PLACES[sandbox.allow_source.level], _SANDBOX_PLACES[sandbox.deny_source.level]
    return allow.format(agent=opening.agent_name), deny.format(agent=opening.agent_name)


def _owner_only(engine: Engine, opening: Opening, state: State, given: Given | None) -> Applied | None:
    del given
    if not state.is_stranger or engine.dialect.owner_unknown_is_stranger:
        return None
    return _built_in("owner_only", opening, engine.owner_only)


def _subagent(engine: Engine, opening: Opening, state: State, given: Given | None) -> Applied | None:
    del given
    if state.role is None:
        return None
    return _built_in("subagent", opening, engine.subagent_of(engine.leaf_depth if state.role == LEAF_ROLE else 0))


def _built_in(key: str, opening: Opening, policy: Policy) -> Applied:
    """Make a layer whose names are not examined and whose place is always the same."""
    layer = LAYERS[key]
    return layer, layer.label, opening.candidates.rules(policy, examined=False), (layer.path,)


# --- what the caller brings ---


def _apply_brought(engine: Engine, resolution: Resolution, selectors: Iterable["Brought"]) -> None:
    for select in selectors:
        applied = select(engine, resolution)
        if applied is not None:
            resolution.late.append(applied)
            resolution.mask &= applied[2].mask


def _runtime(engine: Engine, resolution: Resolution) -> Applied | None:
    del engine
    context = resolution.context
    if context.runtime_tools is None or not context.inherit_runtime_tools:
        return None
    return _built_in("runtime", resolution.opening, Policy(allow=context.runtime_tools))


def _inherited(engine: Engine, resolution: Resolution) -> Applied | None:
    stored = resolution.context.stored_session
    if stored is None or not resolution.inherits:
        return None
    allow = _inherited_names(engine, stored.get("inheritedToolAllow"))
    deny = _inherited_names(engine, stored.get("inheritedToolDeny"))
    if not allow and not deny:
        return None
    return _built_in("inherited", resolution.opening, Policy(allow or None, deny or None))


def _inherited_names(engine: Engine, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        return ()
    names = (normalize_name(engine.dialect, name) for name in value if isinstance(name, str))
    return tuple(dict.fromkeys(name for name in names if name))


Running = Callable[[Engine, Opening, State, Given | None], Applied | None]
Brought = Callable[[Engine, Resolution], Applied | None]
_RUNNING: Final[Mapping[str, Running]] = {"sandbox": _sandbox, "owner_only": _owner_only, "subagent": _subagent}
_BROUGHT: Final[Mapping[str, Brought]] = {"runtime": _runtime, "inherited": _inherited}


class _Stages(NamedTuple):
    """The layers of a release after its opening: the group's, which every release has, then these, in its order."""

    asks_sender: bool
    standing: tuple[Running, ...]
    brought: tuple[Brought, ...]


def _in_order(dialect: Dialect, table: Mapping[str, S]) -> tuple[S, ...]:
    return tuple(table[key] for key in dialect.layers if key in table)


_STAGES: Final = {
    release: _Stages("sender" in dialect.layers, _in_order(dialect, _RUNNING), _in_order(dialect, _BROUGHT))
    for release, dialect in DIALECTS.items()
}
