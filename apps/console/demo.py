"""What the page of the demo shows: what would go, what would stay and why."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.changes import KINDS

if TYPE_CHECKING:
    from apps.gateway.demo import Demo

WORDS: Final[Mapping[str, tuple[Promise, str]]] = {
    **KINDS,
    "plugin": (_("Plugin"), "puzzle"),
    "tool": (_("Tool"), "tool"),
    "token": (_("Token of the scripted agents"), "key"),
    "run": (_("Run with tool search"), "target"),
    "waiting": (_("Request that waits for a person"), "hand-stop"),
    "session": (_("Session"), "messages"),
}
WHY: Final[Mapping[str, Promise]] = {
    "changed": _("somebody changed it"),
    "holds": _("it holds what somebody made or changed"),
}
STAYS_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Going:
    """One kind of what goes."""

    icon: str
    word: Promise
    number: int


@dataclass(frozen=True, slots=True)
class Staying:
    """A record that stays."""

    icon: str
    word: Promise
    name: str
    why: Promise


def rows_that_go(demo: "Demo") -> list[Going]:
    return [Going(WORDS[kind][1], WORDS[kind][0], number) for kind, number in demo.goes.items()]


def rows_that_stay(demo: "Demo") -> list[Staying]:
    return [
        Staying(WORDS[each.kind][1], WORDS[each.kind][0], each.name, WHY[each.why]) for each in demo.stays[:STAYS_SHOWN]
    ]
