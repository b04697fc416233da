"""Adapters of the areas `group_policy` and `group_policy_channels`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.group_caller import Caller, find_for_caller
from apps.firewall.engine.group_channels import channel_chain
from apps.firewall.engine.groups import Chain, GroupRequest, answer_of, plain_chain, read_channel
from apps.firewall.engine.policy import Policy, read_policy
from apps.firewall.engine.senders import compile_senders
from apps.policies.conformance.shapes import given_lists_of, inside, sender_of

Block = Mapping[str, Any]


def _raw(value: Any) -> Any:
    """Keep a block as it is; what JavaScript takes for nothing is none, an empty object is not."""
    return value if isinstance(value, Mapping) else (value or None)


def by_sender(dialect: Dialect, given: Block) -> Any:
    """Answer `by_sender`."""
    rules = ((key, _raw(policy)) for key, policy in (given["toolsBySender"] or {}).items())
    found = compile_senders(dialect, rules).find(sender_of(given["sender"]))
    return None if found is None else found[1]


def tools(dialect: Dialect, given: Block) -> Any:
    """Answer `tools`: the plain look-up."""
    context = given["context"]
    name = context["channel"]
    channel = read_channel(dialect, inside(given, "config", "channels", name), _raw)
    return _answer(dialect, plain_chain(dialect, channel, _request(context)), context, name)


def resolve(dialect: Dialect, given: Block) -> Any:
    """Answer `resolve`: a channel's own resolver."""
    name, context = given["channel"], given["context"]
    channel = read_channel(dialect, inside(given, "config", "channels", name), _raw)
    return _answer(dialect, channel_chain(dialect, name, channel, _request(context)), context, name)


def _answer(dialect: Dialect, chain: Chain[Any], context: Block, channel: str) -> Any:
    answer = answer_of(dialect, chain, sender_of(context, channel), context.get("senderPolicyMode"))
    return None if answer is None else answer.tools


def _request(context: Block) -> GroupRequest:
    return GroupRequest(
        group_ids=(context.get("groupId"), *(context.get("groupIdCandidates") or ())),
        account_id=context.get("accountId"),
        group_channel=context.get("groupChannel"),
        group_space=context.get("groupSpace"),
        case_ignored=context.get("groupIdCaseInsensitive") is True,
    )


def caller(dialect: Dialect, given: Block) -> dict[str, Any] | None:
    """Answer `session` and `caller`: channel and group derived from the session's keys."""
    context = given["context"]
    answer = find_for_caller(
        dialect,
        lambda name: read_channel(dialect, inside(given, "config", "channels", name), read_policy),
        Caller(
            session_key=context.get("sessionKey"),
            spawned_by=context.get("spawnedBy"),
            group_id=context.get("groupId"),
            channel=context.get("messageProvider"),
            account_id=context.get("accountId"),
            group_channel=context.get("groupChannel"),
            group_space=context.get("groupSpace"),
            sender=sender_of(context),
            sender_policy_mode=context.get("senderPolicyMode"),
        ),
        says_something=_has_lists,
    )
    policy = None if answer is None else answer.tools.merged()
    return None if policy is None else given_lists_of(policy)


def _has_lists(policy: Policy) -> bool:
    return policy.merged() is not None
