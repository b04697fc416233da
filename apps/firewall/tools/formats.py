"""Formats of texts: those of JSON Schema that we read in our own way, ours, and those that an installation adds."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from threading import Lock
from types import MappingProxyType
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.paths import PathRefusedError, real_directory, real_file

Check = Callable[[str], bool]


class FormatTakenError(FirewallError):
    """A format of this name exists."""

    code = "format_taken"


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Args:
        check: says whether a text has it; may not change anything, and must end soon.
        example: a text that has it, for messages.
        meaning: what a text must be to have it; for messages, empty where the name says it.
    """

    check: Check
    example: str = ""
    meaning: str = ""


_FOLDERS: ContextVar[tuple[str, ...] | None] = ContextVar("folders", default=None)


@contextmanager
def paths_within(folders: tuple[str, ...]) -> Iterator[None]:
    """Let formats of paths be checked against these folders; without any, every path is refused.

    Where nothing says which folders are allowed, as in a check of an example, a path is any text.
    """
    token = _FOLDERS.set(folders)
    try:
        yield
    finally:
        _FOLDERS.reset(token)


def allowed_folders() -> tuple[str, ...]:
    """Give the folders of `paths_within`."""
    return _FOLDERS.get() or ()


_PHONE: Final = re.compile(r"(?=(?:[^0-9]*[0-9]){7,15}[^0-9]*$)\+?[0-9(][0-9 ().-]{5,28}[0-9]", re.ASCII)
_TIME: Final = re.compile(
    r"([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?"
)
_CARD: Final = re.compile(r"[1-9][0-9]{16}[0-9Xx]", re.ASCII)
_CARD_WEIGHTS: Final = tuple(2**power % 11 for power in range(17, 0, -1))
_CARD_DIGITS: Final = "10X98765432"
_PROVINCES: Final = (range(11, 16), range(21, 24), range(31, 38), range(41, 47), range(50, 55), range(61, 66))
_OTHER_REGIONS: Final = (71, 81, 82, 83)


def is_phone_number(text: str) -> bool:
    """Say whether a text is a telephone number: 7 to 15 digits, with `+` and the usual separators. Source: E.164."""
    return _PHONE.fullmatch(text) is not None and text.count("(") == text.count(")")


def is_time(text: str) -> bool:
    """Say whether a text is a time of day, with or without its offset. Source: RFC 3339, full-time and partial-time."""
    return _TIME.fullmatch(text) is not None


def is_id_card_cn(text: str) -> bool:
    """Say whether a text is a Chinese identity number: province, date of birth and check digit. Source: GB 11643."""
    if not _CARD.fullmatch(text) or not _is_region(int(text[:2])):
        return False
    try:
        date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(text, _CARD_WEIGHTS, strict=False))
    return _CARD_DIGITS[total % 11] == text[17].upper()


def _is_region(code: int) -> bool:
    return code in _OTHER_REGIONS or any(code in codes for codes in _PROVINCES)


def _leads(find: Callable[[str, tuple[str, ...]], str]) -> Check:
    def check(text: str) -> bool:
        folders = _FOLDERS.get()
        if folders is None:
            return "\0" not in text
        try:
            find(text, folders)
        except PathRefusedError:
            return False
        return True

    return check


PATH_FORMATS: Final = MappingProxyType({"file-path": real_file, "directory-path": real_directory})
"""Format -> what gives the real path of a text that has it, or raises."""

_OWN: Final = {
    "time": Format(is_time, "09:30:00"),
    "phone-number": Format(is_phone_number, "+8613812345678"),
    "id-card-cn": Format(is_id_card_cn, meaning="a Chinese identity number of 18 characters with a right check digit"),
    "file-path": Format(_leads(real_file), meaning="the path of a readable file inside the allowed folders"),
    "directory-path": Format(_leads(real_directory), meaning="the path of a folder inside the allowed folders"),
}
_EXAMPLES: Final = {
    "date-time": "2026-01-31T09:30:00Z",
    "date": "2026-01-31",
    "email": "name@example.com",
    "uri": "https://example.com/page",
    "uri-reference": "/page?part=1",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
    "regex": "^[a-z]+$",
}


STANDARD: Final = frozenset({
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri",
    "uri-reference", "iri", "iri-reference", "uri-template", "uuid", "json-pointer", "relative-json-pointer",
    "regex"
})  # fmt: skip
"""Those of JSON Schema 2020-12. Source: its section 7.3."""

UNCHECKED: Final = frozenset({
    "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "float", "double", "decimal",
    "decimal128", "double-int", "sf-integer", "byte", "binary", "base64url", "password", "char", "html",
    "commonmark", "media-range", "http-date"
})  # fmt: skip
"""Names of OpenAPI that say how a value is stored or shown: they are known, and no text breaks them."""


class FormatRegistry:
    """The formats that the library does not know, by name; `version` grows with each change."""

    def __init__(self) -> None:
        self.version = 0
        self._formats = dict(_OWN)
        self._lock = Lock()

    def register(self, name: str, check: Check, *, example: str = "") -> None:
        """Add a format of one's own; it counts in every check from then on.

        Raises:
            FormatTakenError: the name is one of ours, of JSON Schema, or already added.
        """
        with self._lock:
            if self.knows(name):
                raise FormatTakenError(f"a format `{name}` exists")
            self._formats[name] = Format(check, example)
            self.version += 1

    def unregister(self, name: str) -> None:
        """Take away a format that was added; one that is not there is no error."""
        with self._lock:
            if name not in _OWN and self._formats.pop(name, None) is not None:
                self.version += 1

    def knows(self, name: str) -> bool:
        """Say whether a format is one of JSON Schema, one of OpenAPI's words, ours, or added."""
        return name in STANDARD or name in UNCHECKED or name in self._formats

    def checks(self) -> dict[str, Check]:
        """Give the checks by name."""
        with self._lock:
            return {name: each.check for name, each in self._formats.items()}

    def meaning(self, name: str) -> str:
        """Say what a text must be to have a format, for a message."""
        known = self._formats.get(name)
        if known is not None and known.meaning:
            return known.meaning
        example = _EXAMPLES.get(name, "") if known is None else known.example
        article = "an" if name[0] in "aeio" else "a"
        return f"{article} {name} such as `{example}`" if example else f"{article} {name}"


FORMATS: Final = FormatRegistry()
"""The formats of this process."""
