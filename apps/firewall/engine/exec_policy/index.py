"""Many patterns, looked up at once.

A pattern without `*` or `?` is found by its text; the others by the folder in which their first mark stands, so that
ten thousand of them cost a look-up for each folder of a path.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from apps.firewall.engine.exec_policy.patterns import glob_expression
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.names import trim

ANY: Final = "*"
_MARK: Final = re.compile(r"[*?]")
_PATH_MARKS: Final = frozenset("/\\~")
_KEPT: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowEntry:
    """One entry of an allowlist, or a standing grant.

    Args:
        pattern: glob over the path of the program, or a bare name.
        arg_pattern: regular expression searched in the arguments joined by blanks; None for any arguments.
        argv: exactly these words, when a grant was for one command only.
        source: who added it; of `allow-always`, only what is bound to a folder or a line counts.
    """

    pattern: str
    arg_pattern: str | None = None
    argv: tuple[str, ...] | None = None
    source: str = ""


@dataclass(slots=True)
class _Globs:
    """Patterns of one kind: those of paths, or those of names."""

    literal: dict[str, list[int]] = field(default_factory=dict)
    folders: dict[str, list[tuple[str, str, str, int]]] = field(default_factory=dict)


class Index:
    """The entries of one list, ready to be asked."""

    def __init__(self, entries: Iterable[AllowEntry], *, home: str, tables: Tables) -> None:
        self.entries = tuple(entries)
        self.any: list[int] = []
        self._ignores_case = not tables.matches_real_path
        self._paths, self._names = _Globs(), _Globs()
        for number, entry in enumerate(self.entries):
            pattern = trim(entry.pattern)
            if pattern == ANY:
                self.any.append(number)
            elif _PATH_MARKS.isdisjoint(pattern):
                if pattern and tables.matches_real_path:
                    self._add(self._names, pattern, number)
            else:
                is_home = pattern == "~" or pattern.startswith("~/")
                self._add(self._paths, f"{home.rstrip('/')}{pattern[1:]}" if is_home else pattern, number)

    def _add(self, globs: _Globs, pattern: str, number: int) -> None:
        text = pattern.lower() if self._ignores_case else pattern
        mark = _MARK.search(text)
        if mark is None:
            globs.literal.setdefault(text, []).append(number)
            return
        prefix = text[: mark.start()]
        ending = _MARK.split(text)[-1]
        globs.folders.setdefault(prefix[: prefix.rfind("/") + 1], []).append((prefix, ending, text, number))

    def of_path(self, path: str) -> list[int]:
        """Return the numbers of the entries whose pattern fits a path, in order."""
        return sorted(self._fitting(self._paths, path))

    def of_name(self, name: str) -> list[int]:
        """Return the numbers of the entries whose pattern is one of names and fits, in order."""
        return sorted(self._fitting(self._names, name))

    def _fitting(self, globs: _Globs, text: str) -> Iterator[int]:
        text = text.lower() if self._ignores_case else text
        yield from globs.literal.get(text, ())
        for folder in _folders(text):
            for prefix, ending, pattern, number in globs.folders.get(folder, ()):
                if text.startswith(prefix) and text.endswith(ending) and self._fits(pattern, text):
                    yield number

    def _fits(self, pattern: str, text: str) -> bool:
        expression = glob_expression(pattern, ignore_case=self._ignores_case, mark_crosses_folders=self._ignores_case)
        return expression.fullmatch(text) is not None


def _folders(path: str) -> Iterator[str]:
    yield ""
    at = path.find("/")
    while at >= 0:
        yield path[: at + 1]
        at = path.find("/", at + 1)


_indexes: dict[tuple[int, str, str], tuple[tuple[AllowEntry, ...], Index]] = {}


def index_of(entries: tuple[AllowEntry, ...], *, home: str, tables: Tables) -> Index:
    """Return the index of a list; the same tuple is indexed once."""
    key = (id(entries), home, tables.release)
    kept = _indexes.get(key)
    if kept is not None and kept[0] is entries:
        return kept[1]
    made = Index(entries, home=home, tables=tables)
    if len(_indexes) >= _KEPT:
        _indexes.clear()
    _indexes[key] = (entries, made)
    return made
