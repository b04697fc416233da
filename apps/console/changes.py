"""Changes of the draft as the review shows them: record by record, line by line, with what differs marked."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any, Literal
from uuid import UUID

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.console.record_pages import record_url
from apps.policies.changes import DraftChange
from apps.policies.document.members import without_places
from apps.policies.shadows.places import WATCHED

Mark = Literal["", "ins", "del"]
Sign = Literal["", "+", "−"]

KINDS: Mapping[str, tuple[Promise, str]] = {
    "global": (_("Global policy"), "world"),
    "profile": (_("Profile"), "id-badge-2"),
    "agent": (_("Agent"), "robot"),
    "provider": (_("Provider policy"), "stack-2"),
    "exec": (_("Exec settings"), "terminal-2"),
    "channel": (_("Channel"), "message"),
    "account": (_("Channel account"), "plug-connected"),
    "group": (_("Channel group"), "messages"),
    "sender": (_("Sender rule"), "user-question"),
    "approvals": (_("Exec approvals"), "hand-stop"),
    "approvals_agent": (_("Exec approvals of an agent"), "hand-stop"),
    "allowlist": (_("Exec allowlist"), "list-details"),
    "permission_grant": (_("Permission grant"), "key"),
    "content_filter": (_("Content filter"), "filter"),
}
LINE_LIMIT = 2000
KEPT = "extra"  # what a record keeps verbatim, between the places of the members that it models
SAID_BY_PLACE = frozenset({"key", "kind"})


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a line; `mark` says whether only this side has it."""

    text: str
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Line:
    sign: Sign
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a record, or a whole record when `name` is empty."""

    name: str
    lines: tuple[Line, ...]


@dataclass(slots=True)
class RecordChange:
    """Everything that differs in one record; who and when are those of its last change. `url` leads to its page."""

    record: UUID
    key: str
    action: str
    kind: Promise | str
    icon: str
    place: str
    actor: str
    at: datetime
    url: str = ""
    fields: list[FieldChange] = field(default_factory=list)

    @property
    def is_watchable(self) -> bool:
        """Whether the change can be watched in shadow."""
        return self.key in WATCHED

    @property
    def who(self) -> str:
        return self.actor.partition(":")[2] or self.actor


def records_of(changes: Iterable[DraftChange]) -> list[RecordChange]:
    """Put changes together by record, in the order in which they come."""
    records: dict[UUID, RecordChange] = {}
    for change in changes:
        record = records.get(change.record)
        if record is None:
            kind, icon = KINDS.get(change.kind, (change.kind, "point"))
            url = "" if change.action == "deleted" else record_url(change.kind, change.record)
            record = RecordChange(
                record=change.record,
                key=change.kind,
                action=change.action,
                kind=kind,
                icon=icon,
                place=change.label or change.kind,
                actor=change.actor,
                at=change.at,
                url=url,
            )
            records[change.record] = record
        if change.at >= record.at:
            record.actor, record.at = change.actor, change.at
        field_change = _field_change(change)
        if field_change.lines:
            record.fields.append(field_change)
    return [record for record in records.values() if record.fields or record.action != "changed"]


def _field_change(change: DraftChange) -> FieldChange:
    if change.action == "changed":
        before, after = (_kept(change.field, value) for value in (change.before, change.after))
        return FieldChange(change.field, tuple(compared(before, after)))
    sign: Sign = "+" if change.action == "created" else "−"
    state = change.after if change.action == "created" else change.before
    return FieldChange("", tuple(Line(sign, (Part(text),)) for text in state_lines(state)))


def state_lines(state: Any) -> Iterator[str]:
    """Write what a record said, one member a line."""
    if not isinstance(state, Mapping):
        yield _text(state)
        return
    shown = {name: _kept(name, value) for name, value in state.items() if name not in SAID_BY_PLACE}
    named = sorted((name for name, value in shown.items() if value != {}), key=lambda name: name == KEPT)
    width = max((len(name) for name in named), default=0)
    for name in named:
        yield f"{name.ljust(width)}  {_text(shown[name])}"


def _kept(name: str, value: Any) -> Any:
    """Leave out of what a record keeps verbatim the marks of where its own members stood."""
    return without_places(value) if name == KEPT and isinstance(value, dict) else value


def compared(before: Any, after: Any) -> Iterator[Line]:
    """Write what differs between two values of a member, the old one first."""
    if before == after:
        return
    if isinstance(before, list) or isinstance(after, list):
        yield from _compared_lists(before, after)
    elif isinstance(before, Mapping) or isinstance(after, Mapping):
        yield from _compared_texts(before, after)
    else:
        yield Line("−", (Part(_text(before), "del"),))
        yield Line("+", (Part(_text(after), "ins"),))


def _compared_lists(before: Any, after: Any) -> Iterator[Line]:
    """Show both lists, with the entries that only one of them has marked; an absent list says so."""
    yield Line("−", tuple(_list_parts(before, after, "del")))
    yield Line("+", tuple(_list_parts(after, before, "ins")))


def _list_parts(own: Any, other: Any, mark: Mark) -> Iterator[Part]:
    if not isinstance(own, list) or not own:
        yield Part(_text(own), mark)
        return
    known = other if isinstance(other, list) else []
    for number, entry in enumerate(own):
        if number:
            yield Part(", ")
        yield Part(_text(entry), "" if entry in known else mark)


def _compared_texts(before: Any, after: Any) -> Iterator[Line]:
    """Show only the lines of two JSON values that differ."""
    old, new = (_pretty(value).split("\n") for value in (before, after))
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for text in old[i1:i2]:
            yield Line("−", (Part(text[:LINE_LIMIT]),))
        for text in new[j1:j2]:
            yield Line("+", (Part(text[:LINE_LIMIT]),))


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return value[:LINE_LIMIT] or '""'
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return (", ".join(value) or "[]")[:LINE_LIMIT]
    return json.dumps(value, ensure_ascii=False, default=str)[:LINE_LIMIT]
