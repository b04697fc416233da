"""What of the demo stands in an environment as it was loaded, and what people have made their own since.

The change logs tell: the demo's own writes carry a mark, and a record whose last write carries it is as it was loaded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Model

from apps.policies.kinds import KINDS, event_model
from apps.policies.models import DRAFT_MODELS, Agent
from apps.registry.models import DefinitionDrift, Environment, Hook, Plugin, Tool

MARK: Final = "demo"
CATALOGUE: Final[Mapping[str, type[Model]]] = {"plugin": Plugin, "tool": Tool}
WATCHED: Final[tuple[type[Model], ...]] = (*DRAFT_MODELS, *CATALOGUE.values())
"""Every model that the demo fills, parents before children."""

KIND_OF: Final = {model: kind for kind, model in {**KINDS, **CATALOGUE}.items()}
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
    alive: Found = {}
    goes: Found = {}
    for model in WATCHED:
        if lock and model in CATALOGUE.values():  # the lock of the draft holds the others
            list(model._default_manager.select_for_update().filter(environment=environment).values_list("pk"))
        alive[model], goes[model] = _read(model, environment)
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


def _read(model: type[Model], environment: Environment) -> tuple[set[UUID], set[UUID]]:
    """Read the last write to each record that the demo brought.

    Returns:
        Those that are still there, and of these the ones whose last write is the demo's own.
    """
    log = event_model(model).objects.filter(pgh_obj_id__in=_loaded(model, environment).values("pgh_obj_id"))
    last = log.order_by("pgh_obj_id", "-pgh_id").distinct("pgh_obj_id")
    writes = last.values_list("pgh_obj_id", "pgh_label", f"pgh_context__metadata__{MARK}")
    alive = {record: is_ours is True for record, label, is_ours in writes if label != "delete"}
    return set(alive), {record for record, is_ours in alive.items() if is_ours}


def _keep_holders(goes: Found) -> Found:
    """Take out of what goes whatever holds something that stays.

    Returns:
        What was taken out.
    """
    held: Found = {}
    for model, field, parent in _ties():
        if not goes[parent]:
            continue
        staying = model._default_manager.filter(**{f"{field}__in": goes[parent]}).exclude(pk__in=goes.get(model, ()))
        kept = set(staying.values_list(field, flat=True))
        goes[parent] -= kept
        held.setdefault(parent, set()).update(kept)
    return held


def _ties() -> Iterator[tuple[type[Model], str, type[Model]]]:
    """List which model holds on to which parent by which field; children first, inner groups before their channels."""
    yield Hook, "plugin", Plugin
    yield DefinitionDrift, "tool", Tool
    for model in reversed(WATCHED):
        parents: list[tuple[str, Any]] = [(field.name, field.related_model) for field in model._meta.fields]
        ties = [(name, parent) for name, parent in parents if parent in KIND_OF]
        for name, parent in sorted(ties, key=lambda tie: tie[1] is not model):
            yield model, name, parent
