"""Values of certain formats in the one form that tools get, after they were found valid."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any, Final

from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.formats import PATH_FORMATS, allowed_folders
from apps.firewall.tools.mending import copied, put, value_at
from apps.firewall.tools.schema_walk import mentions, properties
from apps.firewall.tools.validators import Validator

_FRACTION_TOO_FINE: Final = re.compile(r"\.[0-9]{7,}")
_ESCAPED: Final = re.compile(r"%[0-9a-fA-F]{2}")
_SCHEME_AND_HOST: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)(//(?:[^/?#@]*@)?[^/?#]*)?")


def date_time_text(text: str) -> str:
    """Write an instant as ISO 8601 with its offset as numbers; a leap second or nanoseconds stay as they are."""
    if _FRACTION_TOO_FINE.search(text):
        return text
    try:
        return datetime.fromisoformat(text.upper()).isoformat()
    except ValueError:
        return text


def date_text(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def uri_text(text: str) -> str:
    """Write scheme and host in small letters and escapes in capitals. Source: RFC 3986, 6.2.2.1."""
    found = _SCHEME_AND_HOST.match(text)
    if found is None:
        return text
    authority = found[2] or ""
    user, at, host = authority.rpartition("@")
    head = found[1].lower() + (f"{user}{at}{host.lower()}" if authority else "")
    return _ESCAPED.sub(lambda escape: escape[0].upper(), head + text[found.end() :])


def email_text(text: str) -> str:
    """Write the domain in small letters; what stands before it may be told apart by case."""
    local, at, domain = text.rpartition("@")
    return f"{local}{at}{domain.lower()}"


def _real(find: Callable[[str, tuple[str, ...]], str]) -> Callable[[str], str]:
    return lambda text: find(text, allowed_folders())


TRANSFORMERS: Final[dict[str, Callable[[str], str]]] = {
    "date-time": date_time_text,
    "date": date_text,
    "uri": uri_text,
    "email": email_text,
    **{name: _real(find) for name, find in PATH_FORMATS.items()},
}
"""Format -> what writes a text that has it in its one form. Each leaves its own output as it is."""


Places = Callable[[dict[str, Any]], Iterable[tuple[tuple[str | int, ...], str]]]
"""Names the values of valid params that have a format which tools get in one form: where, and which format."""


def places_of(schema: JsonObject, validator: Validator) -> Places | None:
    """Make what finds such values in the params of a schema; None where it has none."""
    count = mentions(schema, "format", frozenset(TRANSFORMERS))
    if not count:
        return None
    plain = tuple(
        ((name,), each["format"])
        for name, each in properties(schema).items()
        if isinstance(each, Mapping) and each.get("format") in TRANSFORMERS
    )
    return partial(_plain_places, plain) if len(plain) == count else partial(_formats, validator)


def _plain_places(
    plain: tuple[tuple[tuple[str], str], ...], params: dict[str, Any]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for place, name in plain:
        if isinstance(params.get(place[0]), str):
            yield place, name


def transform(validator: Validator, params: dict[str, Any], places: Places) -> dict[str, Any]:
    """Bring every value of a known format into its form; one whose form its schema does not accept stays as it is.

    Args:
        params: valid; stay as they are.
        places: of the validator's schema.
    Raises:
        PathRefusedError: a path changed what it leads to since it was found valid.
    """
    new = params
    for place, name in places(params):
        sent = value_at(params, place)
        made = TRANSFORMERS[name](sent)
        if made == sent:
            continue
        trial = copied(new)
        put(trial, place, made)
        if validator.is_valid(trial):
            new = trial
    return new


def _formats(validator: Validator, params: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for found in validator.evaluate(params).annotations():
        name = found["annotations"]
        if not isinstance(name, str) or name not in TRANSFORMERS or not found["schemaLocation"].endswith("/format"):
            continue
        place = _place(params, found["instanceLocation"])
        if place and isinstance(value_at(params, place), str):
            yield place, name


def _place(document: Any, location: str) -> tuple[str | int, ...]:
    """Read a JSON Pointer: whether a step is an index is for the document to say."""
    place: list[str | int] = []
    for escaped in location.split("/")[1:]:
        name = escaped.replace("~1", "/").replace("~0", "~")
        step: str | int = int(name) if isinstance(document, list) else name
        place.append(step)
        document = document[step]
    return tuple(place)
