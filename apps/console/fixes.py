"""The smallest fix as a page shows it: its edits with their records, what else changes, or why no list decides."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.blast import Blast, Row, summed_up
from apps.console.layers import layer_name, page_of
from apps.console.record_pages import record_url
from apps.console.situations import Situation
from apps.firewall.engine.answers import Decision
from apps.firewall.engine.decide import decide
from apps.firewall.engine.edits import Edit
from apps.firewall.engine.effects import Effect
from apps.policies.draft_fixes import DraftEdit, DraftFix, draft_fix, draft_fix_diff
from apps.policies.selectors import draft_snapshot, live_snapshot
from apps.texts import read_json

if TYPE_CHECKING:
    from apps.registry.models import Environment

EDITS_POSTED: Final = 12
LINES_FIRST: Final = 5
_BEYOND: Final[Mapping[str, Promise]] = {
    "apply_patch": _("apply_patch is switched on by the exec settings, not by a list"),
    "transport": _("the channel cannot carry this tool, whatever the lists say"),
    "owner_only": _("only owners may use it, and the sender is not known to be one"),
    "sender": _("no rule for this sender can be edited here"),
    "sandbox": _("the sandbox keeps it out, and no list of it is in reach"),
    "subagent": _("sub-agents never have it"),
    "runtime": _("the caller itself gave a list without it"),
    "inherited": _("the parent session handed on a list without it"),
}


@dataclass(frozen=True, slots=True)
class ShownEdit:
    """One edit: which list, with the page of its record; `posted` is what a form sends back."""

    edit: DraftEdit
    layer: str
    url: str
    posted: str


@dataclass(frozen=True, slots=True)
class Reach:
    """Tools that open, or close, in equally many contexts."""

    tools: tuple[str, ...]
    contexts: int


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no list of names decides: the layer, and a sentence."""

    layer: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownFix:
    """What the panel shows.

    Attributes:
        draft: what the draft says of the tool.
        differs: that this is not what is live.
        opened, closed: over all contexts, the asked one among them.
        reasons: of a verdict that three edits do not flip.
    """

    fix: DraftFix
    draft: Decision
    differs: bool
    edits: tuple[ShownEdit, ...]
    opened: tuple[Reach, ...]
    closed: tuple[Reach, ...]
    reasons: tuple[Reason, ...]

    @property
    def others(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Other tools of the same context that open, and that close."""
        return ((), ()) if self.fix.fix is None else (self.fix.fix.opened, self.fix.fix.closed)


def fix_of(environment: "Environment", situation: Situation, tool: str) -> ShownFix:
    """Find the smallest fix in the draft for one situation.

    Raises:
        UnknownToolError, ResolutionError, SnapshotError: as for `draft_fix`.
    """
    context = situation.context()
    found = draft_fix(environment, context, tool)
    decision, live = decide(draft_snapshot(environment), context, tool), live_snapshot(environment)
    before = decision if live is None else decide(live, context, tool)
    fix = found.fix
    return ShownFix(
        fix=found,
        draft=decision,
        differs=(before.allowed, before.rule) != (decision.allowed, decision.rule),
        edits=tuple(map(_shown, found.edits, fix.edits)) if fix is not None else (),
        opened=_reaches((each.tool, each.opened) for each in _effects(found)),
        closed=_reaches((each.tool, each.closed) for each in _effects(found)),
        reasons=tuple(
            Reason(layer_name(key), str(_BEYOND.get(key, _("no list decides here")))) for key in found.beyond
        ),
    )


@dataclass(frozen=True, slots=True)
class ShownEffects:
    """Who gains and loses what by a fix, a line for each: the first few, and all others."""

    blast: Blast

    @property
    def first(self) -> tuple[Row, ...]:
        return self.blast.rows[:LINES_FIRST]

    @property
    def more(self) -> tuple[Row, ...]:
        return self.blast.rows[LINES_FIRST:]


def effects_of_fix(environment: "Environment", situation: Situation, tool: str) -> ShownEffects | None:
    """Tell what the smallest fix opens and closes, and for whom; None where there is no fix.

    Raises:
        UnknownToolError, ResolutionError, SnapshotError: as for `draft_fix`.
    """
    context = situation.context()
    diff = draft_fix_diff(environment, context, draft_fix(environment, context, tool))
    return None if diff is None else ShownEffects(summed_up(diff, most=None))


def _effects(found: DraftFix) -> tuple[Effect, ...]:
    return found.fix.effects if found.fix is not None else ()


def _shown(edit: DraftEdit, made: Edit) -> ShownEdit:
    source = f"agents.{made.block.agent}" if made.block.agent else ""
    url = record_url(edit.kind, edit.record) or page_of(made.block.layer, source, made.block.agent)
    return ShownEdit(edit, layer_name(made.block.layer), url, json.dumps(_posted(edit)))


def _posted(edit: DraftEdit) -> dict[str, Any]:
    return {
        "kind": edit.kind,
        "record": str(edit.record),
        "version": edit.version,
        "field": edit.field,
        "entry": edit.entry,
        "added": edit.is_added,
    }


def _reaches(counted: Iterable[tuple[str, int]]) -> tuple[Reach, ...]:
    """Put tools together that change in equally many contexts, most contexts first."""
    by_count: dict[int, list[str]] = {}
    for tool, contexts in counted:
        if contexts:
            by_count.setdefault(contexts, []).append(tool)
    return tuple(Reach(tuple(by_count[contexts]), contexts) for contexts in sorted(by_count, reverse=True))


class PostedEditsError(ValueError):
    """What was posted are no edits."""


def edits_posted(values: Iterable[str]) -> list[DraftEdit]:
    """Read the edits that a form of ours sends back.

    Raises:
        PostedEditsError: it was none of ours.
    """
    listed = list(values)
    if not 1 <= len(listed) <= EDITS_POSTED:
        raise PostedEditsError
    try:
        return [_read(read_json(value)) for value in listed]
    except (KeyError, TypeError, ValueError) as exc:
        raise PostedEditsError from exc


def _read(said: dict[str, Any]) -> DraftEdit:
    texts = {name: said[name] for name in ("kind", "field", "entry")}
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(said["added"], bool):
        raise TypeError
    return DraftEdit(**texts, record=UUID(said["record"]), version=int(said["version"]), is_added=said["added"])
