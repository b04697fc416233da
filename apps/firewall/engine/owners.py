"""Who is an owner: `commands.ownerAllowFrom`, entries such as `telegram:1001`."""

from collections.abc import Iterable, Iterator

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold
from apps.firewall.engine.senders import Sender


class OwnerList:
    """The owners of an environment.

    An entry names a sender of one channel, or without a channel a sender of any. `*` proves nobody.
    """

    __slots__ = ("_dialect", "_entries")

    def __init__(self, dialect: Dialect, entries: Iterable[str]) -> None:
        self._dialect = dialect
        self._entries = frozenset(self._normal(entry) for entry in entries) - {"", "*"}

    def knows(self, channel: str | None, sender_id: str | None) -> bool | None:
        """Say whether a sender is an owner; None when the list is empty or the sender is not known."""
        if not self._entries or not channel or not sender_id:
            return None
        sender = fold(sender_id)
        where = fold(channel)
        where = self._dialect.channel_aliases.get(where, where)
        return f"{where}:{sender}" in self._entries or sender in self._entries

    def senders(self) -> Iterator[Sender]:
        """Return one sender for every entry."""
        for entry in sorted(self._entries):
            channel, colon, sender = entry.partition(":")
            yield Sender(id=sender, channel=channel) if colon else Sender(id=entry)

    def _normal(self, entry: str) -> str:
        folded = fold(entry)
        channel, colon, sender = folded.partition(":")
        if not colon:
            return folded
        return f"{self._dialect.channel_aliases.get(channel, channel)}:{sender.strip()}"
