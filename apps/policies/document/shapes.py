"""What a value of a document may be: each shape says yes, or names the mistake with its path."""

import difflib
from collections.abc import Callable, Iterable
from typing import Any

from apps.policies.document.findings import Findings, Path

type_names = {dict: "an object", list: "a list", str: "a text", bool: "a flag", int: "a number", float: "a number"}
NAME_LENGTH = 512

Shape = Callable[[Any, Path, Findings], bool]
"""Checks one value; False when a mistake was reported."""


def kind_of(value: Any) -> str:
    return "null" if value is None else type_names[type(value)]


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the known word that was probably meant, or an empty text."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    close = suggestion(word, known)
    return f", did you mean `{close}`?" if close else ""


def _every(checked: list[bool]) -> bool:
    """Take a list, not a generator: each item has to be checked, for all mistakes are named."""
    return all(checked)


def wrong_type(value: Any, wanted: str, path: Path, findings: Findings) -> bool:
    findings.error(path, "wrong_type", f"must be {wanted}, not {kind_of(value)}")
    return False


def text(limit: int = NAME_LENGTH) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, str):
            return wrong_type(value, "a text", path, findings)
        if len(value) > limit:
            findings.error(path, "too_long", f"is longer than {limit} characters")
            return False
        return True

    return check


def flag(value: Any, path: Path, findings: Findings) -> bool:
    return isinstance(value, bool) or wrong_type(value, "true or false", path, findings)


def whole(lowest: int, highest: int) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return wrong_type(value, "a whole number", path, findings)
        if not lowest <= value <= highest:
            findings.error(path, "out_of_range", f"must lie between {lowest} and {highest}, not `{value}`")
            return False
        return True

    return check


def word(*words: str) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, str):
            return wrong_type(value, "a text", path, findings)
        if value not in words:
            message = f"`{value}` is none of {', '.join(words)}{did_you_mean(value, words)}"
            findings.error(path, "unknown_word", message)
            return False
        return True

    return check


def names(value: Any, path: Path, findings: Findings) -> bool:
    """A list of texts."""
    if not isinstance(value, list):
        return wrong_type(value, "a list of names", path, findings)
    one = text()
    return _every([one(item, (*path, index), findings) for index, item in enumerate(value)])


def senders(value: Any, path: Path, findings: Findings) -> bool:
    """A list of texts or whole numbers, as channels write their senders."""
    if not isinstance(value, list):
        return wrong_type(value, "a list of senders", path, findings)
    good = True
    for index, item in enumerate(value):
        if isinstance(item, bool) or not isinstance(item, str | int):
            good = wrong_type(item, "a text or a whole number", (*path, index), findings)
    return good


def mapping(value: Any, path: Path, findings: Findings) -> bool:
    return isinstance(value, dict) or wrong_type(value, "an object", path, findings)


def mapping_of(shape: Shape) -> Shape:
    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, dict):
            return wrong_type(value, "an object", path, findings)
        return _every([shape(item, (*path, key), findings) for key, item in value.items()])

    return check


def only_keys(value: dict[str, Any], known: Iterable[str], path: Path, findings: Findings) -> None:
    """Name each key that the place does not know: a misspelt `deny` must not pass for no `deny`."""
    known = tuple(known)
    for key in value:
        if key not in known:
            message = f"the key `{key}` is not known here{did_you_mean(key, known)}"
            findings.error((*path, key), "unknown_key", message)


def object_with(**members: Shape) -> Shape:
    """An object that has no other members than these."""

    def check(value: Any, path: Path, findings: Findings) -> bool:
        if not isinstance(value, dict):
            return wrong_type(value, "an object", path, findings)
        only_keys(value, members, path, findings)
        known = [key for key in value if key in members]
        return _every([members[key](value[key], (*path, key), findings) for key in known])

    return check
