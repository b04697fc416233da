"""Two snapshots side by side: which blocks and tools differ, and what to call each of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.changes import KINDS, FieldChange, Line, Part, Sign, compared, state_lines
from apps.firewall.engine.diff_blocks import BlockDifference

BLOCKS: Final[Mapping[str, tuple[Promise, str]]] = {
    **KINDS,
    "release": (_("Release"), "versions"),
    "sandbox": (_("Sandbox policy"), "shield-half"),
    "subagents": (_("Sub-agents"), "robot"),
    "owners": (_("Owners"), "key"),
    "settings": (_("Settings"), "settings"),
}
"""Kind of a block -> its word and icon."""


@dataclass(frozen=True, slots=True)
class BlockChange:
    """A block that differs, line by line."""

    action: str
    kind: Promise | str
    icon: str
    place: str
    fields: tuple[FieldChange, ...]


def block_changes(differences: Iterable[BlockDifference]) -> list[BlockChange]:
    """Put the blocks that differ into lines."""
    return [_change(each) for each in differences]


def _change(difference: BlockDifference) -> BlockChange:
    kind, icon = BLOCKS.get(difference.kind, (difference.kind, "point"))
    return BlockChange(difference.action, kind, icon, difference.place, tuple(_fields(difference)))


def _fields(difference: BlockDifference) -> Iterable[FieldChange]:
    before, after = difference.before, difference.after
    if before is not None and after is not None:
        for name in difference.members:
            yield FieldChange(name, tuple(compared(before.get(name), after.get(name))))
        return
    sign: Sign = "−" if after is None else "+"
    state: Any = before if after is None else after
    lines = tuple(Line(sign, (Part(text),)) for text in state_lines(state))
    yield FieldChange("", lines or (Line(sign, (Part("{}"),)),))
