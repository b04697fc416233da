"""Channels whose group policy nests in its own way: guilds, teams, rooms, lists of channels.

Every reader takes the same arguments and returns the places that the channel's own resolver would ask, in its order.
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
    Chain,
    ChannelGroups,
    GroupEntry,
    GroupMap,
    GroupRequest,
    places,
    plain_chain,
)
from apps.firewall.engine.names import BLANKS, fold, trim

T = TypeVar("T")
Reader: TypeAlias = Callable[[Dialect, ChannelGroups[Any], GroupRequest], Chain[Any]]

_TELEGRAM_TOPIC: Final = re.compile(r"(-?[0-9]+):+(?:topic:+)?[0-9]+(?::|$)")
_BLANK_RUN: Final = re.compile(f"[{BLANKS}]+")
_NOT_ALPHANUMERIC: Final = re.compile(r"[^a-z0-9]+")
_NOT_IN_SLACK_NAMES: Final = re.compile(r"[^a-z0-9#@._+-]+")
_MATRIX_PREFIXES: Final = ("matrix:", "channel:", "room:")


def channel_chain(dialect: Dialect, name: str, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    """Ask a channel's own resolver; a channel without one has plain groups."""
    return READERS.get(name, plain_chain)(dialect, channel, request)


def _telegram(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    """Read a topic as its chat: topics have no tool policy of their own."""
    found = _TELEGRAM_TOPIC.match(trim(request.group_id))
    return plain_chain(dialect, channel, request.for_group(found[1] if found else request.group_id))


def _irc(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    if not trim(request.group_id):
        return ()
    chain = plain_chain(dialect, channel, replace(request, case_ignored=True))
    return tuple(replace(place, phones=False) for place in chain)


def _discord(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    guilds = channel.maps.get("guilds")
    guild = _guild(guilds, trim(request.group_space or "")) if guilds else None
    if guild is None:
        return ()
    slug = hash_slug(request.group_channel or "")
    keys = (request.group_id, slug, f"#{slug}" if slug else "")
    room = guild.channels.first(keys) if guild.channels else None
    return (*places(guild.channels, room), *places(guilds, guild))


def _guild(guilds: GroupMap[T], space: str) -> GroupEntry[T] | None:
    slug = hash_slug(space)
    guild = guilds.first((space, slug))
    if guild is None and slug:
        guild = next((each for each in guilds.entries.values() if each.slug and hash_slug(each.slug) == slug), None)
    return guild or guilds.get(ANY_GROUP)


def _slack(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    rooms = channel.map_of("channels", request.account_id)
    if rooms is None:
        return ()
    name = (request.group_channel or "").removeprefix("#")
    keys = (trim(request.group_id), f"#{name}" if name else "", name, hyphen_slug(name), ANY_GROUP)
    return places(rooms, rooms.first(keys))


def _msteams(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    teams = channel.maps.get("teams")
    if not teams:
        return ()
    space = trim(request.group_space or "")
    group_id, name = trim(request.group_id), trim(request.group_channel or "")
    keys = (group_id, name, plain_slug(name))
    team = _slugged(teams, (space, plain_slug(space)))
    known = places(teams, team)
    room = _slugged(team.channels, keys) if team else None
    if team and room:
        return (*places(team.channels, room), *known)
    if group_id:
        for other in teams.entries.values():
            room = _slugged(other.channels, keys)
            if room:
                return (*known, *places(other.channels, room), *places(teams, other))
    return known


def _matrix(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    rooms = channel.map_of(GROUPS, request.account_id)
    if rooms is None:
        rooms = channel.map_of("rooms", request.account_id)
    if rooms is None:
        return ()
    room = trim(request.group_id)
    for prefix in _MATRIX_PREFIXES:
        if room.lower().startswith(prefix):
            room = trim(room[len(prefix) :])
    keys = (room, f"room:{room}" if room else "", trim(request.group_channel or ""), ANY_GROUP)
    return _without_senders(places(rooms, rooms.first(keys)))


def _feishu(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    groups, group_id = channel.maps.get(GROUPS), trim(request.group_id)
    if groups is None or not group_id:
        return ()
    return _without_senders(places(groups, groups.get(group_id) or groups.get_folded(group_id)))


def _nextcloud_talk(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    rooms, token = channel.maps.get("rooms"), trim(request.group_id)
    if rooms is None or not token:
        return ()
    name = trim(request.group_channel or "")
    return _without_senders(places(rooms, _slugged(rooms, (token, name, plain_slug(name))), rooms.get(ANY_GROUP)))


def _zalouser(_dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    groups = channel.map_of(GROUPS, request.account_id)
    if groups is None:
        return ()
    keys = (trim(request.group_id), trim(request.group_channel or ""), ANY_GROUP)
    return _without_senders(places(groups, *(groups.get(key) for key in keys if key)))


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


def _without_senders(chain: Chain[T]) -> Chain[T]:
    """Ask only `tools`: these channels know no rules by sender."""
    return tuple(replace(place, senders=False) for place in chain)


def _slugged(entries: GroupMap[T] | None, keys: Iterable[str]) -> GroupEntry[T] | None:
    """Find an entry by key, then by equal slug, then `*`."""
    if entries is None:
        return None
    keys = tuple(keys)
    return entries.first(keys) or entries.first_by_slug(plain_slug, keys) or entries.get(ANY_GROUP)


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
