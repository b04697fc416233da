"""Which keys a release reads in `openclaw.json`, looked up step by step along the document.

The tables stand in `document_keys_…`, one module a release.
"""

from dataclasses import dataclass, field
from typing import Final

ANY: Final = "*"
ITEM: Final = "[]"
_CHANNELS: Final = "channels"
_ACCOUNTS: Final = "accounts"


@dataclass(slots=True, eq=False)
class KnownObject:
    """One object of the document.

    Attributes:
        keys: what is read there; None where any key is a name that people choose.
        is_open: whether other keys are taken, too.
        below: the objects behind its keys; `*` for any key, `[]` for the items of a list.
    """

    keys: frozenset[str] | None = None
    is_open: bool = False
    below: dict[str, "KnownObject"] = field(default_factory=dict)

    def at(self, step: str) -> "KnownObject | None":
        """Return what stands behind a key; None where nothing is known of it."""
        return self.below.get(step) or self.below.get(ANY)

    def knows(self, key: str) -> bool:
        """Say whether the release takes a key here."""
        return self.keys is None or self.is_open or key in self.keys


def read_table(text: str) -> KnownObject:
    """Read one table: a line an object, `path: key key`; a line that begins with blanks goes on."""
    root = KnownObject()
    for line in text.replace("\n  ", " ").splitlines():
        path, _, keys = line.partition(":")
        place = root
        for step in path.split(".") if path else ():
            place = place.below.setdefault(step, KnownObject())
        names = frozenset(keys.split())
        place.keys, place.is_open = names - {ANY}, ANY in names
    for channel in root.below[_CHANNELS].below.values():
        if _ACCOUNTS in (channel.keys or ()):
            channel.below[_ACCOUNTS] = KnownObject(below={ANY: channel})  # an account says what its channel says
    return root
