"""Which tools a publication adds, changes and takes away: the draft's catalogue beside the live one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext_lazy

from apps.firewall.engine.diff_guards import ToolDifference

MEMBERS: Final[dict[str, Any]] = {
    "plugin": gettext_lazy("plugin"),
    "label": gettext_lazy("label"),
    "description": gettext_lazy("description"),
    "section": gettext_lazy("section"),
    "source": gettext_lazy("origin"),
    "owner_only": gettext_lazy("owner only"),
    "params": gettext_lazy("parameters"),
    "sensitive": gettext_lazy("sensitive fields"),
    "traits": gettext_lazy("further members"),
    "executor": gettext_lazy("what runs it"),
    "optional": gettext_lazy("optional"),
}
"""Member of a published tool -> its word."""
WORDS: Final[dict[str, tuple[str, str, Any]]] = {
    "added": ("allow", "plus", gettext_lazy("added")),
    "changed": ("ask", "git-compare", gettext_lazy("changed")),
    "removed": ("deny", "circle-minus", gettext_lazy("removed")),
}


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that is not as it was published. `members` are words for what changed; `url` is empty for what is gone."""

    action: str
    name: str
    members: tuple[Any, ...] = ()
    url: str = ""

    @property
    def word(self) -> tuple[str, str, Any]:
        """CSS class, icon and word of the action."""
        return WORDS[self.action]


def tool_changes(differences: Iterable[ToolDifference]) -> list[ToolChange]:
    """Put what differs between two catalogues into words, with the pages of tools that will be there."""
    return [
        ToolChange(
            each.action,
            each.name,
            tuple(word for member, word in MEMBERS.items() if member in each.members),
            "" if each.after is None else reverse("tool", args=[each.name]),
        )
        for each in differences
    ]
