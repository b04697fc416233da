"""What else runs after a publication, in words: commands, permissions, content filters and settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.firewall.engine.access_changes import AccessChange

SUBJECTS: Final[Mapping[str, Promise]] = {
    "commands": _("Commands"),
    "permissions": _("Permission grants"),
    "filters": _("Content filters"),
    "settings": _("Setting"),
}
VERDICTS: Final[Mapping[str, tuple[str, Promise]]] = {
    "denied": ("deny", pgettext_lazy("verdict on a command", "denied")),
    "asks": ("ask", pgettext_lazy("verdict on a command", "needs approval")),
    "unanswered": ("deny", pgettext_lazy("verdict on a command", "runs if the request expires")),
    "runs": ("", pgettext_lazy("verdict on a command", "runs without approval")),
    "missing": ("deny", pgettext_lazy("verdict on a permission", "not granted")),
    "depends": ("ask", pgettext_lazy("verdict on a permission", "granted for some resources")),
    "granted": ("", pgettext_lazy("verdict on a permission", "granted")),
    "unneeded": ("", pgettext_lazy("verdict on a permission", "not required")),
    "none": ("", pgettext_lazy("effect of a content filter", "not checked")),
    "warn": ("", pgettext_lazy("effect of a content filter", "warns")),
    "mask": ("ask", pgettext_lazy("effect of a content filter", "masked")),
    "block": ("deny", pgettext_lazy("effect of a content filter", "blocked")),
}
"""Verdict -> the color of its label, and its words."""
LOOKS: Final[Mapping[str, tuple[str, str, Promise]]] = {
    "wider": ("c-deny", "alert-triangle", _("More can run")),
    "other": ("c-ask", "info-circle", _("Changed; check the effect yourself")),
    "narrower": ("t3", "arrow-down-right", _("Less can run")),
}
UNSET: Final = pgettext_lazy("value of a setting", "not set")
SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One change as a line of the table."""

    change: AccessChange

    @property
    def subject(self) -> Promise:
        return SUBJECTS[self.change.subject]

    @property
    def look(self) -> tuple[str, str, Promise]:
        return LOOKS[self.change.direction]

    @property
    def is_wider(self) -> bool:
        return self.change.direction == "wider"

    @property
    def before(self) -> tuple[str, Promise | str]:
        return self._side(self.change.before)

    @property
    def after(self) -> tuple[str, Promise | str]:
        css, text = self._side(self.change.after)
        return ("deny" if self.is_wider else css), text

    @property
    def examples(self) -> tuple[str, ...]:
        return self.change.examples[:SHOWN]

    @property
    def examples_left(self) -> int:
        return max(0, self.change.example_count - SHOWN)

    def _side(self, value: str) -> tuple[str, Promise | str]:
        if self.change.subject == "settings":
            return "", value or UNSET
        return VERDICTS[value]
