"""Which policies name a tool, a group or a plugin."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import Count, Func, Q, TextField

from apps.policies.changes import draft_mark
from apps.policies.document.findings import show_path
from apps.policies.kept import Kept
from apps.policies.kinds import kind_of
from apps.policies.models import Agent, ChannelGroup, GlobalPolicy, Profile, ProviderPolicy, SenderRule
from apps.policies.models.base import PolicyRecord
from apps.policies.places import Places
from apps.registry.models import Environment

LIMIT: Final = 100
NAMING: Final[tuple[type[PolicyRecord], ...]] = (GlobalPolicy, Profile, Agent, ProviderPolicy, ChannelGroup, SenderRule)
PROFILED: Final[tuple[type[PolicyRecord], ...]] = (GlobalPolicy, Agent, ProviderPolicy)

_counted: Kept[dict[str, int]] = Kept(4)


class _Lowered(Func):
    """A list with its entries in lower case."""

    template = "lower(%(expressions)s::text)::text[]"
    output_field = ArrayField(TextField())


@dataclass(frozen=True, slots=True)
class Reference:
    """One list of the draft that names what was asked for.

    Attributes:
        kind: of the record, a key of `apps.policies.kinds.KINDS`; `key` its own name there.
        place: of the record in its document; `field` the list in it, or the member.
        entry: as the list writes it.
    """

    record: UUID
    kind: str
    key: str
    place: str
    field: str
    entry: str


def list_fields(model: type[PolicyRecord]) -> tuple[str, ...]:
    """Name the lists of tools that a kind of record has."""
    return tuple(field.name for field in model._meta.fields if isinstance(field, ArrayField))


def references_to(environment: Environment, words: Collection[str], *, limit: int = LIMIT) -> list[Reference]:
    """Find the lists of the draft that hold one of some entries, in any of the usual spellings.

    Args:
        words: entries such as `exec`, `group:fs`, `freight-board`.
        limit: how many are listed at most.
    """
    wanted = {word.lower() for word in words}
    places = Places(environment)
    found: list[Reference] = []
    for model in NAMING:
        names = list_fields(model)
        lowered = {f"lower_{name}": _Lowered(name) for name in names}
        holds = reduce(or_, (Q(**{f"{name}__overlap": sorted(wanted)}) for name in lowered))
        records = model._default_manager.filter(environment=environment).alias(**lowered).filter(holds)
        for record in records.order_by("id")[:limit]:
            place = show_path(places.of(record))
            found += [
                Reference(record.pk, kind_of(record), str(getattr(record, "key", "")), place, name, entry)
                for name in names
                for entry in getattr(record, name) or ()
                if entry.lower() in wanted
            ]
    return found[:limit]


def references_counted(environment: Environment) -> Mapping[str, int]:
    """Count for each entry of the draft's lists how many lists hold it; entries are in lower case."""
    return _counted.get((environment.pk, draft_mark()), lambda: _count(environment))


def _count(environment: Environment) -> dict[str, int]:
    counts: dict[str, int] = {}
    for model in NAMING:
        names = list_fields(model)
        rows: Any = model._default_manager.filter(environment=environment).order_by().values_list(*names)
        for *lists, times in rows.annotate(Count("id")).iterator():  # a hundred thousand rules say few things
            for entries in lists:
                for entry in {each.lower() for each in entries or ()}:
                    counts[entry] = counts.get(entry, 0) + times
    return counts


def profile_references(environment: Environment, key: str, *, limit: int = LIMIT) -> list[Reference]:
    """Find the records of the draft that take a profile."""
    places = Places(environment)
    found: list[Reference] = []
    for model in PROFILED:
        records = model._default_manager.filter(Q(profile=key), environment=environment).order_by("position", "id")
        for record in records[: limit - len(found)]:
            place, name = show_path(places.of(record)), str(getattr(record, "key", ""))
            found.append(Reference(record.pk, kind_of(record), name, place, "profile", key))
    return found


def profiles_counted(environment: Environment) -> dict[str, int]:
    """Count for each profile how many records of the draft take it."""
    counts: dict[str, int] = {}
    for model in PROFILED:
        rows: Any = model._default_manager.filter(Q(profile__isnull=False), environment=environment)
        for key, number in rows.order_by().values_list("profile").annotate(Count("id")):
            counts[key] = counts.get(key, 0) + number
    return counts
