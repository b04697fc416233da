"""The group and the thread that a session key names, and which group a caller may claim.

Source: conformance README, `session_key.jsonl`, kinds `group`, `trusted_group` and `thread`; for direct chats the
released package.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold, trim
from apps.firewall.engine.senders import normalize_channel
from apps.firewall.engine.session_key import parse_agent_key

TELEGRAM: Final = "telegram"

_FLAGS: Final = re.IGNORECASE | re.ASCII
_ANY: Final = r"[^\n\r\u2028\u2029]+"
_THREAD: Final = (":thread:",)
_THREAD_OR_TOPIC: Final = (":thread:", ":topic:")
_TOPIC_OF_SENDER: Final = re.compile(rf"({_ANY}):topic:([^:]+):sender:[^:]+", _FLAGS)
_TOPIC: Final = re.compile(rf"({_ANY}):topic:([^:]+)", _FLAGS)
_SENDER: Final = re.compile(rf"({_ANY}):sender:[^:]+", _FLAGS)
_TELEGRAM_TOPIC: Final = re.compile(r"(-?\d+):topic:(\d+)", _FLAGS)
_GROUP_KINDS: Final = ("group", "channel")
_DIRECT_KINDS: Final = ("direct", "dm")
_ROUTE_KINDS: Final = (*_GROUP_KINDS, *_DIRECT_KINDS)
_DIRECT: Final = re.compile(r"(?:direct|dm)\s*:", _FLAGS)


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """What the group policy looks up; ids from the most specific to the least, none when the key names no group."""

    channel: str | None = None
    group_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DirectChat:
    """A direct chat: its channel ("" where the key leaves it open), its account if the key names it, and the peer."""

    channel: str
    account: str | None
    peer: str

    @property
    def is_by_id(self) -> bool:
        """Say whether the peer is an id: a person whom several channels know has a name instead."""
        return self.peer.isascii() and self.peer.isdecimal()


@dataclass(frozen=True, slots=True)
class KeyThread:
    """A key without its thread part, the thread's id, and the key of the parent conversation."""

    base: str | None
    thread_id: str | None
    parent: str | None


@dataclass(frozen=True, slots=True)
class TrustedGroup:
    """A caller's group id as far as the keys bear it out."""

    group_id: str | None
    dropped: bool


@dataclass(frozen=True, slots=True)
class _Conversation:
    channel: str
    kind: str
    raw_id: str
    prefix: str = ""


def group_of_key(dialect: Dialect, key: str | None, *, active_channels: Collection[str] = ()) -> KeyGroup:
    """Return the channel and the group ids that a session key names.

    A thread lies in its conversation, whatever its id is and however deep it nests: the conversation's own id is always
    among the ids, so that no spelling of a key leads past the group's rules.

    Args:
        active_channels: channels whose own reading of ids is known.
    """
    raw = trim(key or "")
    if not raw:
        return KeyGroup()
    if dialect.key_topic_is_thread:
        conversation = _read_loosely(_cut_thread(raw, _THREAD_OR_TOPIC) or raw)
        return KeyGroup(conversation.channel, (conversation.raw_id,)) if conversation else KeyGroup()
    base, thread_id = _split(raw, _THREAD)
    whole = base if thread_id else raw
    conversation = _read_strictly(whole)
    if conversation is None:
        conversation = _read_loosely(whole)
        ids = _scoped_ids(conversation.raw_id) if conversation else []
    else:
        ids = _scoped_ids(conversation.raw_id)
        if not _is_telegram_topic(conversation, active_channels):
            ids.append(_split(conversation.raw_id, _THREAD)[0])
    if conversation is None:
        return KeyGroup()
    return KeyGroup(conversation.channel, tuple(dict.fromkeys(trim(each) for each in ids if trim(each))))


def direct_of_key(dialect: Dialect, key: str | None) -> DirectChat | None:
    """Return the direct chat that a session key names, by channel, by account and channel, or by its peer alone."""
    raw = trim(key or "")
    if _DIRECT.search(raw) is None:
        return None
    thread = thread_of_key(dialect, raw)
    parts = ((thread.base if thread.thread_id else raw) or "").split(":")
    if fold(parts[0]) == "agent":
        parts = parts[2:]
    words = [fold(part) for part in parts]
    for at in range(min(3, len(parts) - 1)):
        if words[at] in _DIRECT_KINDS and all(words[:at]) and (at < 2 or words[1] not in _GROUP_KINDS):
            peer = trim(":".join(parts[at + 1 :]))
            channel = normalize_channel(dialect, words[0]) if at else ""
            return DirectChat(channel, words[1] if at == 2 else None, peer) if peer else None
    return None


def route_channel(dialect: Dialect, key: str | None) -> str | None:
    """Return the channel on which a session's answers go out, as its own key names it.

    Source: the shipped release 2026.9.6, `parseSessionDeliveryRoute`.
    """
    thread = thread_of_key(dialect, key)
    parsed = parse_agent_key(dialect, thread.base if thread.thread_id else key)
    parts = parsed.rest.split(":") if parsed is not None else []
    if len(parts) < 3 or parts[0] == "agent":
        return None
    of_account = len(parts) >= 4 and parts[2] in _DIRECT_KINDS
    is_route = trim(parts[1]) and trim(parts[3]) if of_account else parts[1] in _ROUTE_KINDS and trim(parts[2])
    return normalize_channel(dialect, parts[0]) or None if is_route else None


def _read_strictly(key: str) -> _Conversation | None:
    """Read `[agent:<id>:]<channel>:<kind>:<id>` ignoring case, empty segments of the id kept."""
    parts = key.split(":")
    agent = parts[:2] if fold(parts[0]) == "agent" else []
    if agent:
        if len(parts) < 3 or not trim(parts[1]):
            return None
        parts = parts[2:]
    if len(parts) < 3 or fold(parts[0]) == "agent" or not trim(parts[2]):
        return None
    channel, kind = fold(parts[0]), fold(parts[1])
    if not channel or kind not in _GROUP_KINDS:
        return None
    return _Conversation(channel, kind, trim(":".join(parts[2:])), trim(":".join([*agent, *parts[:2]])))


def _read_loosely(key: str) -> _Conversation | None:
    """Read the same with empty segments passed over and, in front, one `subagent`; the case of words matters."""
    parts = [part for part in key.split(":") if part]
    if parts[:1] == ["agent"]:
        parts = parts[2:]
    if parts[:1] == ["subagent"]:
        parts = parts[1:]
    if len(parts) < 3 or parts[1] not in _GROUP_KINDS:
        return None
    group_id = trim(":".join(parts[2:]))
    return _Conversation(fold(parts[0]), parts[1], group_id) if group_id else None


def _scoped_ids(group_id: str) -> list[str]:
    """Return a group id and the wider ones it lies in: a sender's part of a topic, the topic, the chat."""
    found = _TOPIC_OF_SENDER.fullmatch(group_id)
    if found:
        return [group_id, f"{found[1]}:topic:{found[2]}", found[1]]
    found = _TOPIC.fullmatch(group_id)
    if found:
        return [f"{found[1]}:topic:{found[2]}", found[1]]
    found = _SENDER.fullmatch(group_id)
    return [group_id, found[1]] if found else [group_id]


def _is_telegram_topic(conversation: _Conversation, active_channels: Collection[str]) -> bool:
    return (
        conversation.channel == TELEGRAM
        and TELEGRAM in active_channels
        and conversation.kind == "group"
        and _TELEGRAM_TOPIC.fullmatch(conversation.raw_id) is not None
    )


def thread_of_key(dialect: Dialect, key: str | None, *, active_channels: Collection[str] = ()) -> KeyThread:
    """Split the thread off a session key.

    Args:
        active_channels: channels whose own reading of ids is known.
    """
    if not key:
        return KeyThread(None, None, None)
    if dialect.key_topic_is_thread:
        base, thread_id = _split(key, _THREAD_OR_TOPIC, is_case_ignored=False)
        return KeyThread(base, thread_id, _cut_thread(trim(key), _THREAD_OR_TOPIC))
    raw = trim(key)
    if not raw:
        return KeyThread(None, None, None)
    conversation = _read_strictly(raw)
    if conversation and _is_telegram_topic(conversation, active_channels):
        topic = conversation.raw_id.rsplit(":", 1)[1]
        base = raw[: -len(f":topic:{topic}")]
        return KeyThread(base, topic, base)
    if conversation is None:
        base, thread_id = _split(raw, _THREAD)
        return KeyThread(base, thread_id, base if thread_id else None)
    inner, thread_id = _split(conversation.raw_id, _THREAD)
    if thread_id is None:
        return KeyThread(raw, None, None)
    base = f"{conversation.prefix}:{trim(inner)}"
    return KeyThread(base, thread_id, base)


def _split(key: str, marks: Collection[str], *, is_case_ignored: bool = True) -> tuple[str, str | None]:
    """Split at the last of some marks; two that share a colon are two."""
    searched = key.lower() if is_case_ignored else key
    place, mark = max((searched.rfind(mark), mark) for mark in marks)
    if place < 0:
        return key, None
    return key[:place], trim(key[place + len(mark) :]) or None


def _cut_thread(key: str, marks: Collection[str]) -> str | None:
    """Return the key of the parent conversation; None when there is none."""
    base, _ = _split(key, marks)
    return trim(base) or None if len(base) < len(key) else None


def trusted_group(
    dialect: Dialect, group_id: str | None, *, session_key: str | None, spawned_by: str | None
) -> TrustedGroup:
    """Keep a group id supplied by the caller only when one of the two keys leads to it."""
    claimed = trim(group_id or "")
    if not claimed:
        return TrustedGroup(group_id, dropped=False)
    keys = (session_key, spawned_by)
    if any(claimed in group_of_key(dialect, key).group_ids for key in keys):
        return TrustedGroup(group_id, dropped=False)
    return TrustedGroup(None, dropped=True)
