"""Names of tools in policy lists: normal form, groups, renames, patterns.

Text follows JavaScript's rules, because the recorded releases do.
Source: conformance README, `tool_names.jsonl` and "Names in a layer".
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.dialect import Dialect

ANYTHING: Final = "*"

# what JavaScript's trim removes: its white space and line ends, which are not quite Python's
BLANKS: Final = (
    "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_LINE_ENDS: Final = frozenset("\n\r\u2028\u2029")


def trim(text: str) -> str:
    """Cut white space off both ends, as JavaScript's `trim` does."""
    return text.strip(BLANKS)


def fold(text: str) -> str:
    """Trim and lower-case."""
    return text.strip(BLANKS).lower()


def normalize_name(dialect: Dialect, name: str) -> str:
    """Return the policy name: trimmed, lower-cased, aliases replaced."""
    folded = fold(name)
    return dialect.aliases.get(folded, folded)


def expand_groups(dialect: Dialect, names: Iterable[str]) -> list[str]:
    """Replace groups by their members; drop blanks and duplicates, keep the first occurrence."""
    expanded: dict[str, None] = {}
    for name in names:
        normal = normalize_name(dialect, name)
        if normal:
            expanded.update(dict.fromkeys(dialect.groups.get(normal, (normal,))))
    return list(expanded)


def follow_renames(dialect: Dialect, names: Iterable[str]) -> list[str]:
    """Bring a layer's entries to normal form and to today's names; drop blanks and duplicates.

    An old id becomes the new one, an id with a family brings it along. Whole entries only: patterns and members of
    groups stay. The layers do this before anything else; a policy by itself does not.
    """
    current: dict[str, None] = {}
    for name in names:
        normal = normalize_name(dialect, name)
        if not normal:
            continue
        renamed = dialect.renames.get(normal, normal)
        current[renamed] = None
        current.update(dict.fromkeys(dialect.families.get(renamed, ())))
    return list(current)


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern in which `*` stands for any run of characters on one line; the rest is literal."""

    text: str
    head: str
    middle: tuple[str, ...]
    tail: str

    def matches(self, name: str) -> bool:
        """Say whether the whole name fits, in time proportional to its length."""
        if not _LINE_ENDS.isdisjoint(name):
            return self._matches_across_lines(name)
        if len(name) < len(self.head) + len(self.tail):
            return False
        if not (name.startswith(self.head) and name.endswith(self.tail)):
            return False
        at, end = len(self.head), len(name) - len(self.tail)
        for piece in self.middle:
            found = name.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True

    def _matches_across_lines(self, name: str) -> bool:
        """Follow every reading at once: the first place of a piece is not always the right one here."""
        places = {len(self.head)} if name.startswith(self.head) else set()
        for piece in (*self.middle, self.tail):
            reached: set[int] = set()
            for place in places:
                for start in range(place, len(name) + 1):
                    if name.startswith(piece, start):
                        reached.add(start + len(piece))
                    if start < len(name) and name[start] in _LINE_ENDS:
                        break
            places = reached
        return len(name) in places


def read_glob(pattern: str) -> Glob:
    """Read a pattern that holds at least one `*`."""
    head, *middle, tail = pattern.split("*")
    return Glob(pattern, head, tuple(piece for piece in middle if piece), tail)


@dataclass(frozen=True, slots=True)
class NameMatcher:
    """A list of expanded entries, ready to be asked about normal names."""

    entries: tuple[str, ...]
    exact: frozenset[str]
    globs: tuple[Glob, ...]
    everything: bool

    def matches(self, normal: str) -> bool:
        """Say whether an entry admits a name in normal form."""
        return self.everything or normal in self.exact or any(glob.matches(normal) for glob in self.globs)


def compile_names(dialect: Dialect, names: Iterable[str]) -> NameMatcher:
    """Expand a list and prepare it for matching."""
    entries = tuple(expand_groups(dialect, names))
    return NameMatcher(
        entries=entries,
        exact=frozenset(entry for entry in entries if "*" not in entry),
        globs=tuple(read_glob(entry) for entry in entries if "*" in entry and entry != ANYTHING),
        everything=ANYTHING in entries,
    )
