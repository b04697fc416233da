"""What of the demo stands in an environment as it was loaded, and what people have made their own since.

The change logs tell: the demo's own writes carry a mark, and a record whose last write carries it is as it was loaded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Model, TextField, Value

from apps.policies.kinds import KINDS, event_model
from apps.policies.models import DRAFT_MODELS, Agent
from apps.registry.models import DefinitionDrift, Environment, Hook, Plugin, Tool

MARK: Final = "demo"
CATALOGUE: Final[Mapping[str, type[Model]]] = {"plugin": Plugin, "tool": Tool}
WATCHED: Final[tuple[type[Model], ...]] = (*DRAFT_MODELS, *CATALOGUE.values())
"""Every model that the demo fills, parents before children."""

KIND_OF: Final = {model: kind for kind, model in {**KINDS, **CATALOGUE}.items()}
MODELS: Final = {kind: model for model, kind in KIND_OF.items()}
Found = dict[type[Model], set[UUID]]


@dataclass(frozen=True, slots=True)
class DemoStay:
    """A record of the demo that stays.

    Attributes:
        why: `changed` by somebody, or it `holds` something that somebody made or changed.
    """

    kind: str
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class DemoRecords:
    """The demo's records: ids of those that go, parents before children, and those that stay.

    Attributes:
        agents: ids of the agents that the demo ever brought, gone or not.
    """

    goes: Mapping[type[Model], set[UUID]]
    stays: tuple[DemoStay, ...]
    agents: frozenset[str]

    @property
    def counts(self) -> dict[str, int]:
        """How many go, by kind."""
        return {KIND_OF[model]: len(ids) for model, ids in self.goes.items() if ids}


def demo_records(environment: Environment, *, lock: bool = False) -> DemoRecords:
    """Find them. Who is about to delete them holds the draft, and locks them."""
    if lock:  # the lock of the draft holds the others
        for model in CATALOGUE.values():
            list(model._default_manager.select_for_update().filter(environment=environment).values_list("pk"))
    alive, goes = _read(environment)
    held = _keep_holders(goes)
    stays = [
        DemoStay(KIND_OF[model], str(record), "holds" if record.pk in held.get(model, ()) else "changed")
        for model in WATCHED
        for record in _records(model, alive[model] - goes[model])
    ]
    loaded = _loaded(Agent, environment).values_list("key", flat=True)
    return DemoRecords(goes, tuple(stays), frozenset(loaded))


def demo_is_here(environment: Environment) -> bool:
    """Say whether an agent that the demo brought is still in the draft."""
    loaded = _loaded(Agent, environment).values("pgh_obj_id")
    return Agent.objects.filter(environment=environment, pk__in=loaded).exists()


def _loaded(model: type[Model], environment: Environment) -> Any:
    return event_model(model).objects.filter(environment=environment, **{f"pgh_context__metadata__{MARK}": True})


def _records(model: type[Model], ids: set[UUID]) -> Any:
    return model._default_manager.filter(pk__in=ids) if ids else ()


def _read(environment: Environment) -> tuple[Found, Found]:
    """Read the last write to each record that the demo brought, of all kinds at once.

    Returns:
        Those that are still there, and of these the ones whose last write is the demo's own; by model.
    """
    alive: Found = {model: set() for model in WATCHED}
    goes: Found = {model: set() for model in WATCHED}
    first, *others = (_last_writes(model, environment) for model in WATCHED)
    for kind, record, label, is_ours in first.union(*others, all=True):
        if label != "delete":
            alive[MODELS[kind]].add(record)
            if is_ours is True:
                goes[MODELS[kind]].add(record)
    return alive, goes


def _last_writes(model: type[Model], environment: Environment) -> Any:
    log = event_model(model).objects.filter(pgh_obj_id__in=_loaded(model, environment).values("pgh_obj_id"))
    last = log.order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id")
    brought = Value(KIND_OF[model], output_field=TextField())
    return last.annotate(brought=brought).values_list(
        "brought", "pgh_obj_id", "pgh_label", f"pgh_context__metadata__{MARK}"
    )


def _keep_holders(goes: Found) -> Found:
    """Take out of what goes whatever holds something that stays.

    Returns:
        What was taken out.
    """
    held: Found = {}
    ties = [(model, field, parent) for model, field, parent in _ties() if goes[parent]]
    while ties:
        first, *others = (_staying(goes, *tie) for tie in ties)
        kept: Found = {}
        for kind, record in first.union(*others):
            kept.setdefault(MODELS[kind], set()).add(record)
        if not kept:
            break
        for parent, records in kept.items():
            goes[parent] -= records
            held.setdefault(parent, set()).update(records)
        ties = [tie for tie in ties if goes[tie[2]]]
    return held


def _staying(goes: Found, model: type[Model], field: str, parent: type[Model]) -> Any:
    """Ask which parents that go are held by a record that stays."""
    staying = model._default_manager.order_by().filter(**{f"{field}__in": goes[parent]})
    held = Value(KIND_OF[parent], output_field=TextField())
    return staying.exclude(pk__in=goes.get(model, ())).annotate(held=held).values_list("held", f"{field}_id")


def _ties() -> Iterator[tuple[type[Model], str, type[Model]]]:
    """List which model holds on to which parent by which field."""
    yield Hook, "plugin", Plugin
    yield DefinitionDrift, "tool", Tool
    for model in reversed(WATCHED):
        parents: list[tuple[str, Any]] = [(field.name, field.related_model) for field in model._meta.fields]
        yield from ((model, name, parent) for name, parent in parents if parent in KIND_OF)
