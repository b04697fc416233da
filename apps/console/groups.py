"""What the pages of channel groups show: the list, one group against what is live, what holds in it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.console import agents as fields
from apps.console.history import LIMIT, RULES_LIMIT, Change, changes_of
from apps.console.policy_forms import LISTS
from apps.console.remarks import Shown
from apps.firewall.engine.contexts import ANY_OTHER, Conversation
from apps.firewall.engine.groups import DIRECT, GroupEntry
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.channels import Page, Written, groups_page, path_of
from apps.policies.lint.addresses import group_told
from apps.policies.selectors import sender_rules

if TYPE_CHECKING:
    from apps.accounts.access import Principal
    from apps.policies.models import ChannelGroup
    from apps.registry.models import Environment

    GroupRecord: TypeAlias = ChannelGroup

SPACES: Final = frozenset({"guilds", "teams"})
_LISTS: Final = ("allow", "also_allow", "deny")
NOTES: Final[Mapping[str, Promise]] = {
    "also_allow": gettext_lazy("with no Allow: everything, and these"),
    "allow": gettext_lazy("empty means no limit"),
    "deny": gettext_lazy("always wins"),
}


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group in the list; `state` is `created`, `changed` or empty, `heading` its channel where that changes."""

    record: "GroupRecord"
    senders: int
    heading: str
    label: str
    is_inside: bool
    state: str


def group_rows(
    environment: "Environment", *, query: str, number: int, holding: UUID | None
) -> tuple[list[GroupRow], Page]:
    """List a page of the groups by channel: the page asked for, or the one that holds a group."""
    page = groups_page(environment, query=query, number=number, holding=holding)
    groups, written = [row.record for row in page.rows], Written(environment)
    states, ruled = written.of(groups), written.ruled(groups)
    rows, before = [], ""
    for shown in page.rows:
        group = shown.record
        channel = group.channel.key
        rows.append(
            GroupRow(
                record=group,
                senders=shown.senders,
                heading=channel if channel != before else "",
                label=label_of(group),
                is_inside=group.parent_id is not None,
                state=states.get(group.pk) or ("changed" if group.pk in ruled else ""),
            )
        )
        before = channel
    return rows, page


def label_of(group: "GroupRecord") -> str:
    """Say in a few words which group it is: its name, or what it stands for, and where."""
    name = group.extra.get("name") if isinstance(group.extra, dict) else None
    if not isinstance(name, str) or not name:
        name = _("Default for %(channel)s") % {"channel": group.channel.key} if group.key == ANY_OTHER else ""
    account = _("account %(name)s") % {"name": group.account.key} if group.account is not None else ""
    kind = group.get_kind_display() if group.kind != "groups" or not name else ""
    return " · ".join(part for part in (name, kind, account) if part)


def conversation_of(group: "GroupRecord") -> Conversation:
    """Return the class of conversations that a group's block is for."""
    account = group.account.key if group.account is not None else ""
    if group.parent is not None:
        return Conversation(group.channel.key, account, group.parent.key, group.key)
    if group.kind in SPACES:
        return Conversation(group.channel.key, account, group.key, ANY_OTHER)
    if group.kind == DIRECT:
        return Conversation(group.channel.key, account, peer=group.key)
    return Conversation(group.channel.key, account, "", group.key)


def live_group(live: Snapshot | None, group: "GroupRecord") -> GroupEntry[int] | None:
    """Return what the live publication says of a group; None when it does not know it."""
    channel, *path = path_of(group)
    groups = None if live is None else live.engine.channels.get(channel)
    return None if groups is None else groups.entry_at(path)


def live_block(live: Snapshot | None, group: "GroupRecord") -> Policy | None:
    """Return the block for everybody that is live in a group."""
    entry = live_group(live, group)
    return None if live is None or entry is None or entry.tools is None else live.engine.policies[entry.tools]


def stored_block(group: "GroupRecord") -> Policy | None:
    """Return the block for everybody that the draft has in a group."""
    return typed_block({name: getattr(group, name) for name in (*LISTS, "has_tools")})


def typed_block(values: Mapping[str, Any]) -> Policy | None:
    """Return the block that a form's values stand for; None passes on to the next place."""
    if not values.get("has_tools"):
        return None
    return lists_block(values)


def lists_block(values: Mapping[str, Any]) -> Policy:
    """Return the block that three lists stand for; None is an absent one."""
    allow, also_allow, deny = (None if values.get(name) is None else tuple(values[name]) for name in _LISTS)
    return Policy(allow, deny, also_allow)


def lists_changed(group: "GroupRecord", live: Policy | None) -> int:
    """Count the lists that differ from what is live; that the block is there at all counts as one."""
    stored = stored_block(group)
    lists = sum(tuple(getattr(stored, name, None) or ()) != tuple(getattr(live, name, None) or ()) for name in LISTS)
    return lists + ((stored is None) != (live is None))


def list_fields(
    environment: "Environment", draft: Snapshot, values: Mapping[str, Any], live: Policy | None, *, has_live: bool
) -> list[fields.ListField]:
    """Lay the lists of a group, or of a rule by sender, beside what is live."""
    return [
        replace(field, note=str(NOTES[field.name]), hint="")
        for field in fields.list_fields(environment, draft, values, live, has_live=has_live)
    ]


def key_remarks(group: "GroupRecord", key: str) -> list[Shown]:
    """Say beside the field why no group of the channel has such a key."""
    told = group_told(group.channel.key, group.kind, key, is_inside=group.parent_id is not None)
    return [Shown("warning", told, key, "")] if told else []


def history_of(group: "GroupRecord", *, by: "Principal | None" = None) -> list[Change]:
    """List the writes to a group and to its first rules by sender, the newest first."""
    entries = changes_of(group, by=by)
    for rule in sender_rules(group.environment, group=group)[:RULES_LIMIT]:
        entries += changes_of(rule, f"toolsBySender.{rule.key}", by=by)
    return sorted(entries, key=lambda change: change.at, reverse=True)[:LIMIT]
