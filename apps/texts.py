"""Texts that no door takes, because nothing can store them: NUL, and half of a surrogate pair."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.firewall.errors import FirewallError

_NUL_OR_HALF = re.compile("[\x00\ud800-\udfff]")


class TextRefusedError(FirewallError):
    """What came holds texts that cannot be stored. `details` names each by its place."""

    code = "text_invalid"

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__(_("a text holds a character that cannot be stored: %(place)s") % {"place": details[0]["path"]})
        self.details = details


def is_storable(text: str) -> bool:
    return (text.isascii() and "\x00" not in text) or _NUL_OR_HALF.search(text) is None


def check_value(value: Any) -> None:
    """Refuse a value that came as JSON and holds a text that cannot be stored.

    Raises:
        TextRefusedError.
    """
    details = [_detail(path, text) for path, text in _texts(value, "") if not is_storable(text)]
    if details:
        raise TextRefusedError(details)


def check_query(query: QueryDict) -> None:
    """Refuse a query or a form as `check_value` does a value.

    Raises:
        TextRefusedError.
    """
    details = [
        _detail(name, text) for name, texts in query.lists() for text in (name, *texts) if not is_storable(str(text))
    ]
    if details:
        raise TextRefusedError(details)


def read_json(text: str) -> Any:
    """Read JSON that a person typed.

    Raises:
        ValueError: it is none, says a number that is none, or holds a text that cannot be stored.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        check_value(value)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    except TextRefusedError as exc:
        raise ValueError(exc.message) from exc
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"`{name}` is no number of JSON")


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            place = f"{path}.{key}".removeprefix(".")
            yield place, key
            yield from _texts(inner, place)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{index}]")


def _detail(path: str, text: str) -> dict[str, str]:
    rule = _("must not hold NUL") if "\x00" in text else _("must not hold half of a surrogate pair")
    place = path.replace("\x00", "␀").encode("utf-8", "replace").decode()
    return {"path": place, "code": "text_invalid", "message": rule}
