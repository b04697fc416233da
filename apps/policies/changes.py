"""What changed in a draft since a publication, read from the change log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import connection
from django.db.models import Model, QuerySet

from apps.policies.document.findings import show_path
from apps.policies.document.secrets import with_notes
from apps.policies.kinds import KIND_OF, KINDS, event_model
from apps.policies.models import DRAFT_MODELS, Publication
from apps.policies.models.base import PolicyRecord
from apps.policies.places import Places
from apps.registry.models import DiscoverySource, Environment, Plugin, Tool
from apps.remembered import remembered

Action = Literal["created", "changed", "deleted"]
_CATALOGUE: Mapping[str, type[Model]] = {"tool": Tool, "plugin": Plugin, "source": DiscoverySource}
_HIDDEN = frozenset({"id", "environment", "version", "position"})


@dataclass(frozen=True, slots=True)
class DraftChange:
    """One field of one record that is not as it was published; a created or deleted record is one change.

    `label` is the record's place in the document, `field` is empty for whole records.
    """

    action: Action
    kind: str
    record: UUID
    label: str
    field: str
    before: Any
    after: Any
    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One write to one record: what it changed, who did it, when; `change` names it, so that it can be undone."""

    change: UUID | None
    action: str
    version: int
    fields: Mapping[str, tuple[Any, Any]]
    actor: str
    reason: str
    at: datetime


def log_marks() -> dict[str, int]:
    """Return the last row of each change log. Hold the draft's lock, or rows may yet appear below a mark."""
    return _last_rows(KINDS)


def draft_mark() -> tuple[int, ...]:
    """Return what changes whenever a draft, or the tools that it speaks of, may have changed."""
    last = _marks_now()
    return tuple(last[name] for name in (*KINDS, *_CATALOGUE))


def tools_mark() -> tuple[int, ...]:
    """Return what changes whenever the tools that a publication would offer may have changed."""
    last = _marks_now()
    return tuple(last[name] for name in _CATALOGUE)


@remembered
def _marks_now() -> Mapping[str, int]:
    return _last_rows({**KINDS, **_CATALOGUE})


def _last_rows(watched: Mapping[str, type[Model]]) -> dict[str, int]:
    parts = [
        f"SELECT '{name}', COALESCE(MAX(pgh_id), 0) FROM {connection.ops.quote_name(event_model(model)._meta.db_table)}"  # noqa: S608 - names of our own tables
        for name, model in watched.items()
    ]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts))
        return dict(cursor.fetchall())


def changes_since(environment: Environment, publication: Publication | None, *, limit: int) -> list[DraftChange]:
    """List what differs from a publication, by record; what was changed and changed back is not a change."""
    marks = {} if publication is None else publication.log_marks
    last = _marks_now()
    found: list[DraftChange] = []
    places = Places(environment)
    for model in DRAFT_MODELS:
        mark = marks.get(KIND_OF[model], 0)
        if last[KIND_OF[model]] <= mark:
            continue  # nothing of the kind was written since, in whatever environment
        found += _model_changes(model, environment, mark, places, limit - len(found))
        if len(found) >= limit:
            break
    return found


def records_changed(environment: Environment, publication: Publication | None) -> int:
    """Count the records that were written since a publication."""
    marks = {} if publication is None else publication.log_marks
    first, *others = (
        _later(model, environment, marks.get(KIND_OF[model], 0)).order_by().values("pgh_obj_id").distinct()
        for model in DRAFT_MODELS
    )
    return first.union(*others, all=True).count()


def history_of(record: PolicyRecord, *, limit: int) -> list[LogEntry]:
    """List the writes to a record, the newest first."""
    log = event_model(type(record)).objects.filter(pgh_obj_id=record.pk)
    events = list(log.select_related("pgh_context").order_by("-pgh_id")[: limit + 1])
    entries = []
    for event, earlier in zip(events[:limit], [*events[1:], None][:limit], strict=False):
        metadata = _metadata(event)
        entries.append(
            LogEntry(
                change=event.pgh_context_id,
                action=event.pgh_label,
                version=event.version,
                fields={} if earlier is None else _differences(type(record), earlier, event),
                actor=metadata.get("actor", "system"),
                reason=metadata.get("reason", ""),
                at=event.pgh_created_at,
            )
        )
    return entries


def _later(model: type[PolicyRecord], environment: Environment, mark: int) -> QuerySet[Any]:
    events: QuerySet[Any] = event_model(model).objects.filter(environment=environment, pgh_id__gt=mark)
    return events


def _model_changes(
    model: type[PolicyRecord], environment: Environment, mark: int, places: Places, limit: int
) -> Iterator[DraftChange]:
    events: dict[UUID, list[Any]] = {}
    before: dict[UUID, Any] = {}
    for event in _events_around(model, environment, mark):
        if event.pgh_id > mark:
            events.setdefault(event.pgh_obj_id, []).append(event)
        elif event.pgh_label != "delete":
            before[event.pgh_obj_id] = event
    _join_made_again(model, events, before, places)
    made = 0
    for identifier, later in events.items():
        for change in _record_changes(model, before.get(identifier), later, places):
            if made >= limit:
                return
            made += 1
            yield change


def _join_made_again(
    model: type[PolicyRecord], events: dict[UUID, list[Any]], before: dict[UUID, Any], places: Places
) -> None:
    """Let a record that was deleted and made again in the same place be one record, changed or not."""
    gone = {
        places.of(before[identifier], model): identifier
        for identifier, later in events.items()
        if identifier in before and later[-1].pgh_label == "delete"
    }
    if not gone:
        return
    for identifier, later in list(events.items()):
        if identifier not in before and later[-1].pgh_label != "delete":
            earlier = gone.pop(places.of(later[-1], model), None)
            if earlier is not None:
                before[identifier] = before.pop(earlier)
                del events[earlier]


def _events_around(model: type[PolicyRecord], environment: Environment, mark: int) -> QuerySet[Any]:
    """Read what was written after a mark, and of each of those records how it was at the mark, in one question."""
    log, later = event_model(model).objects, _later(model, environment, mark)
    around: QuerySet[Any] = later
    if mark:
        earlier = log.filter(pgh_obj_id__in=later.order_by().values("pgh_obj_id"), pgh_id__lte=mark)
        last = earlier.order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id")
        around = log.filter(pgh_id__in=later.order_by().values("pgh_id").union(last.values("pgh_id"), all=True))
    return around.select_related("pgh_context").order_by("pgh_id")


def _record_changes(model: type[PolicyRecord], before: Any, later: list[Any], places: Places) -> Iterator[DraftChange]:
    last = later[-1]
    after = None if last.pgh_label == "delete" else last
    if before is None and after is None:
        return
    kind, label = KIND_OF[model], show_path(places.of(last, model))
    if before is None or after is None:
        action: Action = "created" if before is None else "deleted"
        state = _summary(model, last)
        metadata = _metadata(later[0] if before is None else last)
        yield DraftChange(
            action,
            kind,
            last.pgh_obj_id,
            label,
            "",
            None if before is None else state,
            None if after is None else state,
            metadata.get("actor", "system"),
            last.pgh_created_at,
        )
        return
    for name, (old, new) in _differences(model, before, after).items():
        event = _who_wrote(name, before, later)
        actor = _metadata(event).get("actor", "system")
        yield DraftChange("changed", kind, last.pgh_obj_id, label, name, old, new, actor, event.pgh_created_at)


def _who_wrote(name: str, before: Any, later: list[Any]) -> Any:
    """Find the last write that changed a field."""
    writer, state = later[-1], before
    for event in later:
        if repr(getattr(event, name)) != repr(getattr(state, name)):
            writer = event
        state = event
    return writer


def _fields(model: type[PolicyRecord]) -> list[str]:
    return [field.name for field in model._meta.fields if field.name not in _HIDDEN and not field.is_relation]


def _differences(model: type[PolicyRecord], old: Any, new: Any) -> dict[str, tuple[Any, Any]]:
    found = {}
    for name in _fields(model):
        if repr(getattr(old, name)) != repr(getattr(new, name)):
            told = with_notes(getattr(old, name)), with_notes(getattr(new, name))
            if repr(told[0]) != repr(told[1]):  # a secret that was sealed again is the same secret
                found[name] = told
    return found


def _summary(model: type[PolicyRecord], event: Any) -> dict[str, Any]:
    """Return what a record said, without what it did not say."""
    values = {name: with_notes(getattr(event, name)) for name in _fields(model)}
    return {name: value for name, value in values.items() if value not in (None, "", {}, False)}


def _metadata(event: Any) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = event.pgh_context.metadata if event.pgh_context is not None else {}
    return metadata
