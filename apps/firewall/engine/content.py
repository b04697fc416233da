"""Content filters: expressions that are searched in what goes to a tool and in what comes back.

Every text of a value is looked at, names of members and numbers included. A filter masks what it finds, blocks the
call, or only warns.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from re import Pattern
from typing import Any, Final, Literal

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import NameMatcher, compile_names, normalize_name
from apps.firewall.errors import FirewallError
from apps.firewall.patterns import compile_pattern, counts, search_bounded

LAYER: Final = "content"
DEPTH_LIMIT: Final = 100
PLACES_NAMED: Final = 5

Side = Literal["params", "result"]
Where = Literal["params", "result", "both"]
FilterAction = Literal["mask", "block", "warn"]


class ContentUncheckedError(FirewallError):
    """A value that could not be searched to its end: nothing of it may go on."""

    code = "content_unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentFilter:
    """One filter.

    Args:
        pattern: an expression of the accepted subset (`apps.firewall.patterns`).
        tools: names, groups and patterns as in policy lists; none means every tool.
        message: what the caller is told; empty for a sentence of ours.
    """

    key: str
    pattern: str
    where: Where = "both"
    action: FilterAction = "mask"
    tools: tuple[str, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """What one filter found: how often, and the first places (`body.lines[2]`)."""

    filter: ContentFilter
    count: int
    places: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as audit keeps it."""
        return {
            "filter": self.filter.key,
            "action": self.filter.action,
            "count": self.count,
            "places": list(self.places),
        }


@dataclass(frozen=True, slots=True)
class Filtered:
    """A value with what masks took out of it, and every filter that found something."""

    value: Any
    hits: tuple[Hit, ...] = ()

    @property
    def block(self) -> Hit | None:
        """The first hit of a filter that blocks."""
        return next((hit for hit in self.hits if hit.filter.action == "block"), None)

    @property
    def is_masked(self) -> bool:
        return any(hit.filter.action == "mask" for hit in self.hits)


class ContentRules:
    """The filters of a snapshot, ready to search."""

    __slots__ = ("_chosen", "_dialect", "_filters", "_marks", "filters")

    def __init__(self, dialect: Dialect, filters: Iterable[ContentFilter]) -> None:
        self.filters = tuple(filters)
        self._dialect = dialect
        self._filters = [_Compiled(dialect, each) for each in self.filters]
        self._marks = tuple(mark_of(each) for each in self.filters if each.action != "warn")
        self._chosen: dict[tuple[str, Side], tuple[_Compiled, ...]] = {}

    def concerns(self, tool: str, side: Side) -> bool:
        """Say whether any filter looks at what goes to a tool, or at what comes back."""
        return bool(self._of(tool, side))

    def concerning(self, tool: str) -> tuple[ContentFilter, ...]:
        """Return the filters that look at a tool, on either side, in the order in which masks are applied."""
        sides: tuple[Side, Side] = ("params", "result")
        found = {id(each.filter) for side in sides for each in self._of(tool, side)}
        return tuple(each for each in self.filters if id(each) in found)

    def search(self, tool: str, side: Side, value: Any, *, limit_s: float) -> Filtered:
        """Search a value; those that block first, so that nothing is masked before they have looked.

        Masking what was masked changes nothing.

        Args:
            tool: its name in the snapshot.
            limit_s: for all filters together.
        Raises:
            ContentUncheckedError: the time was up, or the value is nested too deeply.
        """
        ends_at = time.monotonic() + limit_s
        hits: list[Hit] = []
        for each in self._of(tool, side):
            walk = _Walk(each, self._marks, ends_at, masks=each.filter.action == "mask")
            value = walk.value(value, "", DEPTH_LIMIT)
            if walk.places:
                first = tuple(dict.fromkeys(walk.places))[:PLACES_NAMED]
                hits.append(Hit(each.filter, walk.places.total(), first))
        return Filtered(value, tuple(hits))

    def covered(self, tool: str, side: Side, value: Any, *, limit_s: float) -> Any:
        """Mask also what filters block, for a record that must not hold it.

        Raises:
            ContentUncheckedError: as `search`.
        """
        ends_at = time.monotonic() + limit_s
        for each in self._of(tool, side):
            if each.filter.action != "warn":
                value = _Walk(each, self._marks, ends_at, masks=True).value(value, "", DEPTH_LIMIT)
        return value

    def _of(self, tool: str, side: Side) -> tuple["_Compiled", ...]:
        found = self._chosen.get((tool, side))
        if found is None:
            chosen = [each for each in self._filters if each.looks_at(tool, side)]
            chosen.sort(key=lambda each: _ORDER.index(each.filter.action))
            found = self._chosen[tool, side] = tuple(chosen)
        return found


_ORDER: Final[Sequence[FilterAction]] = ("block", "warn", "mask")


def mark_of(found_by: ContentFilter) -> str:
    """Return what stands where a filter masked something."""
    return f"[masked by {found_by.key}]"


def write_filter(written: ContentFilter) -> dict[str, Any]:
    """Return a filter as a snapshot holds it: with the members that say something."""
    members: dict[str, Any] = {
        "key": written.key,
        "pattern": written.pattern,
        "where": written.where,
        "action": written.action,
    }
    if written.tools:
        members["tools"] = list(written.tools)
    if written.message:
        members["message"] = written.message
    return members


def read_filter(members: Mapping[str, Any]) -> ContentFilter:
    """Read what `write_filter` wrote."""
    return ContentFilter(**{**members, "tools": tuple(members.get("tools", ()))})


class _Compiled:
    __slots__ = ("_dialect", "_names", "filter", "pattern")

    def __init__(self, dialect: Dialect, written: ContentFilter) -> None:
        self.filter = written
        self.pattern: Pattern[str] = compile_pattern(written.pattern)
        self._dialect = dialect
        self._names: NameMatcher | None = compile_names(dialect, written.tools) if written.tools else None

    def looks_at(self, tool: str, side: Side) -> bool:
        if self.filter.where not in (side, "both"):
            return False
        return self._names is None or self._names.matches(normalize_name(self._dialect, tool))


@dataclass(slots=True)
class _Walk:
    """One filter on its way through one value."""

    by: _Compiled
    marks: tuple[str, ...]
    ends_at: float
    masks: bool
    places: Counter[str] = field(default_factory=Counter)

    def value(self, value: Any, place: str, depth: int) -> Any:
        if depth <= 0:
            raise ContentUncheckedError("it is nested too deeply to be searched")
        if isinstance(value, str):
            return self._text(value, place)
        if isinstance(value, Mapping):
            return self._members(value, place, depth)
        if isinstance(value, list | tuple):
            found = [self.value(each, f"{place}[{index}]", depth - 1) for index, each in enumerate(value)]
            return found if self.masks else value
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = str(value)
            searched = self._text(text, place)
            return value if searched == text else searched
        return value

    def _members(self, value: Mapping[Any, Any], place: str, depth: int) -> Any:
        made: dict[str, Any] = {}
        for name, member in value.items():
            covered = self._covered(str(name), place)
            inner = f"{place}.{covered}" if place else covered  # a place is told, so it holds nothing that was found
            key = _free(covered, made) if covered != name else covered
            made[key] = self.value(member, inner, depth - 1)
        return made if self.masks else value

    def _text(self, text: str, place: str) -> str:
        covered = self._covered(text, place)
        return covered if self.masks else text

    def _covered(self, text: str, place: str) -> str:
        """Return a text with marks for what was found in it, and count that."""
        spans = [span for span in self._spans(text) if span[0] < span[1]]
        if not spans:
            return text
        self.places[place] += len(spans)
        mark, pieces, at = mark_of(self.by.filter), [], 0
        for start, end in spans:
            pieces += [text[at:start], mark]
            at = end
        return "".join((*pieces, text[at:]))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Find what matches; a match inside a mark of ours is none, so that masking again changes nothing."""
        left_s = self.ends_at - time.monotonic()
        if left_s <= 0:
            raise ContentUncheckedError("the search took too long")
        marked = list(_marked(text, self.marks)) if self.marks and "[masked by " in text else []
        for match in search_bounded(self.by.pattern, text, limit_s=left_s):
            if isinstance(match, int):
                raise ContentUncheckedError("the search took too long")
            if not counts(match):
                continue
            if not any(start <= match.start() and match.end() <= end for start, end in marked):
                yield match.start(), match.end()


def _marked(text: str, marks: Iterable[str]) -> Iterator[tuple[int, int]]:
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            yield at, at + len(mark)
            at = text.find(mark, at + len(mark))


def _free(key: str, taken: Mapping[str, Any]) -> str:
    """Give a masked name a number where another member has it already."""
    number, free = 2, key
    while free in taken:
        number, free = number + 1, f"{key} {number}"
    return free
