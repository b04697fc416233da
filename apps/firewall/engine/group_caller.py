"""Group policy from the caller's point of view: channel and group come from session keys, not from the caller.

Source: conformance README, "Rules of `session`" and `group_policy_channels.jsonl`, kind `caller`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import TypeVar

from apps.firewall.engine.conversation_key import group_of_key, trusted_group
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.group_channels import channel_chain
from apps.firewall.engine.groups import Chain, ChannelGroups, GroupAnswer, GroupRequest, answer_of, plain_chain
from apps.firewall.engine.names import trim
from apps.firewall.engine.senders import Sender, normalize_channel

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What a caller says of itself; the session keys are what the gateway knows of it."""

    session_key: str | None = None
    spawned_by: str | None = None
    group_id: str | None = None
    channel: str | None = None
    account_id: str | None = None
    group_channel: str | None = None
    group_space: str | None = None
    sender: Sender = field(default_factory=Sender)
    sender_policy_mode: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """The channel a call comes from and the groups it lies in, the most specific first; none for no group.

    Attributes:
        dropped_group: a group id that the caller claimed and no key bears out.
    """

    channel: str | None
    group_ids: tuple[str, ...]
    dropped_group: str | None = None


def conversation_of(dialect: Dialect, caller: Caller, *, active_channels: Collection[str] = ()) -> Conversation:
    """Derive channel and groups: from the session key, the key it was spawned by, then the caller's own words."""
    own = group_of_key(dialect, caller.session_key, active_channels=active_channels)
    parent = group_of_key(dialect, caller.spawned_by, active_channels=active_channels)
    if dialect.caller_group_unchecked:
        derived = (*own.group_ids, *parent.group_ids)[:1]
        ids = derived if caller.group_id is None else (caller.group_id,)
        claimed = caller.channel if caller.channel is not None else own.channel or parent.channel
        return Conversation(normalize_channel(dialect, claimed or "") or None, tuple(each for each in ids if each))
    trusted = trusted_group(dialect, caller.group_id, session_key=caller.session_key, spawned_by=caller.spawned_by)
    ids = (*own.group_ids, *parent.group_ids, trim(trusted.group_id or ""))
    channel = normalize_channel(dialect, own.channel or parent.channel or caller.channel or "") or None
    return Conversation(
        channel,
        tuple(dict.fromkeys(each for each in ids if each)),
        caller.group_id if trusted.dropped else None,
    )


def caller_chains(
    dialect: Dialect,
    name: str,
    channel: ChannelGroups[T],
    request: GroupRequest,
    *,
    active_channels: Collection[str] = (),
) -> tuple[Chain[T], ...]:
    """Return the chains that answer for a conversation, in turn: a chain whose answer has no lists passes on.

    Args:
        name: the channel's own name.
        active_channels: channels whose own resolver is loaded.
    """
    plain = plain_chain(dialect, channel, request)
    if dialect.resolver_location.get(name) == "core":
        return ((*channel_chain(dialect, name, channel, request), *plain),)
    if name not in active_channels:
        return (plain,)
    ids = request.group_ids
    return (*(channel_chain(dialect, name, channel, request.for_group(each)) for each in ids), plain)


def find_for_caller(
    dialect: Dialect,
    channels: Callable[[str], ChannelGroups[T] | None],
    caller: Caller,
    *,
    says_something: Callable[[T], bool],
    active_channels: Collection[str] = (),
) -> GroupAnswer[T] | None:
    """Return the group policy that counts for a caller.

    Args:
        channels: gives a channel's groups by its own name.
        says_something: whether a block has lists at all.
        active_channels: channels whose own resolver is loaded.
    """
    conversation = conversation_of(dialect, caller, active_channels=active_channels)
    if conversation.channel is None or not conversation.group_ids:
        return None
    channel = channels(conversation.channel)
    if channel is None:
        return None
    request = GroupRequest(
        group_ids=conversation.group_ids,
        account_id=caller.account_id,
        group_channel=caller.group_channel,
        group_space=caller.group_space,
    )
    sender = replace(caller.sender, channel=conversation.channel)
    for chain in caller_chains(dialect, conversation.channel, channel, request, active_channels=active_channels):
        answer = answer_of(dialect, chain, sender, caller.sender_policy_mode)
        if answer is not None and says_something(answer.tools):
            return answer
    return None
