"""From a context to its layers: which agent, provider, group and sender block holds, and what each lets pass.

One resolution serves every question about a context. What depends on agent, provider and model only is an opening,
worked out once; the rest is looked up for each call.
Source: conformance README, `pipeline.jsonl`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.conversation import Chains, answer_in, chains_of
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.names import fold, normalize_name
from apps.firewall.engine.opening import Applied, Opening, Question, build_opening
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.session import Session, session_of
from apps.firewall.engine.session_key import normalize_agent_id, whole_depth
from apps.firewall.errors import FirewallError

WEBCHAT: Final = "webchat"
_SANDBOX_PLACES: Final = {
    "agent": "agents.{agent}.tools.sandbox.tools",
    "global": "tools.sandbox.tools",
    "default": "built-in sandbox list",
}
_ROLES: Final = ("main", "orchestrator", "leaf")


class ResolutionError(FirewallError):
    """A context for which nothing can be decided; everything is denied."""

    code = "context_unresolved"


class ContradictionError(ResolutionError):
    """The context names another agent than its session key."""

    code = "context_contradiction"


class AgentRequiredError(ResolutionError):
    """Several agents are configured and the context names none."""

    code = "agent_required"


@dataclass(frozen=True, slots=True)
class Given:
    """Layers that a caller has selected already, in place of the engine's own selection; gates do not act then."""

    group: Policy | None = None
    sandbox: Policy | None = None


class Talk(NamedTuple):
    """What holds for a session whoever speaks in it: worked out once and kept.

    Attributes:
        depth: the session's own, before the caller's word.
        channel: the conversation's, else the one that the caller names.
        transport: the channel, if it restricts tools by itself.
    """

    session: Session
    depth: int
    agent: str | None
    chains: Chains
    channel: str | None
    transport: str | None


class Resolution:
    """A context's layers and the mask of what passes them all.

    `sandbox_places` says where the sandbox's allow list and its deny list stand, where its layer applies.
    """

    __slots__ = (
        "context",
        "delegated",
        "depth",
        "is_owner",
        "late",
        "mask",
        "opening",
        "sandbox_places",
        "sender",
        "talk",
    )

    def __init__(self, context: CallContext, talk: Talk, opening: Opening, is_owner: bool | None) -> None:
        self.context = context
        self.talk = talk
        self.opening = opening
        self.is_owner = is_owner
        self.mask = opening.mask
        self.late: list[Applied] = []
        depth = context.subagent_depth
        self.depth = depth if depth > talk.depth else talk.depth
        self.delegated = False
        self.sandbox_places: tuple[str, str] | None = None
        self.sender = Sender(
            context.sender_id,
            context.sender_username,
            context.sender_name,
            context.sender_e164,
            context.channel or talk.channel,
        )

    @property
    def session(self) -> Session:
        """What the session keys say."""
        return self.talk.session

    @property
    def layers(self) -> tuple[Applied, ...]:
        """Every layer that has a policy, in order."""
        return (*self.opening.layers, *self.late)


def resolve(engine: Engine, context: CallContext, given: Given | None = None) -> Resolution:
    """Find the layers of a context.

    Raises:
        ResolutionError: nothing can be decided; the message says why.
    """
    resolution = open_resolution(engine, context, given)
    finish_resolution(engine, resolution, given)
    return resolution


def open_resolution(engine: Engine, context: CallContext, given: Given | None = None) -> Resolution:
    """Find what depends on session, agent, provider and model; the other layers are still to be applied.

    Raises:
        ResolutionError: nothing can be decided; the message says why.
    """
    keys = (
        context.session_key,
        context.agent_id,
        context.spawned_by,
        context.group_id,
        context.channel,
        context.account_id,
        context.group_channel,
        context.group_space,
    )
    talk: Talk | None = engine.talks.get(keys)
    if talk is None:
        talk = engine.remember(engine.talks, keys, _talk(engine, context))
    is_owner = context.sender_is_owner
    if is_owner is None and given is None:
        is_owner = engine.owners.knows(talk.channel, context.sender_id)
    question = (
        talk.agent,
        context.provider,
        context.model_id,
        engine.dialect.owner_unknown_is_stranger and is_owner is not True,
        talk.transport,
        context.sandboxed,
        given is None,
    )
    opening: Opening | None = engine.memo.get(question)
    if opening is None:
        opening = engine.remember(engine.memo, question, build_opening(engine, Question(*question)))
    resolution = Resolution(context, talk, opening, is_owner)
    if context.stored_session is not None:
        _read_stored(engine, resolution, context.stored_session)
    return resolution


def finish_resolution(engine: Engine, resolution: Resolution, given: Given | None = None) -> None:
    """Apply the layers that an open resolution still lacks."""
    context = resolution.context
    selectors = _USUAL if context.runtime_tools is None and context.stored_session is None else _SELECTORS_OF
    _apply(engine, resolution, selectors[engine.dialect.release], given)


def apply_layers(engine: Engine, resolution: Resolution, keys: Iterable[str], given: Given | None = None) -> None:
    """Add the layers of these keys to a resolution, in this order; those of an opening are in it already."""
    _apply(engine, resolution, _selectors(keys), given)


def _apply(engine: Engine, resolution: Resolution, selectors: Iterable["Selector"], given: Given | None) -> None:
    late, mask = resolution.late, resolution.mask
    for select in selectors:
        applied = select(engine, resolution, given)
        if applied is not None:
            late.append(applied)
            mask &= applied[2].mask
    resolution.mask = mask


def _talk(engine: Engine, context: CallContext) -> Talk:
    session = session_of(engine.dialect, context)
    if session.problem is not None:
        raise ResolutionError(session.problem)
    channel = session.channel or context.channel
    return Talk(
        session=session,
        depth=session.depth,
        agent=_agent_of(engine, context, session),
        chains=chains_of(engine, context, session),
        channel=channel,
        transport=channel if channel in engine.transports else None,
    )


def _agent_of(engine: Engine, context: CallContext, session: Session) -> str | None:
    named = context.agent_id
    name = normalize_agent_id(named) if named and fold(named) else ""
    if name:
        if session.agent is not None and session.agent != name:
            raise ContradictionError(
                f"the context names the agent `{name}`, its session key belongs to `{session.agent}`"
            )
        return name
    if session.agent is not None:
        return session.agent
    if engine.agents is None or not engine.dialect.agent_required:
        return None
    sole = engine.sole_agent
    if sole is not None:
        return sole
    if len(engine.agents) > 1:
        raise AgentRequiredError("several agents are configured and the context names none")
    return None


def _read_stored(engine: Engine, resolution: Resolution, stored: Mapping[str, Any]) -> None:
    context = resolution.context
    if resolution.depth < 1 or "inherited" not in engine.dialect.layers:
        return
    spawn_depth = whole_depth(stored.get("spawnDepth"))
    if spawn_depth is not None:
        resolution.depth = spawn_depth
    resolution.delegated = _proves_delegation(stored) and not (
        context.sender_id or context.sender_username or context.sender_name or context.sender_e164
    )


def _proves_delegation(stored: Mapping[str, Any]) -> bool:
    parent, role = stored.get("spawnedBy"), stored.get("subagentRole")
    depth = whole_depth(stored.get("spawnDepth"))
    return (
        stored.get("inheritedToolPolicyVersion") == 1
        and isinstance(parent, str)
        and bool(parent.strip())
        and ((depth is not None and depth >= 1) or role in _ROLES)
    )


def _group(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    if resolution.delegated:
        return None
    layer = LAYERS["group"]
    candidates = resolution.opening.candidates
    if given is not None:
        policy = given.group.merged() if given.group else None
        if policy is None:
            return None
        return layer, layer.label, candidates.rules(policy, examined=True), ("group tools",)
    chains = resolution.talk.chains
    if not chains:
        return None
    found = answer_in(engine, chains, resolution.sender)
    if found is None:
        return None
    rules = candidates.block(found[0])
    return None if rules is None else (layer, layer.label, rules, found[1])


def _sender_layer(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    del given
    agent = resolution.opening.agent
    own = agent.senders if agent is not None else None
    if (own is None and engine.senders is None) or resolution.delegated:
        return None
    sender = resolution.sender
    if resolution.is_owner and sender.channel is not None and fold(sender.channel) == WEBCHAT:
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
    layer = LAYERS["sender"]
    return None if rules is None else (layer, layer.label, rules, (scope, found[0]))


def _sandbox(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    opening = resolution.opening
    if given is not None:
        if given.sandbox is None:
            return None
        return _built_in("sandbox", opening, Policy(given.sandbox.allow, given.sandbox.deny))
    if not resolution.context.sandboxed:
        return None
    kept: tuple[tuple[str, str], Applied] | None = opening.later.get("sandbox")
    if kept is None:
        sandbox = engine.sandbox_of(opening.agent)
        allow, deny = _SANDBOX_PLACES[sandbox.allow_source.level], _SANDBOX_PLACES[sandbox.deny_source.level]
        places = allow.format(agent=opening.agent_name), deny.format(agent=opening.agent_name)
        kept = opening.later["sandbox"] = places, _built_in("sandbox", opening, sandbox.policy)
    resolution.sandbox_places = kept[0]
    return kept[1]


def _built_in(key: str, opening: Opening, policy: Policy) -> Applied:
    """Make a layer whose names are not examined and whose place is always the same."""
    layer = LAYERS[key]
    return layer, layer.label, opening.candidates.rules(policy, examined=False), (layer.path,)


def _owner_only(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    del given
    if resolution.is_owner is not False or engine.dialect.owner_unknown_is_stranger:
        return None
    later = resolution.opening.later
    kept: Applied | None = later.get("owner_only")
    if kept is None:
        kept = later["owner_only"] = _built_in("owner_only", resolution.opening, engine.owner_only)
    return kept


def _subagent(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    del given
    if resolution.talk.depth < 1 and resolution.context.subagent_depth < 1:
        return None
    later = resolution.opening.later
    role = "leaf" if resolution.depth >= engine.leaf_depth else "orchestrator"
    kept: Applied | None = later.get(role)
    if kept is None:
        kept = later[role] = _built_in("subagent", resolution.opening, engine.subagent_of(resolution.depth))
    return kept


def _runtime(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    del engine, given
    context = resolution.context
    if context.runtime_tools is None or not context.inherit_runtime_tools:
        return None
    return _built_in("runtime", resolution.opening, Policy(allow=context.runtime_tools))


def _inherited(engine: Engine, resolution: Resolution, given: Given | None) -> Applied | None:
    del given
    stored = resolution.context.stored_session
    if stored is None or (resolution.talk.depth < 1 and resolution.context.subagent_depth < 1):
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


Selector = Callable[[Engine, Resolution, Given | None], Applied | None]
SELECTORS: Final[dict[str, Selector]] = {
    "group": _group,
    "sender": _sender_layer,
    "sandbox": _sandbox,
    "owner_only": _owner_only,
    "subagent": _subagent,
    "runtime": _runtime,
    "inherited": _inherited,
}


def _selectors(keys: Iterable[str]) -> tuple[Selector, ...]:
    return tuple(SELECTORS[key] for key in keys if key in SELECTORS)


_SELECTORS_OF: Final = {release: _selectors(dialect.layers) for release, dialect in DIALECTS.items()}
# without the layers of contexts that bring tools of their own, which few do
_USUAL: Final = {
    release: tuple(select for select in selectors if select not in {_runtime, _inherited})
    for release, selectors in _SELECTORS_OF.items()
}
