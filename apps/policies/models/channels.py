"""Channels, their accounts and groups, and the rules by sender."""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from apps.policies.models.base import PolicyRecord, ToolBlock, key_present, one_list_of_two, tracked
from apps.policies.models.scopes import Agent


class GroupKind(models.TextChoices):
    """The map of the document that a group stands in."""

    GROUPS = "groups", _("Group")
    DIRECT = "direct", _("Direct chat")
    GUILDS = "guilds", _("Guild")
    TEAMS = "teams", _("Team")
    CHANNELS = "channels", _("Channel")
    ROOMS = "rooms", _("Room")


@tracked
class Channel(PolicyRecord):
    """One messaging channel, such as telegram."""

    key = models.CharField(max_length=128)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["environment", "key"], name="channel_once_per_environment"),
            key_present("channel_has_key"),
        ]

    def __str__(self) -> str:
        return self.key


@tracked
class ChannelAccount(PolicyRecord):
    """One account of a channel that has several."""

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="accounts")
    key = models.CharField(max_length=256)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["channel", "key"], name="account_once_per_channel"),
        ]

    def __str__(self) -> str:
        return self.key


@tracked
class ChannelGroup(PolicyRecord, ToolBlock):
    """A chat, guild, team, room or channel inside one; the key `*` stands for all that are not named.

    `has_tools` says that the document writes `tools` here: an empty one is an answer, none passes on.
    """

    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="groups")
    account = models.ForeignKey(ChannelAccount, null=True, blank=True, on_delete=models.CASCADE, related_name="groups")
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.CASCADE, related_name="children")
    kind = models.CharField(max_length=16, choices=GroupKind.choices, default=GroupKind.GROUPS)
    key = models.CharField(max_length=512)
    has_tools = models.BooleanField(default=False)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["channel", "account", "parent", "kind", "key"],
                name="group_once_per_map",
                nulls_distinct=False,
            ),
            models.CheckConstraint(condition=Q(kind__in=GroupKind.values), name="group_kind_known"),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | Q(kind=GroupKind.CHANNELS), name="only_channels_stand_inside"
            ),
            models.CheckConstraint(
                condition=Q(has_tools=True) | Q(allow__isnull=True, also_allow__isnull=True, deny__isnull=True),
                name="group_lists_need_tools",
            ),
            one_list_of_two("group_allow_or_also"),
        ]

    def __str__(self) -> str:
        return self.key


@tracked
class SenderRule(PolicyRecord, ToolBlock):
    """A policy for one sender: everywhere, with one agent, or in one group.

    `key` is typed (`id:`, `e164:`, `username:`, `name:`, `channel:<channel>:`), or `*` for anybody.
    """

    agent = models.ForeignKey(Agent, null=True, blank=True, on_delete=models.CASCADE, related_name="sender_rules")
    group = models.ForeignKey(
        ChannelGroup, null=True, blank=True, on_delete=models.CASCADE, related_name="sender_rules"
    )
    key = models.CharField(max_length=512, blank=True)

    class Meta:
        ordering: ClassVar = ["position", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["environment", "agent", "group", "key"], name="sender_once_per_scope", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(agent__isnull=True) | Q(group__isnull=True), name="sender_rule_has_one_scope"
            ),
            one_list_of_two("sender_rule_allow_or_also"),
        ]

    def __str__(self) -> str:
        return self.key
