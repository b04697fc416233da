"""Keys that nobody and nothing has: senders, groups and providers."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.names import fold
from apps.policies.lint.draft import Draft
from apps.policies.lint.findings import LintFinding
from apps.policies.models.channels import GroupKind

MISNAMED: Final[Mapping[str, str]] = {
    "user": "username",
    "handle": "username",
    "nick": "username",
    "phone": "e164",
    "tel": "e164",
    "mobile": "e164",
    "userid": "id",
}
GROUP_KEYS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {
    "telegram": (re.compile(r"\*|-?\d+(:topic:\d+)?"), "-1001234567890"),
    "whatsapp": (re.compile(r"\*|[\d-]+@g\.us"), "120363000000000000@g.us"),
}
CHAT_KEYS: Final[Mapping[str, tuple[re.Pattern[str], str]]] = {"telegram": (re.compile(r"\*|\d+"), "4242424242")}
"""Of direct chats: an id below zero is a group's, and OpenClaw looks for it there alone."""
CHANNELS: Final = frozenset(
    name
    for dialect in DIALECTS.values()
    for name in (*dialect.resolver_location, *dialect.channel_aliases, *dialect.channel_aliases.values())
)
"""Channels of any release: a key that begins with one lacks the word `channel`."""
_PUNCTUATION: Final = " ()-./\u00a0"
_PHONE: Final = re.compile(r"\+\d{6,15}")


def address_findings(draft: Draft) -> Iterator[LintFinding]:
    """Find keys of rules that never match anything."""
    for rule in draft.records("sender"):
        meant = sender_meant(rule.key)
        if meant:
            message = sender_told(rule.key, meant)
            yield draft.finding(rule, "sender_shape", "", message, rule.key, suggestion=meant)
    yield from _groups(draft)
    yield from _providers(draft)


def sender_told(key: str, meant: str) -> str:
    """Say what becomes of a key that is written otherwise than it was meant."""
    message = _("`%(key)s` is compared with ids only, so its sender falls through to `*`: write `%(meant)s`")
    return message % {"key": key, "meant": meant}


def sender_meant(key: str) -> str:
    """Return the key that was probably meant; empty where the key can match as it is."""
    folded = fold(key)
    kind, colon, value = folded.partition(":")
    value = value.strip()
    if not colon:
        if folded.startswith("@") and len(folded) > 1:
            return f"username:{folded[1:]}"
        return f"e164:{folded}" if _PHONE.fullmatch(folded) else ""
    if kind == "e164":
        digits = "".join(letter for letter in value if letter not in _PUNCTUATION)
        meant = f"e164:+{digits.removeprefix('+')}"
        return meant if digits.removeprefix("+").isdecimal() and meant != f"e164:{value}" else ""
    if kind in CHANNELS and value:
        return sender_meant(f"channel:{kind}:{value}") or f"channel:{kind}:{value}"
    if kind == "channel":
        name = value.partition(":")[2].strip()
        return f"username:{name[1:]}" if name.startswith("@") and len(name) > 1 else ""
    if kind in MISNAMED and value:
        return f"{MISNAMED[kind]}:{value}"
    return ""


def _groups(draft: Draft) -> Iterator[LintFinding]:
    channels = {channel.pk: fold(channel.key) for channel in draft.records("channel")}
    for group in draft.records("group"):
        message = group_told(channels.get(group.channel_id, ""), group.kind, group.key, is_inside=bool(group.parent_id))
        if message:
            yield draft.finding(group, "group_shape", "", message, group.key)


def group_told(channel: str, kind: str, key: str, *, is_inside: bool) -> str:
    """Say why no group of a channel has a key; empty where one may."""
    shapes = {GroupKind.GROUPS: GROUP_KEYS, GroupKind.DIRECT: CHAT_KEYS}.get(GroupKind(kind), {})
    shape = shapes.get(fold(channel))
    if is_inside or shape is None or shape[0].fullmatch(key.strip()):
        return ""
    message = _("no group of this channel has the key `%(key)s`: its ids look like `%(example)s`")
    return message % {"key": key, "example": shape[1]}


def _providers(draft: Draft) -> Iterator[LintFinding]:
    used = _used_providers(draft)
    if not used:
        return
    for record in draft.records("provider"):
        provider = fold(record.key).partition("/")[0]
        if provider and provider not in used:
            message = _("no agent uses a model of `%(key)s`: the rule waits for one, or its name is misspelt")
            yield draft.finding(record, "provider_unused", "", message % {"key": record.key}, record.key)


def _used_providers(draft: Draft) -> frozenset[str]:
    """Name the providers whose models the document speaks of; empty where it speaks of none."""
    extra = draft.policy.extra if draft.policy is not None else {}
    defaults = _member(_member(extra, "agents"), "defaults")
    found = {fold(key) for key in _keys(_member(_member(extra, "models"), "providers"))}
    for place in (defaults, *(agent.extra for agent in draft.records("agent"))):
        found.update(_providers_of(_member(place, "model")))
        found.update(fold(key).partition("/")[0] for key in _keys(_member(place, "models")))
    return frozenset(found - {""})


def _providers_of(model: Any) -> Iterator[str]:
    named = [model] if isinstance(model, str) else [_member(model, "primary"), *(_member(model, "fallbacks") or ())]
    for name in named:
        if isinstance(name, str) and "/" in name:
            yield fold(name).partition("/")[0]


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _keys(value: Any) -> list[str]:
    return list(value) if isinstance(value, dict) else []
