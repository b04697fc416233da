"""What a call's session keys say, which the caller's own words cannot change.

Source: conformance README, `session_key.jsonl`.
"""

from typing import NamedTuple

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.conversation_key import DirectChat, direct_of_key, group_of_key
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.group_caller import Caller, conversation_of
from apps.firewall.engine.names import trim
from apps.firewall.engine.session_key import (
    SessionKeyError,
    agent_of_key,
    is_subagent_key,
    key_shape,
    subagent_depth,
)


class Session(NamedTuple):
    """A session and its conversation.

    Attributes:
        agent: normal id of the agent that the key names; None when it names none.
        is_subagent: the key is a sub-agent's.
        group_ids: the groups that the keys lead to, the most specific first.
        direct: the direct chat that the session's own key names, or the key it was spawned by.
        dropped_group: a group that the caller claimed and no key bears out.
        problem: why the key cannot be used; everything is denied then.
    """

    agent: str | None
    depth: int
    is_subagent: bool
    channel: str | None
    group_ids: tuple[str, ...]
    direct: DirectChat | None
    dropped_group: str | None
    problem: str | None


def read_session(
    dialect: Dialect, session_key: str | None, spawned_by: str | None, group_id: str | None, channel: str | None
) -> Session:
    """Read the keys of a session, and the caller's words about its conversation as far as the keys bear them out."""
    agent, problem, shape = None, None, key_shape(dialect, session_key)
    if shape == "malformed_agent":
        problem = f"the session key `{session_key}` is malformed"
    elif shape == "agent":
        try:
            agent = agent_of_key(dialect, session_key, default=None)
        except SessionKeyError as exc:
            problem = exc.message
    keys = Caller(session_key=session_key, spawned_by=spawned_by)
    named = conversation_of(dialect, keys)
    claimed, dropped = group_id, None
    if dialect.caller_group_unchecked and named.group_ids and trim(group_id or "") not in named.group_ids:
        claimed, dropped = None, trim(group_id or "") or None
    place = channel if named.channel is None else None
    conversation = named  # what the keys say, unless the caller adds something
    if claimed is not None or place is not None:
        conversation = conversation_of(
            dialect, Caller(session_key=session_key, spawned_by=spawned_by, group_id=claimed, channel=place)
        )
    return Session(
        agent,
        subagent_depth(dialect, session_key),
        is_subagent_key(dialect, session_key),
        conversation.channel,
        conversation.group_ids,
        _direct(dialect, session_key, spawned_by),
        dropped or conversation.dropped_group,
        problem,
    )


def _direct(dialect: Dialect, session_key: str | None, spawned_by: str | None) -> DirectChat | None:
    """Return the direct chat of the own key; of the parent's key where the own one names no conversation."""
    own = direct_of_key(dialect, session_key)
    if own is not None or spawned_by is None or group_of_key(dialect, session_key).group_ids:
        return own
    return direct_of_key(dialect, spawned_by)


def session_of(dialect: Dialect, context: CallContext) -> Session:
    """Read the session of a context."""
    return read_session(dialect, context.session_key, context.spawned_by, context.group_id, context.channel)
