"""Changes that can be undone: each is one save of one record, by one person, with what it took along."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.db import connection

from apps.accounts.access import Principal, actor_of
from apps.policies.changes import Action, LogEntry
from apps.policies.document.findings import show_path
from apps.policies.kinds import KIND_OF, KINDS, event_model
from apps.policies.models import ChannelGroup
from apps.policies.models.base import PolicyRecord
from apps.policies.places import Places
from apps.registry.models import Environment

UNDOABLE: Final = frozenset({"create", "update", "delete", "undo"})
"""Why a change was written, in the change log. An import, a draft that is set back and the like are changes of the
whole draft: they are taken back by discarding it."""
ACTIONS: Final[dict[str, Action]] = {"insert": "created", "update": "changed", "delete": "deleted"}


@dataclass(frozen=True, slots=True)
class Write:
    """One row of a change log: what was done to one record, and what it says since."""

    model: type[PolicyRecord]
    event: Any

    @property
    def parents(self) -> set[UUID]:
        relations = (field.attname for field in self.model._meta.fields if field.is_relation)
        return {value for name in relations if name != "environment_id" and (value := getattr(self.event, name))}


@dataclass(frozen=True)
class SavedChange:
    """One save, as the change log has it; `writes` are in an order in which parents come first."""

    id: UUID
    environment: Environment
    actor: str
    reason: str
    writes: tuple[Write, ...]

    @cached_property
    def root(self) -> Write | None:
        """The record that was saved; the others belong to it. None where several were, or one several times."""
        written = {write.event.pgh_obj_id for write in self.writes}
        if len(written) < len(self.writes):
            return None
        roots = [write for write in self.writes if not write.parents & written]
        return roots[0] if len(roots) == 1 else None

    @property
    def updates(self) -> tuple[Write, ...]:
        """The records that one save changed, each once, as the edits of a smallest fix do; empty for other changes."""
        written = {write.event.pgh_obj_id for write in self.writes}
        is_plain = len(written) == len(self.writes) and all(each.event.pgh_label == "update" for each in self.writes)
        return self.writes if is_plain else ()

    @property
    def is_undoable(self) -> bool:
        return self.reason in UNDOABLE and (self.root is not None or bool(self.updates))


@dataclass(frozen=True, slots=True)
class ChangeTold:
    """A change in words: what was done to which record.

    Attributes:
        kind: of the record, a key of `apps.policies.kinds.KINDS`; `place` is its place in the document, or those of all
            records that were changed together.
    """

    change: UUID
    action: Action
    kind: str
    record: UUID
    place: str
    at: datetime


def change_read(environment: Environment, change: UUID) -> SavedChange | None:
    """Read a change of an environment from the change logs; None when they do not have it."""
    writes = tuple(_writes(environment, change))
    if not writes:
        return None
    metadata = writes[0].event.pgh_context.metadata
    return SavedChange(change, environment, metadata.get("actor", ""), metadata.get("reason", ""), writes)


def change_told(change: SavedChange) -> ChangeTold | None:
    """Put a change into words; None when it is one of a whole draft. One of several records names the first of them."""
    written = change.updates if change.root is None else (change.root,)
    if not written:
        return None
    places = Places(change.environment)
    place = ", ".join(show_path(places.of(each.event, each.model)) for each in written)
    model, event = written[0].model, written[0].event
    return ChangeTold(
        change.id, ACTIONS[event.pgh_label], KIND_OF[model], event.pgh_obj_id, place, event.pgh_created_at
    )


def change_of(environment: Environment, change: UUID) -> ChangeTold | None:
    """Find a change by its id and put it into words."""
    read = change_read(environment, change)
    return None if read is None else change_told(read)


def is_undoable(entry: LogEntry, by: Principal) -> bool:
    """Say whether the newest write to a record is one that this person may undo."""
    return entry.change is not None and entry.reason in UNDOABLE and entry.actor == actor_of(by)


def record_change_own(record: PolicyRecord, by: Principal) -> UUID | None:
    """Return the newest change of a record, which may be gone, when this person may undo it."""
    log = event_model(type(record)).objects.select_related("pgh_context").filter(pgh_obj_id=record.pk)
    newest = log.order_by("-pgh_id").first()
    if newest is None or newest.pgh_context is None:
        return None
    metadata = newest.pgh_context.metadata
    is_own = metadata.get("actor") == actor_of(by) and metadata.get("reason") in UNDOABLE
    change: UUID | None = newest.pgh_context_id if is_own else None
    return change


def draft_change_own(environment: Environment, by: Principal) -> UUID | None:
    """Return the newest change of a draft, when this person may undo it; one query."""
    parts, values = [], []
    for model in KINDS.values():
        table = connection.ops.quote_name(event_model(model)._meta.db_table)
        parts.append(
            f"(SELECT pgh_created_at, pgh_context_id FROM {table} WHERE environment_id = %s"  # noqa: S608 - own tables
            " ORDER BY pgh_id DESC LIMIT 1)"
        )
        values.append(environment.pk)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id FROM (SELECT * FROM ("  # noqa: S608 - as above
            + " UNION ALL ".join(parts)
            + ") AS newest ORDER BY pgh_created_at DESC LIMIT 1) AS last JOIN pghistory_context AS c"
            " ON c.id = last.pgh_context_id WHERE c.metadata ->> 'actor' = %s AND c.metadata ->> 'reason' = ANY(%s)",
            [*values, actor_of(by), sorted(UNDOABLE)],
        )
        row = cursor.fetchone()
    return None if row is None else row[0]


def _writes(environment: Environment, change: UUID) -> Iterator[Write]:
    for model in KINDS.values():
        log = event_model(model).objects.select_related("pgh_context")
        events = list(log.filter(environment=environment, pgh_context_id=change).order_by("pgh_id"))
        if model is ChannelGroup:
            events.sort(key=lambda event: event.parent_id is not None)
        yield from (Write(model, event) for event in events)
