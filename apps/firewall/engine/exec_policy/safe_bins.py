"""Programs that only read their input, when their arguments say so.

Source: conformance README, `exec_approval.jsonl`, "Safe bin arguments".
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.tables.shape import SafeBin
from apps.firewall.engine.exec_policy.wrappers import tool_name
from apps.firewall.engine.names import fold

_GLOB: Final = re.compile(r"[*?\[\]]")
_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_PATHS: Final = ("/", "./", "../", "~")


class _RefusedError(Exception):
    """The arguments do more than the profile admits."""


def read_profiles(profiles: Mapping[str, Any] | None, tables: Tables) -> dict[str, SafeBin]:
    """Lay configured profiles over the release's own; what is no profile admits no argument at all."""
    merged = dict(tables.safe_bin_profiles)
    for name, profile in (profiles or {}).items():
        merged[fold(name)] = _profile(profile if isinstance(profile, Mapping) else {})
    return merged


def _profile(profile: Mapping[str, Any]) -> SafeBin:
    def flags(member: str) -> frozenset[str]:
        value = profile.get(member)
        return (
            frozenset(each for each in value if isinstance(each, str))
            if isinstance(value, list | tuple)
            else frozenset()
        )

    least, most = profile.get("minPositional"), profile.get("maxPositional")
    return SafeBin(
        min_positional=least if isinstance(least, int) else 0,
        max_positional=most if isinstance(most, int) else (None if profile else 0),
        value_flags=flags("allowedValueFlags"),
        boolean_flags=flags("allowedBooleanFlags"),
        denied_flags=flags("deniedFlags"),
    )


def safe_bin_names(names: Iterable[str] | None, tables: Tables) -> frozenset[str]:
    """Read a list of safe bins; None is the release's own list. Some names are never taken."""
    listed = tables.default_safe_bins if names is None else names
    return frozenset(fold(name) for name in listed if fold(name)) - tables.never_safe_bins


def is_ever_safe(name: str, tables: Tables) -> bool:
    """Say whether arguments can make a program safe; one that runs what they hold never is."""
    return tool_name(name) not in tables.never_safe_bins


def is_trusted(path: str, folders: Iterable[str]) -> bool:
    """Say whether a file lies directly in one of the folders."""
    return bool(path) and posixpath.dirname(path) in {posixpath.normpath(folder) for folder in folders if folder}


def arguments_are_safe(arguments: Iterable[str], profile: SafeBin, tables: Tables) -> bool:
    """Say whether the arguments of a safe bin pass its profile."""
    try:
        positional = _Reading(profile, tables, tuple(arguments)).positional()
    except _RefusedError:
        return False
    most = profile.max_positional
    return profile.min_positional <= len(positional) and (most is None or len(positional) <= most)


class _Reading:
    """One pass over the arguments."""

    def __init__(self, profile: SafeBin, tables: Tables, arguments: tuple[str, ...]) -> None:
        self.profile, self.tables, self.arguments = profile, tables, arguments
        self.at = 0

    def positional(self) -> list[str]:
        found: list[str] = []
        only_positional = False
        while self.at < len(self.arguments):
            word = self.arguments[self.at]
            self.at += 1
            if not word or word == "-":
                continue
            if only_positional or not word.startswith("-"):
                found.append(self._plain(word))
            elif word == "--":
                only_positional = True
            elif word.startswith("--"):
                self._long(word)
            else:
                self._short(word)
        return found

    def _plain(self, value: str) -> str:
        is_path = value.startswith(_PATHS) or _DRIVE.match(value)
        if _GLOB.search(value) or is_path or (self.tables.only_listed_letters and "$" in value):
            raise _RefusedError
        return value

    def _filled(self, value: str) -> None:
        if not value:
            raise _RefusedError
        self._plain(value)

    def _value(self) -> None:
        if self.at >= len(self.arguments):
            raise _RefusedError
        self._filled(self.arguments[self.at])
        self.at += 1

    def _long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        known = self.profile.value_flags | self.profile.boolean_flags | self.profile.denied_flags
        candidates = [name] if name in known else [flag for flag in known if flag.startswith(name)]
        if len(candidates) != 1 or candidates[0] in self.profile.denied_flags:
            raise _RefusedError
        if candidates[0] in self.profile.value_flags:
            if equals:
                self._filled(value)
            else:
                self._value()
        elif equals:
            raise _RefusedError

    def _short(self, word: str) -> None:
        for place, letter in enumerate(word[1:], start=1):
            flag = f"-{letter}"
            if flag in self.profile.denied_flags:
                raise _RefusedError
            if flag in self.profile.value_flags:
                if word[place + 1 :]:
                    self._plain(word[place + 1 :])
                else:
                    self._value()
                return
            if self.tables.only_listed_letters and flag not in self.profile.boolean_flags:
                raise _RefusedError
        if not self.tables.only_listed_letters:
            raise _RefusedError
