"""Which tools a publication adds, changes and takes away: the draft's catalogue beside the live one."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext_lazy

from apps.firewall.engine.snapshot import Snapshot

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


def tool_changes(live: Snapshot | None, draft: Snapshot) -> list[ToolChange]:
    """Tell what a publication does to the catalogue, by name; nothing where nothing was published yet."""
    if live is None or live.digest == draft.digest:
        return []
    return sorted(_changes(live, draft), key=lambda change: change.name)


def _changes(live: Snapshot, draft: Snapshot) -> Iterator[ToolChange]:
    before, after = _catalogue(live), _catalogue(draft)
    for name, tool in after.items():
        url = reverse("tool", args=[name])
        earlier = before.get(name)
        if earlier is None:
            yield ToolChange("added", name, url=url)
        elif earlier != tool:
            words = (word for member, word in MEMBERS.items() if earlier.get(member) != tool.get(member))
            yield ToolChange("changed", name, tuple(words), url)
    for name in before.keys() - after.keys():
        yield ToolChange("removed", name)


def _catalogue(snapshot: Snapshot) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in snapshot.document["tools"]}
