"""Params whose names are nobody's: which one of the tool's own may be meant, or was meant by what was sent instead."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.mistakes import Problem, path_steps
from apps.firewall.tools.near import did_you_mean, near
from apps.firewall.tools.schema_walk import forms, items, properties, resolved

HINTS_LIMIT: Final = 20
"""Names of one call that are compared with others."""
SCHEMAS_LIMIT: Final = 64
"""Schemas of one place that are looked at."""


class Spelling:
    """The names that one call may send and those that it sent, place by place.

    Args:
        sent: as the model wrote it.
        hidden: params of the root that models are not shown.
    """

    def __init__(self, schema: JsonObject, sent: Mapping[str, Any], *, hidden: Iterable[str] = ()) -> None:
        self._schema = schema
        self._sent = sent
        self._hidden = frozenset(hidden)
        self._left = HINTS_LIMIT

    def meant(self, place: Sequence[str | int]) -> str:
        """Return what is added to a message about an unknown name: the known one that may be meant."""
        if not self._takes(place):
            return ""
        sent = self._sent_beside(place)
        return did_you_mean(str(place[-1]), (name for name in self._known_beside(place) if name not in sent))

    def hinted(self, problems: Iterable[Problem], *, told: Iterable[Problem] = ()) -> Iterator[Problem]:
        """Add to mistakes what may have been meant.

        Args:
            told: what is said elsewhere of unknown names.
        """
        every = list(problems)
        unknown = {each["path"] for each in (*every, *told) if each["code"] == "unknown_field"}
        for problem in every:
            hint = ""
            if problem["code"] == "unknown_field":
                hint = self.meant(path_steps(problem["path"]))
            elif problem["code"] == "required_field_missing":
                hint = self._instead(path_steps(problem["path"]), is_told=bool(unknown))
            yield {**problem, "message": problem["message"] + hint} if hint else problem

    def _instead(self, place: Sequence[str | int], *, is_told: bool) -> str:
        """Name what was sent in place of a missing name, where nothing else says that it is unknown."""
        if is_told or not self._takes(place):
            return ""
        known = set(self._known_beside(place))
        found = near(str(place[-1]), (name for name in self._sent_beside(place) if name not in known))
        return f"; did you mean it by `{found}`?" if found else ""

    def _takes(self, place: Sequence[str | int]) -> bool:
        self._left -= 1
        return self._left >= 0 and bool(place) and isinstance(place[-1], str)

    def _known_beside(self, place: Sequence[str | int]) -> list[str]:
        hidden = self._hidden if len(place) == 1 else frozenset[str]()
        return [name for name in names_at(self._schema, place[:-1]) if name not in hidden]

    def _sent_beside(self, place: Sequence[str | int]) -> Mapping[str, Any]:
        value: Any = self._sent
        for step in place[:-1]:
            if isinstance(step, str) and isinstance(value, Mapping):
                value = value.get(step)
            elif isinstance(step, int) and isinstance(value, list) and step < len(value):
                value = value[step]
            else:
                return {}
        return value if isinstance(value, Mapping) else {}


def names_at(schema: JsonObject, place: Sequence[str | int]) -> list[str]:
    """Name the members that a schema knows at a place, whichever of its forms they are of."""
    here: list[Mapping[str, Any]] = _together(schema, [schema])
    for step in place:
        below = [each for part in here for each in _below(part, step)]
        here = _together(schema, below)
    return list(dict.fromkeys(name for part in here for name in properties(part)))


def _below(part: Mapping[str, Any], step: str | int) -> Iterator[Any]:
    if isinstance(step, int):
        yield from items(part)
    elif step in properties(part):
        yield properties(part)[step]
    else:
        yield part.get("additionalProperties")


def _together(root: JsonObject, schemas: Iterable[Any]) -> list[Mapping[str, Any]]:
    """Give schemas with all that holds with them or may: references, parts, forms."""
    found: list[Mapping[str, Any]] = []
    waiting = list(schemas)
    while waiting and len(found) < SCHEMAS_LIMIT:
        for part in resolved(root, waiting.pop(0)):
            found.append(part)
            waiting += forms(part)
            if len(found) >= SCHEMAS_LIMIT:
                break
    return found
