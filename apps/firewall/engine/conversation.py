"""Which block of a group or a direct chat holds for a conversation.

The places that may answer are worked out once for each conversation; the sender is looked up in them for each call.
For a channel whose resolver a release keeps in a plugin of its own nothing is recorded; the rules recorded for the
other release hold then, for a configured rule must not be passed over.
"""

from dataclasses import replace
from typing import Final, TypeAlias

from apps.firewall.engine.compile import Engine
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.group_caller import caller_chains
from apps.firewall.engine.group_channels import READERS
from apps.firewall.engine.groups import DIRECT, Chain, GroupRequest, direct_chain, find_in_chain
from apps.firewall.engine.opening import Place
from apps.firewall.engine.senders import Sender
from apps.firewall.engine.session import Session

GroupBlock: TypeAlias = tuple[int, Place]
"""The position of the block that holds, and where it stands."""

Chains: TypeAlias = tuple[tuple[str, Chain[int]], ...]
"""Places in the order in which they answer, each chain with the path of its channel."""

ACTIVE_CHANNELS: Final = frozenset(READERS) - {"telegram"}
"""Channels asked in their own way. Telegram's topics lead to their chat by the session key already."""


def chains_of(engine: Engine, context: CallContext, session: Session) -> Chains:
    """Return the places that may answer for a conversation, whoever speaks: a direct chat before the groups."""
    return (*_direct_chains(engine, context, session), *_group_chains(engine, context, session))


def without_senders(chains: Chains) -> Chains:
    """Return places whose rules by sender are not asked."""
    return tuple((path, tuple(replace(place, senders=False) for place in chain)) for path, chain in chains)


def _direct_chains(engine: Engine, context: CallContext, session: Session) -> Chains:
    """Return the place of a direct chat; where the key does not name it, the sender is the peer.

    Source: 2026.9.6, the policy of a conversation that takes the place of the group's.
    """
    direct = session.direct
    if not engine.dialect.direct_channels or (direct is None and session.group_ids):
        return ()
    name = (direct.channel if direct is not None else "") or session.channel
    channel = engine.channels.get(name) if name in engine.dialect.direct_channels else None
    if channel is None:
        return ()
    account = (direct.account if direct is not None else None) or context.account_id
    peer = direct.peer if direct is not None and direct.is_by_id else None
    chain = direct_chain(channel.map_of(DIRECT, account), peer)
    return ((f"channels.{name}", chain),) if chain else ()


def _group_chains(engine: Engine, context: CallContext, session: Session) -> Chains:
    name = session.channel
    channel = engine.channels.get(name) if name is not None and session.group_ids else None
    if name is None or channel is None:
        return ()
    request = GroupRequest(
        group_ids=session.group_ids,
        account_id=context.account_id,
        group_channel=context.group_channel,
        group_space=context.group_space,
    )
    chains = caller_chains(engine.dialect, name, channel, request, active_channels=ACTIVE_CHANNELS)
    return tuple((f"channels.{name}", chain) for chain in chains if chain)


def answer_in(engine: Engine, chains: Chains, sender: Sender) -> GroupBlock | None:
    """Return what the places say to a sender; a block without lists passes on to the next chain."""
    for path, chain in chains:
        found = find_in_chain(chain, sender)
        if found is not None and engine.blocks[found[0]] is not None:
            block, place, key = found
            if key is None:
                return block, (path, place.dotted, "tools")
            return block, (path, place.dotted, "toolsBySender", key)
    return None


def block_in(engine: Engine, chains: Chains, sender: Sender) -> int | None:
    """Return the position of the block that holds for a sender; the short form of `answer_in`."""
    for _, chain in chains:
        found = find_in_chain(chain, sender)
        if found is not None and engine.blocks[found[0]] is not None:
            return found[0]
    return None
