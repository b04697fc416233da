"""What differs between two JSON documents, place by place."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

MISSING: Final = object()
LIMIT: Final = 500
KINDS: Final = [("added", "added"), ("removed", "removed"), ("changed", "changed")]


@dataclass(frozen=True, slots=True)
class Difference:
    """One place that is not as it was.

    Args:
        path: members joined by dots, indexes in brackets: `parameters.properties.path.type`.
        kind: `added`, `removed` or `changed`.
        before, after: JSON values; None where there was, or is, nothing.
    """

    path: str
    kind: str
    before: Any
    after: Any


def json_differences(before: Any, after: Any) -> tuple[Difference, ...]:
    """List what differs, in the order of the paths; the order of keys is no difference. At most 500."""
    found: list[Difference] = []
    for difference in _walk("", before, after):
        found.append(difference)
        if len(found) >= LIMIT:
            break
    return tuple(found)


def _walk(path: str, before: Any, after: Any) -> Iterator[Difference]:
    if before is MISSING:
        yield Difference(path, "added", None, after)
    elif after is MISSING:
        yield Difference(path, "removed", before, None)
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in sorted(before.keys() | after.keys()):
            place = f"{path}.{name}" if path else str(name)
            yield from _walk(place, before.get(name, MISSING), after.get(name, MISSING))
    elif _is_list_of_objects(before) and _is_list_of_objects(after):
        for at in range(max(len(before), len(after))):
            yield from _walk(f"{path}[{at}]", _at(before, at), _at(after, at))
    elif not is_same_json(before, after):
        yield Difference(path, "changed", before, after)


def is_same_json(one: Any, other: Any) -> bool:
    """Say whether two JSON values are the same text but for the order of keys: 1, 1.0 and true are three values."""
    return bool(one == other) and json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, Mapping) for each in value)


def _at(items: list[Any], at: int) -> Any:
    return items[at] if at < len(items) else MISSING
