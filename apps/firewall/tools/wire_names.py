"""Names of tools as a provider takes them, and back.

A name that a provider takes goes out as it is. Any other becomes its legal letters and a hash: `files.read` is
`files_read-h4r0c5m1k7a2e3`. A name that already looks like one of these is changed too, so that no tool can take
the place of another by its name.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

HASH_LENGTH: Final = 12
ALPHABET: Final = "0123456789abcdefghijklmnopqrstuv"
CHANGED: Final = re.compile(rf"-h[{ALPHABET}]{{{HASH_LENGTH}}}\Z")


@dataclass(frozen=True, slots=True)
class NameRule:
    """What a provider takes as a name.

    Args:
        letters: legal characters, as the inside of a regular expression's class.
        first: those legal at its beginning.
        limit: its longest name, in characters.
        words: the rule for people.
    """

    letters: str
    first: str
    limit: int
    words: str

    def takes(self, name: str) -> bool:
        """Say whether a provider takes this name."""
        return len(name) <= self.limit and re.fullmatch(f"[{self.first}][{self.letters}]*", name) is not None


def wire_name(name: str, rule: NameRule) -> str:
    """Return the name under which a provider is told of a tool; the same for the same name, whatever else there is."""
    if rule.takes(name) and not CHANGED.search(name):
        return name
    stem = re.sub(f"[^{rule.letters}]", "_", name)
    if not re.match(f"[{rule.first}]", stem):
        stem = f"_{stem}"
    return f"{stem[: rule.limit - HASH_LENGTH - 2]}-h{_hash(name)}"


def tool_behind(wire: str, names: tuple[str, ...], rule: NameRule) -> str:
    """Return the tool that a model means by a name; the name itself where no tool goes by it under another.

    Args:
        names: every tool there is.
    """
    return _changed(names, rule).get(wire, wire) if CHANGED.search(wire) else wire


@lru_cache(maxsize=64)
def _changed(names: tuple[str, ...], rule: NameRule) -> Mapping[str, str]:
    """Return the tools that go out under another name, by that name; one that would be two tools' is nobody's."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for name in names:
        wire = wire_name(name, rule)
        if wire in found:
            twice.add(wire)
        elif wire != name:
            found[wire] = name
    return {wire: name for wire, name in found.items() if wire not in twice}


def _hash(name: str) -> str:
    number = int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return "".join(ALPHABET[number >> 5 * place & 31] for place in range(HASH_LENGTH))
