"""Rules by sender: which policy of a `toolsBySender` block counts for the person who speaks.

Source: conformance README, "Rules of `by_sender`".
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold, trim

P = TypeVar("P")
T = TypeVar("T")
_INDEXES: Final = 2**32 - 1
_INDEX_DIGITS: Final = 10
Found = tuple[str, P]
"""The key of the rule that matched, as written, and its policy."""

KINDS: Final = ("channel", "id", "e164", "username", "name", "*")
"""Kinds of keys in the order in which `find` tries them."""


@dataclass(slots=True, unsafe_hash=True, init=False)
class Sender:
    """What is known of the person who speaks, and the channel they speak on.

    Names are kept as rules compare them: trimmed, in lower case, a user name without its `@`. Never changed once made;
    not frozen, because that alone would triple the cost of making one.
    """

    id: str | None = None
    username: str | None = None
    name: str | None = None
    e164: str | None = None
    channel: str | None = None

    def __init__(
        self,
        id: str | None = None,  # noqa: A002 - the field's name
        username: str | None = None,
        name: str | None = None,
        e164: str | None = None,
        channel: str | None = None,
    ) -> None:
        self.id = fold(id) if id else id
        self.username = fold(username).removeprefix("@") if username else username
        self.name = fold(name) if name else name
        self.e164 = fold(e164) if e164 else e164
        self.channel = channel


class Try(NamedTuple, Generic[P]):
    """One look-up of a sender.

    Attributes:
        kind: one of `KINDS`.
        value: what of the sender is looked for, as rules compare it; "" when the sender has no such name.
        found: the rule that has it.
    """

    kind: str
    value: str
    found: Found[P] | None


def in_read_order(items: Iterable[T], key_of: Callable[[T], str]) -> list[T]:
    """Order members of an object as OpenClaw reads them: keys that are whole numbers first, the others as written.

    Source: ECMAScript, OrdinaryOwnPropertyKeys.
    """
    found = list(items)
    numbers = [item for item in found if key_of(item).isdecimal() and _is_index(key_of(item))]
    if not numbers:
        return found
    others = (item for item in found if not _is_index(key_of(item)))
    return [*sorted(numbers, key=lambda item: int(key_of(item))), *others]


def _is_index(key: str) -> bool:
    is_number = key.isascii() and key.isdecimal() and len(key) <= _INDEX_DIGITS
    return is_number and str(int(key)) == key and int(key) < _INDEXES


class SenderIndex(Generic[P]):
    """The rules of one block as dictionaries: finding one costs the same with three rules as with 100,000."""

    __slots__ = ("_aliases", "_by_channel", "_by_e164", "_by_id", "_by_name", "_by_username", "everyone")

    def __init__(self, dialect: Dialect, rules: Iterable[tuple[str, P | None]]) -> None:
        self._aliases = dialect.channel_aliases
        self._by_id: dict[str, Found[P]] = {}
        self._by_e164: dict[str, Found[P]] = {}
        self._by_username: dict[str, Found[P]] = {}
        self._by_name: dict[str, Found[P]] = {}
        self._by_channel: dict[tuple[str, str], Found[P]] = {}
        self.everyone: Found[P] | None = None
        tables = {"id": self._by_id, "e164": self._by_e164, "username": self._by_username, "name": self._by_name}
        for key, policy in in_read_order(rules, lambda rule: rule[0]):
            if policy is None:
                continue
            folded = fold(key)
            if folded == "*":
                self.everyone = (key, policy)
                continue
            kind, colon, value = folded.partition(":")
            if colon and kind in tables:
                value = trim(value)
                table = tables[kind]
                if kind == "username":
                    value = value.removeprefix("@")
            elif colon and kind == "channel" and dialect.sender_channel_keys:
                channel, _, sender = value.partition(":")
                if trim(channel) and trim(sender):
                    place = (normalize_channel(dialect, channel), trim(sender))
                    self._by_channel.setdefault(place, (key, policy))
                continue
            else:
                value = folded.removeprefix("@")
                table = self._by_id
            if value:
                table.setdefault(value, (key, policy))

    def __len__(self) -> int:
        typed = len(self._by_id) + len(self._by_e164) + len(self._by_username) + len(self._by_name)
        return typed + len(self._by_channel) + (self.everyone is not None)

    def with_rule(self, key: str, policy: P) -> "SenderIndex[P]":
        """Return these rules with another policy in the one that stands under a key, as written."""
        other = copy(self)
        for name in ("_by_channel", "_by_id", "_by_e164", "_by_username", "_by_name"):
            table = getattr(self, name)
            mine = [found for found, rule in table.items() if rule[0] == key]
            if mine:
                setattr(other, name, {**table, **dict.fromkeys(mine, (key, policy))})
        if self.everyone is not None and self.everyone[0] == key:
            other.everyone = (key, policy)
        return other

    def rules(self) -> tuple[Found[P], ...]:
        """Return every rule that may count, once; those that another one stands before are not kept."""
        tables = (self._by_channel, self._by_id, self._by_e164, self._by_username, self._by_name)
        found = {key: policy for table in tables for key, policy in table.values()}
        if self.everyone is not None:
            found[self.everyone[0]] = self.everyone[1]
        return tuple(found.items())

    def keys(self) -> tuple[tuple[object, ...], ...]:
        """Return what the rules are found by: indexes with the same keys name the same senders."""
        tables = (self._by_channel, self._by_id, self._by_e164, self._by_username, self._by_name)
        return tuple(tuple(table) for table in tables)

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Return whom every rule but the fallback names, as senders are named: kind, value, and the one channel."""
        yield from (("id", fold(value), channel) for channel, value in self._by_channel)
        yield from (("id", fold(value), "") for value in self._by_id)
        yield from (("e164", fold(value), "") for value in self._by_e164)
        yield from (("username", fold(value).removeprefix("@"), "") for value in self._by_username)
        yield from (("name", fold(value), "") for value in self._by_name)

    def find(self, sender: Sender) -> Found[P] | None:
        """Return the rule that counts: by channel and id, id, phone number, user name, name, then `*`."""
        sender_id = sender.id
        if sender_id:
            found = self._find_in_channel(sender_id, sender.channel) if self._by_channel and sender.channel else None
            if found is None:
                found = self._by_id.get(sender_id)
            if found is None and sender_id[0] == "@":
                found = self._by_id.get(sender_id[1:])
            if found is not None:
                return found
        if sender.e164 and sender.e164 in self._by_e164:
            return self._by_e164[sender.e164]
        if sender.username and sender.username in self._by_username:
            return self._by_username[sender.username]
        if sender.name and sender.name in self._by_name:
            return self._by_name[sender.name]
        return self.everyone

    def tries(self, sender: Sender) -> Iterator[Try[P]]:
        """Return all that `find` looks up, in its order, also what comes behind the rule that counts."""
        sender_id = sender.id or ""
        in_channel = self._find_in_channel(sender_id, sender.channel) if sender_id and sender.channel else None
        by_id = self._by_id.get(sender_id) or self._by_id.get(sender_id.removeprefix("@")) if sender_id else None
        yield Try("channel", f"{fold(sender.channel)}:{sender_id}" if sender_id and sender.channel else "", in_channel)
        yield Try("id", sender_id, by_id)
        for kind, table, value in (
            ("e164", self._by_e164, sender.e164 or ""),
            ("username", self._by_username, sender.username or ""),
            ("name", self._by_name, sender.name or ""),
        ):
            yield Try(kind, value, table.get(value) if value else None)
        yield Try("*", "*", self.everyone)

    def rules_in_doubt(self, sender: Sender, unknown: Collection[str]) -> Iterator[tuple[str, P]]:
        """Return the rules that may count instead of the one that `find` gives, by the kind of name that is not known.

        Args:
            unknown: kinds of names of which nobody knows whether the sender has one; `channel` is where they speak.
        """
        sender_id = sender.id or ""
        if sender_id:
            if not sender.channel and "channel" in unknown:
                bare = (sender_id, sender_id.removeprefix("@"))
                yield from (("channel", rule[1]) for (_, each), rule in self._by_channel.items() if each in bare)
            if any(each.found for each in self.tries(sender) if each.kind in {"channel", "id"}):
                return
        elif "id" in unknown:
            yield from (("id", rule[1]) for table in (self._by_channel, self._by_id) for rule in table.values())
        for kind, table, value in (
            ("e164", self._by_e164, sender.e164),
            ("username", self._by_username, sender.username),
            ("name", self._by_name, sender.name),
        ):
            if value and value in table:
                return
            if not value and kind in unknown:
                yield from ((kind, rule[1]) for rule in table.values())

    def kinds(self) -> tuple[str, ...]:
        """Return the kinds of names by which the rules name somebody; a rule for one channel's id asks for both."""
        asked = {
            "channel": self._by_channel,
            "id": self._by_channel or self._by_id,
            "e164": self._by_e164,
            "username": self._by_username,
            "name": self._by_name,
        }
        return tuple(kind for kind, table in asked.items() if table)

    def _find_in_channel(self, sender_id: str, channel: str) -> Found[P] | None:
        place = fold(channel)
        place = self._aliases.get(place, place)
        return self._by_channel.get((place, sender_id)) or self._by_channel.get((place, sender_id.removeprefix("@")))


def compile_senders(dialect: Dialect, rules: Iterable[tuple[str, P | None]]) -> SenderIndex[P]:
    """Prepare the rules of one block, in document order; a rule without policy is passed over."""
    return SenderIndex(dialect, rules)


def normalize_channel(dialect: Dialect, channel: str) -> str:
    """Return a channel's own name for any of its spellings."""
    folded = fold(channel)
    return dialect.channel_aliases.get(folded, folded)
