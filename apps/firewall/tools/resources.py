"""Which resources a call touches: the values of the params that its tool names as paths, domains, databases."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connector.errors import UrlRefusedError
from apps.firewall.tools.connector.urls import read_target
from apps.firewall.tools.definition import Definition, JsonObject

VALUES_LIMIT: Final = 1000


class ResourceUnreadableError(FirewallError):
    """A param that names a resource holds none; `place` leads to it."""

    code = "resource_unreadable"

    def __init__(self, message: str, *, place: str) -> None:
        super().__init__(message)
        self.place = place


@dataclass(frozen=True, slots=True)
class Touched:
    """One resource of a call, in the spelling that grants are compared with, and the param that names it."""

    kind: str
    value: str
    place: str


def resource_places(definition: Definition) -> tuple[str, ...]:
    """Name the params that a definition calls resources."""
    return tuple(place for _kind, place in resources_named(definition))


def resources_of(definition: Definition, params: JsonObject) -> tuple[Touched, ...]:
    """Find the resources of a call; a param that is absent or null names none.

    Raises:
        ResourceUnreadableError: a param holds something else than a text or texts, or no domain where one must stand.
    """
    found: list[Touched] = []
    for kind, place in resources_named(definition):
        for value in _values(params, place.split("."), place):
            if len(found) >= VALUES_LIMIT:
                raise ResourceUnreadableError(f"it names more than {VALUES_LIMIT} resources", place=place)
            found.append(Touched(kind, _domain(value, place) if kind == "domain" else value, place))
    return tuple(found)


def resources_named(definition: Definition) -> Iterator[tuple[str, str]]:
    """Give each kind of resource with each place among the params that names one."""
    for kind, places in definition.resources.items():
        for place in (places,) if isinstance(places, str) else places:
            yield kind, place


def _values(value: Any, steps: list[str], place: str) -> Iterator[str]:
    """Walk to the values at a place, through lists as if they were not there."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _values(each, steps, place)
    elif value is None:
        return
    elif steps:
        if not isinstance(value, Mapping):
            raise ResourceUnreadableError(f"`{place}` must lead through objects", place=place)
        yield from _values(value.get(steps[0]), steps[1:], place)
    elif isinstance(value, str):
        yield value
    else:
        raise ResourceUnreadableError(f"`{place}` must be a text", place=place)


def _domain(value: str, place: str) -> str:
    """Read the domain of an address or of a bare name with or without a port, as strictly as the connector does."""
    _scheme, mark, rest = value.partition("://")
    try:
        return read_target(f"https://{rest if mark else value}").host
    except UrlRefusedError as exc:
        raise ResourceUnreadableError(f"`{place}` names no domain that can be read", place=place) from exc
