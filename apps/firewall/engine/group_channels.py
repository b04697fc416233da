"""Channels whose group policy nests in its own way: guilds, teams, rooms, lists of channels.

Every reader takes the same arguments and returns what the channel's own resolver would choose.
Source: conformance README, table of `group_policy_channels.jsonl`.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Final, TypeAlias, TypeVar

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.groups import (
    ANY_GROUP,
    GROUPS,
    ChannelGroups,
    GroupAnswer,
    GroupEntry,
    GroupMap,
    GroupRequest,
    answer_of,
    find_in_groups,
)
from apps.firewall.engine.names import BLANKS, fold, trim

T = TypeVar("T")
Reader: TypeAlias = Callable[[Dialect, ChannelGroups[Any], GroupRequest], GroupAnswer[Any] | None]

_TELEGRAM_TOPIC: Final = re.compile(r"(-?[0-9]+):+(?:topic:+)?[0-9]+(?::|$)")
_BLANK_RUN: Final = re.compile(f"[{BLANKS}]+")
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_NOT_IN_SLACK_NAMES: Final = re.compile(r"[^a-z0-9#@._+-]+")
_MATRIX_PREFIXES: Final = ("matrix:", "channel:", "room:")


def find_in_channel(
    dialect: Dialect, name: str, channel: ChannelGroups[T], request: GroupRequest
) -> GroupAnswer[T] | None:
    """Ask a channel's own resolver; a channel without one has plain groups."""
    return READERS.get(name, find_in_groups)(dialect, channel, request)


def _telegram(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    """Read a topic as its chat: topics have no tool policy of their own."""
    found = _TELEGRAM_TOPIC.match(trim(request.group_id))
    return find_in_groups(dialect, channel, request.for_group(found[1] if found else request.group_id))


def _irc(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    if not trim(request.group_id):
        return None
    known = replace(request.sender, e164=None)
    return find_in_groups(dialect, channel, replace(request, sender=known, case_ignored=True))


def _discord(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    guilds = channel.maps.get("guilds")
    guild = _guild(guilds, trim(request.group_space or "")) if guilds else None
    if guild is None:
        return None
    if guild.channels:
        slug = hash_slug(request.group_channel or "")
        room = guild.channels.first((request.group_id, slug, f"#{slug}" if slug else ""))
        answer = answer_of(dialect, room, request, inside=(guild.key,))
        if answer is not None:
            return answer
    return answer_of(dialect, guild, request)


def _guild(guilds: GroupMap[T], space: str) -> GroupEntry[T] | None:
    slug = hash_slug(space)
    guild = guilds.first((space, slug))
    if guild is None and slug:
        guild = next((each for each in guilds.entries.values() if each.slug and hash_slug(each.slug) == slug), None)
    return guild or guilds.get(ANY_GROUP)


def _slack(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    rooms = channel.map_of("channels", request.account_id)
    if rooms is None:
        return None
    name = (request.group_channel or "").removeprefix("#")
    keys = (trim(request.group_id), f"#{name}" if name else "", name, hyphen_slug(name), ANY_GROUP)
    return answer_of(dialect, rooms.first(keys), request)


def _msteams(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    teams = channel.maps.get("teams")
    if not teams:
        return None
    space = trim(request.group_space or "")
    group_id, name = trim(request.group_id), trim(request.group_channel or "")
    keys = (group_id, name, plain_slug(name))
    team = _slugged(teams, (space, plain_slug(space)), fall_back=True)
    if team is not None:
        room = _slugged(team.channels, keys, fall_back=True)
        if room is not None:
            return _room_then_team(dialect, room, team, request)
        answer = answer_of(dialect, team, request)
        if answer is not None:
            return answer
    if not group_id:
        return None
    for other in teams.entries.values():
        room = _slugged(other.channels, keys, fall_back=True)
        if room is not None:
            return _room_then_team(dialect, room, other, request)
    return None


def _room_then_team(
    dialect: Dialect, room: GroupEntry[T], team: GroupEntry[T], request: GroupRequest
) -> GroupAnswer[T] | None:
    return answer_of(dialect, room, request, inside=(team.key,)) or answer_of(dialect, team, request)


def _matrix(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    del dialect
    rooms = channel.map_of(GROUPS, request.account_id)
    if rooms is None:
        rooms = channel.map_of("rooms", request.account_id)
    if rooms is None:
        return None
    room = trim(request.group_id)
    for prefix in _MATRIX_PREFIXES:
        if room.lower().startswith(prefix):
            room = trim(room[len(prefix) :])
    keys = (room, f"room:{room}" if room else "", trim(request.group_channel or ""), ANY_GROUP)
    return _tools_only(rooms.first(keys))


def _feishu(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    del dialect
    groups, group_id = channel.maps.get(GROUPS), trim(request.group_id)
    if groups is None or not group_id:
        return None
    return _tools_only(groups.get(group_id) or groups.get_folded(group_id))


def _nextcloud_talk(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    del dialect
    rooms, token = channel.maps.get("rooms"), trim(request.group_id)
    if rooms is None or not token:
        return None
    name = trim(request.group_channel or "")
    room = _slugged(rooms, (token, name, plain_slug(name)), fall_back=False)
    return _tools_only(room) or _tools_only(rooms.get(ANY_GROUP))


def _zalouser(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> GroupAnswer[T] | None:
    del dialect
    groups = channel.map_of(GROUPS, request.account_id)
    if groups is None:
        return None
    keys = (trim(request.group_id), trim(request.group_channel or ""), ANY_GROUP)
    answers = (_tools_only(groups.get(key)) for key in keys if key)
    return next((answer for answer in answers if answer is not None), None)


READERS: Final[dict[str, Reader]] = {
    "telegram": _telegram,
    "irc": _irc,
    "discord": _discord,
    "slack": _slack,
    "msteams": _msteams,
    "matrix": _matrix,
    "feishu": _feishu,
    "nextcloud-talk": _nextcloud_talk,
    "zalouser": _zalouser,
}


def _tools_only(entry: GroupEntry[T] | None) -> GroupAnswer[T] | None:
    """Return an entry's `tools`: these channels know no rules by sender."""
    return None if entry is None or entry.tools is None else GroupAnswer(entry.tools, (entry.key,))


def _slugged(entries: GroupMap[T] | None, keys: Iterable[str], *, fall_back: bool) -> GroupEntry[T] | None:
    """Find an entry by key, then by equal slug, then `*`."""
    if entries is None:
        return None
    keys = tuple(keys)
    found = entries.first(keys) or entries.first_by_slug(plain_slug, keys)
    return found or (entries.get(ANY_GROUP) if fall_back else None)


def hash_slug(text: str) -> str:
    """Return the slug of Discord's names: runs of other than letters and digits become `-`, leading `@` and `#` go."""
    return _NOT_ALPHANUMERIC.sub("-", fold(text).lstrip("@#")).strip("-")


def plain_slug(text: str) -> str:
    """Return the slug of Teams and Nextcloud Talk: as Discord's, but with one leading `#` at most taken off."""
    return _NOT_ALPHANUMERIC.sub("-", fold(text).removeprefix("#")).strip("-")


def hyphen_slug(text: str) -> str:
    """Return the slug of Slack's names: white space becomes `-`, `# @ . _ + -` stay."""
    dashed = _NOT_IN_SLACK_NAMES.sub("-", _BLANK_RUN.sub("-", fold(text)))
    return re.sub("-{2,}", "-", dashed).strip("-.")
