"""From a context to its layers: which agent, provider, group and sender block holds, and what each lets pass.

One resolution serves every question about a context. What depends on session, agent, provider and model only is worked
out once and kept; the rest is looked up for each call.
Source: conformance README, `pipeline.jsonl`.
"""

from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.conversation import chains_of, without_senders
from apps.firewall.engine.conversation_key import route_channel
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.late import finish_resolution
from apps.firewall.engine.names import fold, trim
from apps.firewall.engine.opening import Opening, Question, build_opening
from apps.firewall.engine.owners import WEBCHAT
from apps.firewall.engine.resolution import Given, Resolution, Speaker, Talk
from apps.firewall.engine.sandbox_mode import is_sandboxed
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.session import Session, session_of
from apps.firewall.engine.session_key import (
    DEFAULT_AGENT,
    is_acp_key,
    is_dashboard_key,
    is_subagent_key,
    normalize_agent_id,
    store_key,
    subagent_depth,
    whole_depth,
)
from apps.firewall.errors import FirewallError

_ROLES: Final = ("main", "orchestrator", "leaf")
_CONTROL_SCOPES: Final = ("children", "none")


class ResolutionError(FirewallError):
    """A context for which nothing can be decided; everything is denied."""

    code = "context_unresolved"


class ContradictionError(ResolutionError):
    """The context names another agent than its session key."""

    code = "context_contradiction"


class AgentRequiredError(ResolutionError):
    """Several agents are configured and the context names none."""

    code = "agent_required"


class GroupUnprovenError(ResolutionError):
    """The caller names a group that its session keys do not lead to, and the environment refuses that."""

    code = "group_unproven"


CONTEXT_CODES: Final = frozenset(
    each.code for each in (ResolutionError, ContradictionError, AgentRequiredError, GroupUnprovenError)
)
"""Why nothing is decided: what is wrong with what the caller said, whatever the policy says."""


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
    talk = talk_of(engine, context)
    names = (
        context.sender_id,
        context.sender_username,
        context.sender_name,
        context.sender_e164,
        talk.spoken_on,
        talk.channel,
    )
    sender, known = engine.speakers.get(names) or engine.remember(engine.speakers, names, _speaker(engine, *names))
    is_owner = context.sender_is_owner
    if is_owner is None and given is None:
        is_owner = known
    sandboxed = talk.is_sandboxed if context.sandboxed is None else context.sandboxed
    question = (
        talk.agent,
        context.provider,
        context.model_id,
        engine.dialect.owner_unknown_is_stranger and is_owner is not True,
        talk.transport,
        sandboxed,
        given is None,
    )
    opening: Opening | None = engine.memo.get(question)
    if opening is None:
        opening = engine.remember(engine.memo, question, build_opening(engine, Question(*question)))
    resolution = Resolution()
    resolution.context = context
    resolution.talk = talk
    resolution.opening = opening
    resolution.sender = sender
    resolution.is_owner = is_owner
    resolution.depth = max(talk.depth, context.subagent_depth) if context.subagent_depth else talk.depth
    resolution.is_child = resolution.inherits = talk.depth >= 1 or context.subagent_depth >= 1
    resolution.delegated = False
    resolution.late = []
    resolution.mask = opening.mask
    resolution.sandbox_places = None
    resolution.sandboxed = sandboxed
    if context.stored_session is not None:
        _read_stored(engine, resolution, context.stored_session)
    return resolution


def talk_of(engine: Engine, context: CallContext) -> Talk:
    """Return what is kept of a talk, or work it out.

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
    known: Talk | None = engine.talks.get(keys)
    return engine.remember(engine.talks, keys, _talk(engine, context)) if known is None else known


def _talk(engine: Engine, context: CallContext) -> Talk:
    session = session_of(engine.dialect, context)
    if session.problem is not None:
        raise ResolutionError(session.problem)
    channel = session.channel or context.channel
    told_on = context.channel or channel
    is_webchat = told_on is not None and fold(told_on) == WEBCHAT
    named = session.dropped_group or (None if session.group_ids else context.group_channel or context.group_space)
    if named is not None and engine.refuses_unproven_groups:
        raise GroupUnprovenError(f"the call names the group `{named}`, and its session key does not lead to it")
    chains = chains_of(engine, context, session)
    agent = _agent_of(engine, context, session)
    return Talk(
        session=session,
        depth=session.depth,
        agent=agent,
        chains=chains,
        owner_chains=without_senders(chains) if is_webchat and engine.dialect.sender_policy_mode else chains,
        channel=channel,
        transport=next((each for each in map(fold, (told_on or "", channel or "")) if each in engine.transports), None),
        asked_on=chains[0][0].removeprefix("channels.") if chains else channel,
        spoken_on=route_channel(engine.dialect, context.session_key) or told_on,
        is_webchat=is_webchat,
        is_sandboxed=is_sandboxed(engine.settings, engine.own_settings(agent or ""), agent, context.session_key),
        unproven_group=named,
    )


def _speaker(
    engine: Engine,
    sender_id: str | None,
    username: str | None,
    name: str | None,
    e164: str | None,
    spoken_on: str | None,
    channel: str | None,
) -> Speaker:
    sender = Sender(sender_id, username, name, e164, spoken_on)
    return Speaker(sender, engine.owners.knows(channel, sender))


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
    context, dialect = resolution.context, engine.dialect
    _check_parent(dialect, context, stored)
    if "inherited" not in dialect.layers:
        return
    if not resolution.inherits:
        resolution.inherits, resolution.is_child = _of_other_key(dialect, context, stored)
    if not resolution.inherits:
        return
    resolution.depth = _depth_of(dialect, stored, resolution.depth)
    resolution.delegated = (
        resolution.is_child
        and _proves_delegation(stored)
        and not (context.sender_id or context.sender_username or context.sender_name or context.sender_e164)
    )


def _check_parent(dialect: Dialect, context: CallContext, stored: Mapping[str, Any]) -> None:
    """Refuse a caller that names another parent than the one on record."""
    named, recorded = context.spawned_by, _text(stored, "spawnedBy")
    if not named or not recorded or named == recorded:
        return
    agent = context.agent_id or DEFAULT_AGENT
    if store_key(dialect, named, agent_id=agent) != store_key(dialect, recorded, agent_id=agent):
        raise ContradictionError(f"the context says that `{named}` spawned its session, the record says `{recorded}`")


def _of_other_key(dialect: Dialect, context: CallContext, stored: Mapping[str, Any]) -> tuple[bool, bool]:
    """Tell of a session whose key is no sub-agent's whether stored lists hold for it, and whether it is a sub-agent.

    Any session of which a parent is known has no more than that; OpenClaw knows of none for keys of other shapes.
    Source: the shipped release 2026.9.6, `isSubagentEnvelopeSession`.
    """
    key, parent = context.session_key, _text(stored, "spawnedBy")
    if is_acp_key(dialect, key):
        return True, _has_role(stored) or is_subagent_key(dialect, parent)
    if is_dashboard_key(dialect, key):
        return True, _is_deep(stored) and bool(parent)
    return bool(context.spawned_by), False


def _depth_of(dialect: Dialect, stored: Mapping[str, Any], by_key: int) -> int:
    """Tell how deep a stored session is: as it says, else one deeper than the session that spawned it."""
    depth, parent = whole_depth(stored.get("spawnDepth")), _text(stored, "spawnedBy")
    if depth is not None:
        return depth
    return subagent_depth(dialect, parent) + 1 if parent else by_key


def _proves_delegation(stored: Mapping[str, Any]) -> bool:
    return (
        stored.get("inheritedToolPolicyVersion") == 1
        and bool(_text(stored, "spawnedBy"))
        and (_is_deep(stored) or _has_role(stored))
    )


def _is_deep(stored: Mapping[str, Any]) -> bool:
    depth = stored.get("spawnDepth")
    return isinstance(depth, int | float) and not isinstance(depth, bool) and depth >= 1 and depth == int(depth)


def _has_role(stored: Mapping[str, Any]) -> bool:
    role, scope = _text(stored, "subagentRole").lower(), _text(stored, "subagentControlScope").lower()
    return role in _ROLES or scope in _CONTROL_SCOPES


def _text(stored: Mapping[str, Any], name: str) -> str:
    value = stored.get(name)
    return trim(value) if isinstance(value, str) else ""
