"""What a value of a document may be: each shape says yes, or names the mistake with its path."""

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.policies.document.findings import Findings, Path

TYPE_NAMES = {
    dict: gettext_noop("an object"),
    list: gettext_noop("a list"),
    str: gettext_noop("a text"),
    bool: gettext_noop("a flag"),
    int: gettext_noop("a number"),
    float: gettext_noop("a number"),
}
NAME_LENGTH = 512

Shape = Callable[[Any, Path, Findings], bool]
"""Checks one value; False when a mistake was reported."""


def kind_of(value: Any) -> str:
    return "null" if value is None else _(TYPE_NAMES[type(value)])


def suggestion(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known word that was probably meant, or an empty text."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return close[0] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    close = suggestion(word, known)
    return _(", did you mean `%(close)s`?") % {"close": close} if close else ""


def _every(checked: list[bool]) -> bool:
    """Take a list, not a generator: each item has to be checked, for all mistakes are named."""
    return all(checked)


def wrong_type(value: Any, wanted: str, path: Path, findings: Findings) -> bool:
    findings.error(
        path, "wrong_type", _("must be %(wanted)s, not %(kind)s") % {"wanted": wanted, "kind": kind_of(value)}
    )
    return False


def text(limit: int = NAME_LENGTH) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, str):
            return wrong_type(value, _("a text"), path, findings)
        if len(value) > limit:
            findings.error(path, "too_long", _("is longer than %(limit)s characters") % {"limit": limit})
            return False
        return True

    return check


def flag(value: Any, path: Path, findings: Findings) -> bool:
    return isinstance(value, bool) or wrong_type(value, _("true or false"), path, findings)


def whole(lowest: int, highest: int) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, _("a whole number"), path, findings)
        if not lowest <= value <= highest:
            findings.error(
                path,
                "out_of_range",
                _("must lie between %(lowest)s and %(highest)s, not `%(value)s`")
                % {"lowest": lowest, "highest": highest, "value": value},
            )
            return False
        return True

    return check


def word(*words: str) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, str):
            return wrong_type(value, _("a text"), path, findings)
        if value not in words:
            message = _("`%(value)s` is none of %(shown)s%(hint)s") % {
                "value": value,
                "shown": ", ".join(words),
                "hint": did_you_mean(value, words),
            }
            findings.error(path, "unknown_word", message)
            return False
        return True

    return check


def names(value: Any, path: Path, findings: Findings) -> bool:
    """A list of texts."""
    if not isinstance(value, list):
        return wrong_type(value, _("a list of names"), path, findings)
    one = text()
    return _every([one(item, (*path, index), findings) for index, item in enumerate(value)])


def senders(value: Any, path: Path, findings: Findings) -> bool:
    """A list of texts or whole numbers, as channels write their senders."""
    if not isinstance(value, list):
        return wrong_type(value, _("a list of senders"), path, findings)
    good = True
    for index, item in enumerate(value):
        if isinstance(item, bool) or not isinstance(item, str | int):
            good = wrong_type(item, _("a text or a whole number"), (*path, index), findings)
    return good


def mapping(value: Any, path: Path, findings: Findings) -> bool:
    return isinstance(value, dict) or wrong_type(value, _("an object"), path, findings)


def mapping_of(shape: Shape) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, dict):
            return wrong_type(value, _("an object"), path, findings)
        return _every([shape(item, (*path, key), findings) for key, item in value.items()])

    return check


def only_keys(value: dict[str, Any], known: Iterable[str], path: Path, findings: Findings) -> None:
    """Name each key that the place does not know: a misspelt `deny` must not pass for no `deny`."""
    known = tuple(known)
    for key in value:
        if key not in known:
            message = _("the key `%(key)s` is not known here%(hint)s") % {"key": key, "hint": did_you_mean(key, known)}
            findings.error((*path, key), "unknown_key", message)


def object_with(**members: Shape) -> Shape:
    """An object that has no other members than these."""

    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, dict):
            return wrong_type(value, _("an object"), path, findings)
        only_keys(value, members, path, findings)
        known = [key for key in value if key in members]
        return _every([members[key](value[key], (*path, key), findings) for key in known])

    return check
