"""Rules that never count, because another one is found first."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.groups import DIRECT
from apps.firewall.engine.names import fold, trim
from apps.firewall.engine.senders import in_read_order, normalize_channel
from apps.firewall.engine.session_key import normalize_agent_id
from apps.policies.lint.draft import Draft
from apps.policies.lint.findings import LintSeverity

Remark = tuple[Any, str, LintSeverity, str]
"""The record, the code, the severity, the message."""

PHONELESS: Final = frozenset({"irc"})
"""Channels that give no phone number of a sender to rules."""
_TYPES = ("id", "e164", "username", "name")


def sender_identity(dialect: Dialect, key: str) -> str:
    """Return what a sender key means: two keys with the same meaning are one rule and a dead one.

    Empty for a key that can match nobody.
    Source: conformance README, "Rules of `by_sender`".
    """
    folded = fold(key)
    if folded in ("", "*"):
        return folded
    kind, colon, value = folded.partition(":")
    if colon and kind in _TYPES:
        value = trim(value)
        value = value.removeprefix("@") if kind == "username" else value
        return f"{kind}:{value}" if value else ""
    if colon and kind == "channel" and dialect.sender_channel_keys:
        channel, _, sender = value.partition(":")
        return f"channel:{normalize_channel(dialect, channel)}:{trim(sender)}" if channel and trim(sender) else ""
    value = folded.removeprefix("@")
    return f"id:{value}" if value else ""


def unreached(draft: Draft) -> Iterator[Remark]:
    """Find every rule of the draft that never counts."""
    yield from _senders(draft)
    yield from _same(draft.records("agent"), lambda agent: normalize_agent_id(agent.key), "same_agent")
    for records in draft.by("provider", "agent_id").values():
        yield from _same(records, lambda record: fold(record.key), "same_provider")
    for records in draft.by("group", "channel_id", "account_id", "parent_id", "kind").values():
        yield from _same(records, lambda record: fold(record.key), "same_group")
    yield from _groups(draft)


def _senders(draft: Draft) -> Iterator[Remark]:
    for (_agent, group), rules in draft.by("sender", "agent_id", "group_id").items():
        yield from sender_remarks(draft.dialect, rules, is_in_group=group is not None)


def sender_remarks(dialect: Dialect, rules: Iterable[Any], *, is_in_group: bool) -> Iterator[Remark]:
    """Find the rules of one scope, in the order of the document, whose keys nobody has or another one has already."""
    seen: dict[str, Any] = {}
    for rule in in_read_order(rules, lambda each: str(each.key)):
        identity = sender_identity(dialect, rule.key)
        if not is_in_group and "sender" not in dialect.layers:
            yield rule, "never_reached", "warning", _("this release has no rules by sender outside groups")
        if fold(rule.key).startswith("channel:") and not dialect.sender_channel_keys:
            message = _("this release knows no keys by channel, so `%(key)s` can match nobody")
            yield rule, "never_reached", "warning", message % {"key": rule.key}
        elif not identity:
            yield rule, "never_reached", "warning", _("the key `%(key)s` can match nobody") % {"key": rule.key}
        elif identity == "*" and identity in seen:
            message = _("of several rules for `*` the last one counts, not `%(key)s`") % {"key": seen[identity].key}
            yield seen[identity], "same_sender", "warning", message
            seen[identity] = rule
        elif identity in seen:
            message = _("`%(key)s` means the same sender as `%(counting)s`, which counts") % {
                "key": rule.key,
                "counting": seen[identity].key,
            }
            yield rule, "same_sender", "warning", message
        else:
            seen[identity] = rule


def _same(records: Sequence[Any], normal: Callable[[Any], str], code: str) -> Iterator[Remark]:
    seen: dict[str, Any] = {}
    for record in records:
        first = seen.setdefault(normal(record), record)
        if first is not record:
            yield (
                record,
                code,
                "warning",
                _("`%(key)s` means the same as `%(counting)s`: only one of them counts")
                % {"key": record.key, "counting": first.key},
            )


def is_undecided(dialect: Dialect, channel: str, kind: str) -> bool:
    """Say whether an entry is one for a direct chat of a channel on which the release reads none."""
    return kind == DIRECT and normalize_channel(dialect, channel) not in dialect.direct_channels


def _groups(draft: Draft) -> Iterator[Remark]:
    rules = draft.by("sender", "group_id")
    channels = {channel.pk: channel.key for channel in draft.records("channel")}
    for group in draft.records("group"):
        own = rules.get((group.pk,), [])
        channel = normalize_channel(draft.dialect, channels[group.channel_id])
        for rule in own if group.kind == DIRECT or channel in PHONELESS else ():
            if sender_identity(draft.dialect, rule.key).startswith("e164:"):
                message = _("no phone numbers are known in this conversation, so `%(key)s` can match nobody")
                yield rule, "never_reached", "warning", message % {"key": rule.key}
        if is_undecided(draft.dialect, channel, group.kind):
            if group.has_tools or own:
                message = _(
                    "this release reads no rules for direct chats here: a direct chat is decided by agent and sender"
                )
                yield group, "direct_not_decided", "warning", message
        elif group.has_tools and any(sender_identity(draft.dialect, rule.key) == "*" for rule in own):
            yield group, "never_reached", "warning", _("`toolsBySender` has a rule for `*`: `tools` never counts here")
