"""Group policy: which `tools` block of a channel counts for a conversation.

Channels whose groups nest in their own way stand in `group_channels`; deriving channel and group from a session key in
`group_caller`.
Source: conformance README, `group_policy.jsonl`, "Rules of `tools`".
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold, trim
from apps.firewall.engine.senders import Sender, SenderIndex, compile_senders
from apps.firewall.engine.session_key import slug_id

T = TypeVar("T")

ANY_GROUP: Final = "*"
GROUPS: Final = "groups"
DIRECT: Final = "direct"
DEFAULT_ACCOUNT: Final = "default"


@dataclass(frozen=True, slots=True)
class GroupEntry(Generic[T]):
    """One entry of a map: a group, room, guild or team. `tools` None passes on, anything else is an answer."""

    key: str
    tools: T | None = None
    senders: SenderIndex[T] | None = None
    slug: str | None = None
    channels: "GroupMap[T] | None" = None


class GroupMap(Generic[T]):
    """Entries by key, in document order.

    Attributes:
        path: where the map stands below its channel, such as `("accounts", "work", "groups")`.
    """

    __slots__ = ("_by_slug", "_folded", "entries", "path")

    def __init__(self, entries: Iterable[GroupEntry[T]], path: tuple[str, ...] = ()) -> None:
        self.entries = {entry.key: entry for entry in entries}
        self.path = path
        self._folded: dict[bool, dict[str, GroupEntry[T]]] = {}
        self._by_slug: dict[Callable[[str], str], dict[str, GroupEntry[T]]] = {}

    def __bool__(self) -> bool:
        return bool(self.entries)

    def get(self, key: str) -> GroupEntry[T] | None:
        """Return the entry with exactly this key."""
        return self.entries.get(key)

    def get_folded(self, key: str, *, is_trimmed: bool = False) -> GroupEntry[T] | None:
        """Return the first entry other than `*` whose key is equal ignoring case.

        Args:
            is_trimmed: ignoring blanks around it as well.
        """
        read = fold if is_trimmed else str.lower
        folded = self._folded.get(is_trimmed)
        if folded is None:
            folded = self._folded[is_trimmed] = {}
            for entry in self.entries.values():
                if entry.key != ANY_GROUP:
                    folded.setdefault(read(entry.key), entry)
        return folded.get(read(key))

    def first(self, keys: Iterable[str]) -> GroupEntry[T] | None:
        """Return the entry of the first key that has one; blank keys are passed over."""
        return next((self.entries[key] for key in keys if key and key in self.entries), None)

    def first_by_slug(self, slug: Callable[[str], str], keys: Iterable[str]) -> GroupEntry[T] | None:
        """Return the first entry, in document order, whose key has the slug of one of these keys."""
        table = self._by_slug.get(slug)
        if table is None:
            table = self._by_slug[slug] = {}
            for entry in self.entries.values():
                table.setdefault(slug(entry.key), entry)
        wanted = [table[each] for each in map(slug, keys) if each and each in table]
        if len(wanted) < 2:
            return wanted[0] if wanted else None
        return next(entry for entry in self.entries.values() if any(entry is found for found in wanted))


@dataclass(frozen=True, slots=True)
class ChannelGroups(Generic[T]):
    """The maps of one channel by name (`groups`, `direct`, `guilds`, …), and those of its accounts."""

    maps: Mapping[str, GroupMap[T]] = field(default_factory=dict)
    accounts: Mapping[str, Mapping[str, GroupMap[T]]] = field(default_factory=dict)

    def account(self, account_id: str | None) -> Mapping[str, GroupMap[T]]:
        """Return an account's own maps: by its normal id exactly, then ignoring case."""
        wanted = slug_id(account_id) or DEFAULT_ACCOUNT
        if wanted in self.accounts:
            return self.accounts[wanted]
        return next((maps for key, maps in self.accounts.items() if key.lower() == wanted), {})

    def map_of(self, name: str, account_id: str | None) -> GroupMap[T] | None:
        """Return an account's map, an empty one included, else the channel's."""
        own = self.account(account_id).get(name)
        return self.maps.get(name) if own is None else own

    def entry_at(self, path: Sequence[str]) -> GroupEntry[T] | None:
        """Return the entry at a path below the channel, such as `("accounts", "work", "groups", "-100")`."""
        maps, rest = (self.accounts.get(path[1], {}), path[2:]) if path[0] == "accounts" else (self.maps, path)
        entries = maps.get(rest[0])
        entry = entries.get(rest[1]) if entries is not None else None
        if len(rest) < 4:
            return entry
        return entry.channels.get(rest[3]) if entry is not None and entry.channels is not None else None

    def with_entry(self, path: Sequence[str], change: Callable[[GroupEntry[T]], GroupEntry[T]]) -> "ChannelGroups[T]":
        """Return these groups with one entry changed; the rest is shared. One that decides nothing changes nothing.

        A direct chat is such an entry where the release has no rules for them.
        """
        if self.entry_at(path) is None:
            return self
        if path[0] == "accounts":
            maps = self.accounts[path[1]]
            own = {**maps, path[2]: _with_entry(maps[path[2]], path[3:], change)}
            return replace(self, accounts={**self.accounts, path[1]: own})
        return replace(self, maps={**self.maps, path[0]: _with_entry(self.maps[path[0]], path[1:], change)})


def _with_entry(
    groups: GroupMap[T], path: Sequence[str], change: Callable[[GroupEntry[T]], GroupEntry[T]]
) -> GroupMap[T]:
    entry = groups.entries[path[0]]
    if len(path) > 1 and entry.channels is not None:
        changed = replace(entry, channels=_with_entry(entry.channels, path[2:], change))
    else:
        changed = change(entry)
    return GroupMap({**groups.entries, entry.key: changed}.values(), groups.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRequest:
    """The conversation for which a channel's groups are asked.

    Attributes:
        group_ids: from the most specific on; the first is the group itself.
        group_channel: the conversation's name.
        group_space: the guild or team around it.
    """

    group_ids: tuple[str | None, ...] = ()
    account_id: str | None = None
    group_channel: str | None = None
    group_space: str | None = None
    case_ignored: bool = False

    @property
    def group_id(self) -> str:
        """The most specific group id, "" when there is none."""
        return (self.group_ids[0] or "") if self.group_ids else ""

    def for_group(self, group_id: str | None) -> "GroupRequest":
        """Return the same request for one group id only."""
        return replace(self, group_ids=(group_id,))


@dataclass(frozen=True, slots=True)
class Place(Generic[T]):
    """One entry that may answer, and where it stands below its channel.

    Attributes:
        entry: None where the sender says which entry is meant.
        peers: for such a place the one of each direct chat, by its peer.
        senders: whether its rules by sender are asked.
        phones: whether the sender's phone number is used for them.
        dotted: the path in one text; a chain is kept, so that decisions need not join it again.
    """

    entry: GroupEntry[T] | None
    path: tuple[str, ...]
    senders: bool = True
    phones: bool = True
    peers: Mapping[str, "Place[T]"] = field(default_factory=dict)
    dotted: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dotted", ".".join(self.path))

    def of_sender(self, sender: Sender) -> "Place[T] | None":
        """Return the place of the chat with a sender: a peer without an entry has the one for `*`."""
        if self.entry is not None:
            return self
        return self.peers.get(trim(sender.id or "")) or self.peers.get(ANY_GROUP)

    @property
    def each(self) -> tuple["Place[T]", ...]:
        """The places with an entry: this one, or one for each direct chat."""
        return (self,) if self.entry is not None else tuple(self.peers.values())


Chain: TypeAlias = tuple[Place[T], ...]
"""Places in the order in which they answer. A chain depends on the conversation, never on the sender: keep it."""


class GroupAnswer(NamedTuple, Generic[T]):
    """The block that counts, where it stands below its channel, and the key of the rule by sender, if it is one."""

    tools: T
    path: tuple[str, ...]
    sender_key: str | None = None


def answer_of(
    dialect: Dialect, chain: Chain[T], sender: Sender, sender_policy_mode: str | None = None
) -> GroupAnswer[T] | None:
    """Return the first answer of a chain: of each place the rules by sender, then `tools`."""
    skipped = dialect.sender_policy_mode and sender_policy_mode == "never"
    found = find_in_chain(chain, sender, skipped)
    if found is None:
        return None
    tools, place, key = found
    member = ("tools",) if key is None else ("toolsBySender", key)
    return GroupAnswer(tools, (*place.path, *member), key)


def find_in_chain(chain: Chain[T], sender: Sender, skipped: bool = False) -> tuple[T, Place[T], str | None] | None:
    """Return the block that answers, its place, and the key of the rule by sender; the short form of `answer_of`.

    Args:
        skipped: rules by sender are not asked.
    """
    for place in chain:
        entry = place.entry
        if entry is None:
            chat = place.of_sender(sender)
            found_in = None if chat is None else find_in_chain((chat,), sender, skipped)
            if found_in is not None:
                return found_in
            continue
        if entry.senders is not None and place.senders and not skipped:
            found = entry.senders.find(sender if place.phones else replace(sender, e164=None))
            if found is not None:
                return found[1], place, found[0]
        if entry.tools is not None:
            return entry.tools, place, None
    return None


def places(groups: GroupMap[T] | None, *entries: GroupEntry[T] | None) -> Chain[T]:
    """Return entries of one map as places; what is None is left out."""
    if groups is None:
        return ()
    return tuple(Place(entry, (*groups.path, entry.key)) for entry in entries if entry is not None)


def direct_chain(groups: GroupMap[T] | None, peer: str | None) -> Chain[T]:
    """Return the entry of a direct chat, else the one for `*`; an entry takes nothing over from that one.

    Args:
        peer: None where the sender is the peer.
    """
    if not groups:
        return ()
    if peer is None:
        chats = {key: _chat(groups, entry) for key, entry in groups.entries.items()}
        return (Place(None, groups.path, phones=False, peers=chats),)
    entry = groups.get(peer) or groups.get(ANY_GROUP)
    return () if entry is None else (_chat(groups, entry),)


def _chat(groups: GroupMap[T], entry: GroupEntry[T]) -> Place[T]:
    return Place(entry, (*groups.path, entry.key), phones=False)


def plain_chain(dialect: Dialect, channel: ChannelGroups[T], request: GroupRequest) -> Chain[T]:
    """Look a conversation up in a channel's plain map of groups: its entry, then `*`."""
    groups = _plain_groups(dialect, channel, request.account_id)
    if groups is None:
        return ()
    return places(groups, _entry(dialect, groups, request), groups.get(ANY_GROUP))


def _plain_groups(dialect: Dialect, channel: ChannelGroups[T], account_id: str | None) -> GroupMap[T] | None:
    own = channel.account(account_id).get(GROUPS)
    if own or (own is not None and (dialect.empty_account_groups_count or len(channel.accounts) > 1)):
        return own
    return channel.maps.get(GROUPS)


def _entry(dialect: Dialect, groups: GroupMap[T], request: GroupRequest) -> GroupEntry[T] | None:
    ids = request.group_ids if dialect.group_candidates else request.group_ids[:1]
    for group_id in (trim(each or "") for each in ids):
        entry = groups.get(group_id) if group_id else None
        if entry is None and group_id and request.case_ignored:
            entry = groups.get_folded(group_id, is_trimmed=dialect.group_keys_trimmed)
        if entry is not None:
            return entry
    return None


def read_channel(dialect: Dialect, block: object, read: Callable[[Any], T | None]) -> ChannelGroups[T]:
    """Read one channel of an `openclaw.json`.

    Args:
        read: makes an answer of a `tools` object, None of what is none.
    """
    names = (GROUPS, DIRECT, "guilds", "channels", "teams", "rooms")

    def entries(value: Mapping[str, Any], path: tuple[str, ...]) -> GroupMap[T]:
        known = {key: each for key, each in value.items() if isinstance(each, Mapping)}
        return GroupMap((entry(key, each, (*path, key)) for key, each in known.items()), path)

    def entry(key: str, value: Mapping[str, Any], path: tuple[str, ...]) -> GroupEntry[T]:
        rules, nested, slug = value.get("toolsBySender"), value.get("channels"), value.get("slug")
        return GroupEntry(
            key,
            read(value.get("tools")),
            compile_senders(dialect, ((rule, read(policy)) for rule, policy in rules.items()))
            if isinstance(rules, Mapping)
            else None,
            slug if isinstance(slug, str) else None,
            entries(nested, (*path, "channels")) if isinstance(nested, Mapping) else None,
        )

    def maps(value: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, GroupMap[T]]:
        return {name: entries(value[name], (*path, name)) for name in names if isinstance(value.get(name), Mapping)}

    block = block if isinstance(block, Mapping) else {}
    accounts = block.get("accounts")
    return ChannelGroups(
        maps(block, ()),
        {key: maps(each, ("accounts", key)) if isinstance(each, Mapping) else {} for key, each in accounts.items()}
        if isinstance(accounts, Mapping)
        else {},
    )
