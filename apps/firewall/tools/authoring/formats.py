"""Formats of an author's own: `@format_check` registers one, and so does a package with an entry point.

Checks run where authors' code runs, in a confined process, never in the server.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from types import ModuleType
from typing import Any, Final, TypeVar

from apps.firewall.tools.authoring.errors import AuthoringError
from apps.firewall.tools.formats import FORMATS

Check = TypeVar("Check", bound=Callable[[str], Any])

GROUP: Final = "openclaw.formats"
NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,63}")
MEANING_LETTERS: Final = 200
MODULES_LIMIT: Final = 5_000


@dataclass(frozen=True, slots=True)
class OwnFormat:
    """One format: `check` says whether a text has it, `meaning` what a text must be, `module` who registered it."""

    check: Callable[[str], Any]
    meaning: str
    module: str


_registered: dict[tuple[str, str], OwnFormat] = {}
"""Module and name -> what it registered."""


def format_check(name: str, *, example: str = "", meaning: str = "") -> Callable[[Check], Check]:
    """Make a function the check of a format that schemas name: `{"type": "string", "format": name}`.

    The function takes a text and says whether it has the format; it stays callable as before. It counts for the tools
    of its module, and of modules that import it.

    Args:
        name: lower-case letters, digits and hyphens; none that exists.
        example: a text that has the format, for messages.
        meaning: what a text must be to have it, for messages: `an IBAN of Germany`.
    Raises:
        AuthoringError: the name is none, or is one that everybody knows.
    """
    if not NAME.fullmatch(name):
        raise AuthoringError(f"`{name[:80]}` is no name of a format: use lower-case letters, digits and hyphens")
    if FORMATS.knows(name):
        raise AuthoringError(f"a format `{name}` exists: give yours another name")
    said = meaning or f"{'an' if name[0] in 'aeio' else 'a'} {name}"
    whole = f"{said} such as `{example}`" if example else said

    def register(check: Check) -> Check:
        module = getattr(check, "__module__", "")
        _registered[module, name] = OwnFormat(check, whole[:MEANING_LETTERS], module)
        return check

    return register


def own_formats(names: Iterable[str], module: ModuleType | None) -> dict[str, OwnFormat]:
    """Find formats by name: those that a module, or one that it imports, has registered, else those of packages.

    Raises:
        AuthoringError: two packages bring one of that name, or it cannot be loaded.
    """
    found: dict[str, OwnFormat] = {}
    near = _modules_of(module) if module is not None else ()
    for name in dict.fromkeys(names):
        own = next((_registered[each, name] for each in near if (each, name) in _registered), None)
        own = own or _of_packages(name)
        if own is not None:
            found[name] = own
    return found


def formats_here(names: Iterable[str]) -> dict[str, OwnFormat]:
    """Find formats by name that any module of this program, or a package, has registered.

    Raises:
        AuthoringError: as `own_formats`.
    """
    by_name = {name: own for (_module, name), own in _registered.items()}
    found = {name: by_name.get(name) or _of_packages(name) for name in names}
    return {name: own for name, own in found.items() if own is not None}


def packaged_formats() -> dict[str, list[metadata.EntryPoint]]:
    """Name the formats of installed packages; none of them is loaded."""
    found: dict[str, list[metadata.EntryPoint]] = {}
    for entry in metadata.entry_points(group=GROUP):
        if NAME.fullmatch(entry.name) and not FORMATS.knows(entry.name):
            found.setdefault(entry.name, []).append(entry)
    return found


def _of_packages(name: str) -> OwnFormat | None:
    entries = packaged_formats().get(name, [])
    if not entries:
        return None
    if len({entry.value for entry in entries}) > 1:
        raise AuthoringError(f"several installed packages bring a format `{name}`: keep one of them")
    check = entries[0].load()
    if not callable(check):
        raise AuthoringError(f"`{entries[0].value}` is no check of the format `{name}`")
    module = getattr(check, "__module__", "")
    return _registered.get((module, name)) or OwnFormat(check, "", module)


def _modules_of(module: ModuleType) -> list[str]:
    """Name a module and those that it imports, directly or not, the nearest first."""
    names, waiting = {module.__name__: None}, [module]
    while waiting and len(names) < MODULES_LIMIT:
        for value in list(_members(waiting.pop(0)).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if not isinstance(name, str) or name in names:
                continue
            imported = sys.modules.get(name)
            if imported is not None:
                names[name] = None
                waiting.append(imported)
    return list(names)


def _members(module: ModuleType) -> Mapping[str, Any]:
    return vars(module) if module.__name__ not in sys.stdlib_module_names else {}
