"""Groups by where they stand: what is missing on the way to them is made with them."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from apps.policies.actors import By
from apps.policies.errors import RecordInvalidError
from apps.policies.locks import draft_lock
from apps.policies.models import Channel, ChannelAccount, ChannelGroup
from apps.policies.models.channels import GroupKind
from apps.policies.services.records import account_create, channel_create, group_create
from apps.registry.models import Environment

SPACES = (GroupKind.GUILDS, GroupKind.TEAMS)


def group_place(
    environment: Environment,
    key: str,
    *,
    by: By,
    channel: str,
    account: str = "",
    kind: str = GroupKind.GROUPS,
    space: str = "",
    space_kind: str = GroupKind.GUILDS,
    **fields: Any,
) -> ChannelGroup:
    """Add a group where it belongs, with the channel, the account and the guild or team around it when missing.

    Args:
        space: the guild or team that a channel lies in; empty for a group of the channel or account itself.
    Raises:
        RecordInvalidError: every mistake by field; nothing has changed.
    """
    with transaction.atomic():
        environment = draft_lock(environment)
        holder = Channel.objects.filter(environment=environment, key=channel).first()
        holder = holder or channel_create(environment, channel, by=by)
        owner = _account(holder, account, by) if account else None
        parent = _space(holder, owner, space, space_kind, by) if space else None
        if parent is not None:
            kind = GroupKind.CHANNELS
        return group_create(holder, key, by=by, kind=kind, account=owner, parent=parent, **fields)


def _account(channel: Channel, key: str, by: By) -> ChannelAccount:
    found = ChannelAccount.objects.filter(channel=channel, key=key).first()
    return found or account_create(channel, key, by=by)


def _space(channel: Channel, account: ChannelAccount | None, key: str, kind: str, by: By) -> ChannelGroup:
    if kind not in SPACES:
        message = _("only guilds and teams hold channels")
        raise RecordInvalidError(message, [{"path": "space", "code": "unknown_word", "message": message}])
    beside = ChannelGroup.objects.filter(channel=channel, account=account, parent=None, kind=kind)
    return beside.filter(key=key).first() or group_create(channel, key, by=by, kind=kind, account=account)
