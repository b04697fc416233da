"""Who is an owner: `commands.ownerAllowFrom`, entries such as `telegram:1001`."""

from collections.abc import Iterable, Iterator
from typing import Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import fold
from apps.firewall.engine.senders import Sender

WEBCHAT: Final = "webchat"


class OwnerList:
    """The owners of an environment.

    An entry names a sender of one channel, or without a channel a sender of any: by id or by phone number. `*` proves
    nobody, and neither does a name.
    """

    __slots__ = ("_dialect", "_entries")

    def __init__(self, dialect: Dialect, entries: Iterable[str]) -> None:
        self._dialect = dialect
        self._entries = frozenset(self._normal(entry) for entry in entries) - {"", "*"}

    def knows(self, channel: str | None, sender: Sender) -> bool | None:
        """Say whether a sender is an owner. In a chat, a sender who is not listed is not, even if the list is empty.

        Returns:
            None where that is not known: there is no sender, the channel is not known, or it is web chat, where a
            person who signed in may be an owner by their rights.
        """
        if not channel or not (sender.id or sender.e164 or sender.username or sender.name):
            return None
        where = fold(channel)
        where = self._dialect.channel_aliases.get(where, where)
        ids = [each for each in (sender.id, sender.e164) if each]
        if any(each in self._entries or f"{where}:{each}" in self._entries for each in ids):
            return True
        return None if where == WEBCHAT else False

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
