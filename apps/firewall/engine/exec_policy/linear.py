"""A search by a regular expression whose cost grows with the text alone: every way to go on is followed at once.

For the patterns that `re` would try one way after the other. Reads the tree that the standard library parses.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from re import _parser  # type: ignore[attr-defined] # the parsed form has no public door
from typing import Any, Final

STATES_LIMIT: Final = 600
KEPT_STEPS: Final = 4096
_FLAGS: Final = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE
_CATEGORIES: Final = {
    "CATEGORY_DIGIT": re.compile(r"\d", re.ASCII),
    "CATEGORY_NOT_DIGIT": re.compile(r"\D", re.ASCII),
    "CATEGORY_SPACE": re.compile(r"\s", re.ASCII),
    "CATEGORY_NOT_SPACE": re.compile(r"\S", re.ASCII),
    "CATEGORY_WORD": re.compile(r"\w", re.ASCII),
    "CATEGORY_NOT_WORD": re.compile(r"\W", re.ASCII),
}
_BEGINS: Final = frozenset(["AT_BEGINNING", "AT_BEGINNING_STRING"])
_END: Final = "AT_END_STRING"


class UnsupportedError(ValueError):
    """The expression holds what cannot be searched in this way."""


@dataclass(slots=True)
class _State:
    """One state: it reads a character, stands at a place, or (`ways`) goes on without either."""

    reads: Callable[[str], bool] | None = None
    place: str = ""
    ways: list[int] = field(default_factory=list)


class LinearExpression:
    """A compiled expression.

    Raises:
        UnsupportedError: it has look-around, references, flags, word boundaries, or too many states.
    """

    def __init__(self, tree: Any) -> None:
        if tree.state.flags & _FLAGS:
            raise UnsupportedError("flags are not supported in a pattern of many repetitions")
        self._states: list[_State] = []
        self._end = self._state()
        self._start = self._sequence(list(tree), self._end)
        self._steps: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def search(self, text: str) -> bool:
        """Say whether the expression is found anywhere in a text."""
        last = len(text)
        current = self._closure((self._start,), begins=True, ends=not text)
        for at in range(last):
            if self._end in current:
                return True
            current = self._step(current, text[at], ends=at + 1 == last)
        return self._end in current

    def _step(self, current: frozenset[int], character: str, *, ends: bool) -> frozenset[int]:
        key = (current, character)
        known = None if ends else self._steps.get(key)
        if known is not None:
            return known
        reached = [
            way
            for number in current
            for reads in [self._states[number].reads]
            if reads is not None and reads(character)
            for way in self._states[number].ways
        ]
        after = self._closure((*reached, self._start), begins=False, ends=ends)
        if not ends:
            if len(self._steps) >= KEPT_STEPS:
                self._steps.clear()
            self._steps[key] = after
        return after

    def _closure(self, numbers: Iterable[int], *, begins: bool, ends: bool) -> frozenset[int]:
        found: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number in found:
                continue
            found.add(number)
            state = self._states[number]
            is_open = not state.place or (begins if state.place == "begin" else ends)
            if state.reads is None and is_open:
                waiting += state.ways
        return frozenset(found)

    # --- from the tree, backwards: each part is told what follows it ---

    def _state(self, **members: Any) -> int:
        if len(self._states) >= STATES_LIMIT:
            raise UnsupportedError("the pattern is too large for its many repetitions")
        self._states.append(_State(**members))
        return len(self._states) - 1

    def _sequence(self, parts: Iterable[Any], following: int) -> int:
        for operation, argument in reversed(list(parts)):
            following = self._part(str(operation), argument, following)
        return following

    def _part(self, name: str, argument: Any, following: int) -> int:
        if name == "AT" and str(argument) in _BEGINS | {_END}:
            return self._state(place="begin" if str(argument) in _BEGINS else "end", ways=[following])
        if name == "BRANCH":
            return self._state(ways=[self._sequence(branch, following) for branch in argument[1]])
        if name == "SUBPATTERN":
            _, added, removed, body = argument
            if (added | removed) & _FLAGS:
                raise UnsupportedError("flags are not supported in a pattern of many repetitions")
            return self._sequence(body, following)
        if name in {"MAX_REPEAT", "MIN_REPEAT"}:
            least, most, repeated = argument
            return self._repeat(least, most, repeated, following)
        return self._state(reads=_reader(name, argument), ways=[following])

    def _repeat(self, least: int, most: Any, body: Any, following: int) -> int:
        if most is _parser.MAXREPEAT:
            loop = self._state(ways=[following])
            self._states[loop].ways.append(self._sequence(body, loop))
            following = loop
        else:
            after = following
            for _ in range(int(most) - least):
                following = self._state(ways=[after, self._sequence(body, following)])
        for _ in range(least):
            following = self._sequence(body, following)
        return following


def _reader(name: str, argument: Any) -> Callable[[str], bool]:
    if name == "LITERAL":
        return lambda character: ord(character) == argument
    if name == "NOT_LITERAL":
        return lambda character: ord(character) != argument
    if name != "IN":
        raise UnsupportedError(f"{name.lower()} is not supported in a pattern of many repetitions")
    is_negated = str(argument[0][0]) == "NEGATE"
    tests = [_member(str(operation), value) for operation, value in argument[is_negated:]]
    return lambda character: any(test(character) for test in tests) != is_negated


def _member(name: str, value: Any) -> Callable[[str], bool]:
    if name == "LITERAL":
        return lambda character: ord(character) == value
    if name == "RANGE":
        return lambda character: bool(value[0] <= ord(character) <= value[1])
    if name == "CATEGORY" and str(value) in _CATEGORIES:
        category = _CATEGORIES[str(value)]
        return lambda character: category.match(character) is not None
    raise UnsupportedError(f"{name.lower()} is not supported in a pattern of many repetitions")
