"""What was said of each command of a line: its mark, and the words beside it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

NOT_UNDERSTOOD: Final = "not_understood"
ALLOWED, ASKS, BAD, UNREAD = "", "miss", "bad", "unread"

LEGEND: Final[tuple[tuple[str, Promise], ...]] = (
    (ALLOWED, _("a rule allows it")),
    (ASKS, _("asks")),
    (BAD, _("asks, and looks dangerous")),
    (UNREAD, _("cannot be analysed")),
)
MARKS: Final = dict(LEGEND)

BY: Final[dict[str, Promise]] = {
    "allowlist": _("rule"),
    "grant": _("standing approval"),
    "safeBins": _("safe program, safe arguments"),
    "safeBuiltins": _("only reads what it is given"),
    "skills": _("program of a skill"),
}
WHY: Final[dict[str, Promise]] = {
    "allowlist_miss": _("No rule matches."),
    "program_not_found": _("No such program was found."),
    "wrapper": _("It runs another program."),
    "shell": _("It starts a shell."),
    "inline_code": _("It carries code in its arguments."),
    "runs_by_nature": _("A program that runs what it is given is never admitted by its name alone."),
    "not_known_safe": _("Nothing says that it neither runs a program, nor writes a file, nor loads code."),
    "program_not_described": _("Nobody has described what this program of the system may be given."),
    "bad_pattern": _("The pattern of arguments of a rule cannot be used."),
    "variables": _("The call sets a variable that may name a program."),
    "assignment": _("It sets variables."),
    "invisible_character": _("It holds what nobody can see."),
    NOT_UNDERSTOOD: _("It cannot be analysed."),
}
OTHERWISE: Final = _("Only a shell can tell what it does.")


@dataclass(frozen=True, slots=True)
class ShownPart:
    """One command of a line as a row: allowed by what, or why it asks."""

    number: int
    program: str
    path: str
    wrappers: tuple[str, ...]
    is_allowed: bool
    is_unread: bool
    label: Promise | str
    detail: str


def shown_parts(parts: Sequence[Mapping[str, Any]]) -> list[ShownPart]:
    """Say of each kept command what admits it, or why it asks."""
    return [_shown(number, part) for number, part in enumerate(parts, start=1)]


def _shown(number: int, part: Mapping[str, Any]) -> ShownPart:
    why = part.get("why") or {}
    code, by, path = str(why.get("code", "")), str(part.get("by", "")), str(part.get("program", ""))
    is_allowed = bool(by) and not why
    return ShownPart(
        number=number,
        program=path.rpartition("/")[2] or path,
        path=path,
        wrappers=tuple(map(str, part.get("wrappers", ()))),
        is_allowed=is_allowed,
        is_unread=code == NOT_UNDERSTOOD,
        label=BY.get(by, by) if is_allowed else _reason(code, is_stricter=part.get("stricter") is True),
        detail=str(part.get("pattern", "")) if is_allowed else str(why.get("text", "")),
    )


def _reason(code: str, *, is_stricter: bool) -> str:
    reason = str(WHY.get(code, OTHERWISE))
    return gettext("Stricter than OpenClaw. %(reason)s") % {"reason": reason} if is_stricter else reason


def level_of(part: Mapping[str, Any], text: str, dangers: Sequence[str]) -> str:
    """Choose the mark of a judged command."""
    why = part.get("why")
    if why is None and part.get("by"):
        return ALLOWED
    if is_dangerous(text, dangers):
        return BAD
    return UNREAD if why and why.get("code") == NOT_UNDERSTOOD else ASKS


def is_dangerous(text: str, dangers: Sequence[str]) -> bool:
    """Say whether a command shows one of the things that a person was warned of."""
    return any(
        re.search(rf"(?<![\w-]){re.escape(danger)}(?![\w-])", text) or text.strip() in danger for danger in dangers
    )
