"""Which agents, channels and tools there are, for names that people and programs write into rules.

Each room that knows some tells of them when it is ready (`subjects_supply`); nothing here imports upwards. A name that
nothing has is refused where it would do nothing, or the opposite of what was meant, without anybody noticing.
"""

import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import ANYTHING, read_glob, trim
from apps.firewall.engine.session_key import DEFAULT_AGENT
from apps.firewall.engine.subjects import SubjectKind, can_be, is_group, subject_name, subject_names

Supplier: TypeAlias = Callable[[str], Iterable[str]]
"""Gives names of one kind, of the environment with a slug; of all where it is empty."""
Witness: TypeAlias = Callable[[str, str], bool]
"""Says of an environment and a name whether anything of that name was ever seen there."""

CLOSE: Final = 0.6
MISSPELT: Final = 0.74
"""How alike an unknown name must be to one that there is to be taken for a slip: `mian` and `main` are."""
UNKNOWN: Final = "unknown_name"
NAMES_SHOWN: Final = 8
_suppliers: dict[SubjectKind, list[Supplier]] = defaultdict(list)
_witnesses: dict[SubjectKind, list[Witness]] = defaultdict(list)


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name as it was written, that nothing of its kind has.

    Args:
        close: the name of something that there is and that was probably meant; empty for none.
    """

    kind: SubjectKind
    name: str
    close: str

    @property
    def message(self) -> str:
        told = {
            "agent": _("there is no agent `%(name)s`"),
            "channel": _("there is no channel `%(name)s`"),
            "tool": _("there is no tool `%(name)s`"),
        }[self.kind] % {"name": self.name}
        return told + (_(", did you mean `%(close)s`?") % {"close": self.close} if self.close else "")


def subjects_supply(kind: SubjectKind, names: Supplier, *, witness: Witness | None = None) -> None:
    """Have a room tell which names there are, and of a single one whether it was ever seen."""
    if names not in _suppliers[kind]:
        _suppliers[kind].append(names)
    if witness is not None and witness not in _witnesses[kind]:
        _witnesses[kind].append(witness)


def subjects_known(dialect: Dialect, kind: SubjectKind, environment: str) -> list[str]:
    """List the names of a kind in the form in which calls carry them, by the alphabet."""
    supplied = (name for supplier in _suppliers[kind] for name in supplier(environment))
    known = {subject_name(dialect, kind, name) for name in supplied} | set(_always(dialect, kind))
    return sorted(known - {""})


def subjects_unknown(
    dialect: Dialect, kind: SubjectKind, names: Sequence[str], environment: str, *, patterns: bool = True
) -> list[UnknownName]:
    """Find the names that nothing has, each with the one that was probably meant.

    Args:
        patterns: `*` stands for any letters, and tools may be named by a group; else neither is a name.
    """
    if not names:
        return []
    known = subjects_known(dialect, kind, environment)
    return [
        UnknownName(kind, name, _close(dialect, kind, name, known))
        for name in names
        if not _is_known(dialect, kind, name, known, environment, patterns=patterns)
    ]


def subjects_misspelt(
    dialect: Dialect, kind: SubjectKind, names: Sequence[str], environment: str, *, patterns: bool = True
) -> list[UnknownName]:
    """Find the names that cannot be meant: nothing has them, and something that there is has nearly the same.

    A name that resembles none is let through: rules are written before an agent comes. One that differs in its digits
    alone is another one's. A group that does not exist, and what nothing can be called, are never meant.
    """
    unknown = subjects_unknown(dialect, kind, names, environment, patterns=patterns)
    return [each for each in unknown if _is_misspelt(dialect, each) or ("*" in each.name and not patterns)]


def subjects_refused(
    dialect: Dialect, environment: str, fields: Mapping[str, tuple[SubjectKind, Sequence[str]]]
) -> list[dict[str, str]]:
    """List the names in some fields that cannot be meant, as details of an error."""
    return [
        {"path": field, "code": UNKNOWN, "message": each.message}
        for field, (kind, names) in fields.items()
        for each in subjects_misspelt(dialect, kind, names, environment)
    ]


def subjects_remarked(
    dialect: Dialect, environment: str, fields: Mapping[str, tuple[SubjectKind, Sequence[str]]]
) -> list[dict[str, str]]:
    """List the names in some fields that nothing has so far: what they stand in does nothing until something does."""
    return [
        {"path": field, "code": UNKNOWN, "message": each.message}
        for field, (kind, names) in fields.items()
        for each in subjects_unknown(dialect, kind, names, environment)
    ]


def _is_misspelt(dialect: Dialect, unknown: UnknownName) -> bool:
    name = subject_name(dialect, unknown.kind, unknown.name)
    if not can_be(dialect, unknown.kind, unknown.name):
        return True
    if "*" in name or not unknown.close or _letters(name) == _letters(unknown.close):
        return False
    return difflib.SequenceMatcher(None, name, unknown.close).ratio() >= MISSPELT


def _letters(name: str) -> str:
    return "".join(letter for letter in name if not letter.isdigit())


def _always(dialect: Dialect, kind: SubjectKind) -> Iterable[str]:
    if kind == "agent":
        return [DEFAULT_AGENT]
    if kind == "tool":
        return [tool.name for tool in dialect.catalogue]
    return [*dialect.resolver_location, *dialect.channel_aliases.values()]


def _is_known(
    dialect: Dialect, kind: SubjectKind, text: str, known: list[str], environment: str, *, patterns: bool
) -> bool:
    name = subject_name(dialect, kind, text)
    if kind == "tool" and is_group(text):
        return patterns and name in dialect.groups
    if "*" in name:
        if not patterns:
            return False
        return name == ANYTHING or any(map(read_glob(name).matches, known))
    return name in known or (bool(name) and any(witness(environment, name) for witness in _witnesses[kind]))


def _close(dialect: Dialect, kind: SubjectKind, text: str, known: list[str]) -> str:
    words = [*known, *dialect.groups] if kind == "tool" and is_group(text) else known
    name = subject_name(dialect, kind, text) or trim(text)
    return next(iter(difflib.get_close_matches(name, words, n=1, cutoff=CLOSE)), "")


def names_lost(dialect: Dialect, kind: SubjectKind, before: list[str], after: list[str]) -> str:
    """Name what one list of names covers and another does not; empty where it covers all of it."""
    was, becomes = subject_names(dialect, kind, before), subject_names(dialect, kind, after)
    if becomes.everything:
        return ""
    if was.everything:
        return _("all but %(names)s") % {"names": names_listed(after)}
    return names_listed([entry for entry in was.entries if not becomes.matches(entry)])


def names_listed(names: list[str]) -> str:
    """Write names in one line; of many the first, and how many there are besides."""
    left = len(names) - NAMES_SHOWN
    more = [ngettext("%(count)s more", "%(count)s more", left) % {"count": left}] if left > 0 else []
    return str(get_text_list([*names[:NAMES_SHOWN], *more], _("and")))
