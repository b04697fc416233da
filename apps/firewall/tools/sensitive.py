"""Which params may be shown nowhere: those that a definition names, and those that its schema marks `sensitive`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from apps.firewall.redaction.names import is_secret_name
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.schema_walk import forms, items, mentions, other_members, properties, resolved

MARK: Final = "sensitive"
DEPTH_LIMIT: Final = 12
PARTS_LIMIT: Final = 5_000


def sensitive_places(definition: Definition) -> tuple[str, ...]:
    """Name the params that are masked everywhere but on their way to the tool.

    Returns:
        Names, and places such as `auth.pin` (without indexes), as the masker takes them.
    """
    if not mentions(definition.parameters, MARK):
        return definition.sensitive
    marked = _Marked(definition.parameters)
    marked.walk(definition.parameters, "", DEPTH_LIMIT)
    return tuple(dict.fromkeys((*definition.sensitive, *marked.places)))


class _Marked:
    """One walk through one schema."""

    def __init__(self, root: JsonObject) -> None:
        self.places: list[str] = []
        self._root = root
        self._left = PARTS_LIMIT
        self._seen: set[tuple[int, str]] = set()

    def walk(self, schema: Any, place: str, depth: int) -> None:
        for part in resolved(self._root, schema):
            self._left -= 1
            if (id(part), place) in self._seen:
                continue
            self._seen.add((id(part), place))
            if part.get(MARK) is True and place:
                self.places.append(place)
                return
            if depth <= 0 or self._left <= 0:
                # Too deep to tell: what lies beneath is masked if anything in it may be.
                if place and mentions(part, MARK):
                    self.places.append(place)
                return
            for inner, at in self._inner(part, place):
                self.walk(inner, at, depth - 1)

    def _inner(self, part: Mapping[str, Any], place: str) -> Iterator[tuple[Any, str]]:
        for name, member in properties(part).items():
            yield member, f"{place}.{name}" if place else name
        for item in items(part):
            yield item, place
        for form in forms(part):
            yield form, place
        if place and any(mentions(other, MARK) for other in other_members(part)):
            yield {MARK: True}, place  # members without a name of their own: all of the object is masked


def hider(places: Sequence[str]) -> Callable[[Sequence[str | int]], bool]:
    """Make what says whether the value at a path may be shown: it may not be, hold, or lie in a sensitive one."""
    hidden = [place.lower().split(".") for place in places]

    def hides(path: Sequence[str | int]) -> bool:
        names = [step.lower() for step in path if isinstance(step, str)]
        if any(is_secret_name(name) for name in names):
            return True
        return any(
            names[: len(place)] == place[: len(names)] or (len(place) == 1 and place[0] in names) for place in hidden
        )

    return hides


def sent_places(places: Sequence[str], params: Any) -> tuple[str, ...]:
    """Name what must be masked in params as they were sent: a text may hold what the schema wants as an object."""
    more = []
    for place in places:
        value, names = params, place.split(".")
        for index, name in enumerate(names[:-1]):
            value = value.get(name) if isinstance(value, Mapping) else None
            if isinstance(value, str):
                more.append(".".join(names[: index + 1]))
                break
    return tuple(dict.fromkeys((*places, *more)))
