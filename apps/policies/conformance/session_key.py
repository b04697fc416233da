"""Adapters of the area `session_key`, named as its kinds."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine import session_key as keys
from apps.firewall.engine.conversation_key import group_of_key, thread_of_key
from apps.firewall.engine.conversation_key import trusted_group as engine_trusted_group
from apps.firewall.engine.dialect import Dialect

Given = Mapping[str, Any]


def identity(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer everything that a key says by itself."""
    key = given["sessionKey"]
    parsed = keys.parse_agent_key(dialect, key)
    return {
        "shape": keys.key_shape(dialect, key),
        "parsed": None if parsed is None else {"agentId": parsed.agent_id, "rest": parsed.rest},
        **_agent(dialect, key, keys.DEFAULT_AGENT),
        "requestKey": keys.request_key(dialect, key),
        "subagent": keys.is_subagent_key(dialect, key),
        "depth": keys.subagent_depth(dialect, key),
        "depthWithoutStore": keys.stored_depth(dialect, key, {}),
        "cron": keys.is_cron_key(dialect, key),
        "cronRun": keys.is_cron_run_key(dialect, key),
        "acp": keys.is_acp_key(dialect, key),
        "chatType": keys.chat_type(dialect, key),
    }


def agent_of_key(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer the same look-up with the default agent that is given."""
    return _agent(dialect, given["sessionKey"], given["defaultAgentId"])


def _agent(dialect: Dialect, key: str | None, default: str | None) -> dict[str, Any]:
    try:
        return {"agentId": keys.agent_of_key(dialect, key, default=default)}
    except keys.SessionKeyError as exc:
        return {"agentId": None, "agentIdError": exc.code}


def group(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer channel and group ids."""
    found = group_of_key(dialect, given["sessionKey"], active_channels=given.get("activeChannels", ()))
    return {"channel": found.channel, "groupIds": list(found.group_ids)}


def trusted_group(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer what is left of a caller's group id."""
    found = engine_trusted_group(
        dialect, given["groupId"], session_key=given["sessionKey"], spawned_by=given["spawnedBy"]
    )
    return {"groupId": found.group_id, "dropped": found.dropped}


def thread(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer the thread of a key."""
    found = thread_of_key(dialect, given["sessionKey"], active_channels=given.get("activeChannels", ()))
    return {"base": found.base, "threadId": found.thread_id, "parent": found.parent}


def depth_store(dialect: Dialect, given: Given) -> int:
    """Answer the depth with stored sessions."""
    return keys.stored_depth(dialect, given["sessionKey"], given["store"])


def store_key(dialect: Dialect, given: Given) -> str:
    """Answer the full key of a request's key."""
    return keys.store_key(dialect, given["requestKey"], agent_id=given["agentId"], main_key=given["mainKey"])


def agent_id(_dialect: Dialect, given: Given) -> str:
    """Answer an agent's normal id."""
    return keys.normalize_agent_id(given["value"])


def cron_run(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer the run of a cron key."""
    found = keys.cron_run(dialect, given["sessionKey"])
    return {"base": found.base, "runId": found.run_id}
