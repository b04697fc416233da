"""Records of the draft, and what stands beside it, by a part of their name."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import CharField, F, QuerySet, Value
from django.db.models.functions import Coalesce, Concat

from apps.policies.kinds import KINDS
from apps.policies.models import Guardrail, PolicyTest
from apps.registry.models import Environment
from apps.rows import named

CHECKS: Final = {"guardrail": Guardrail, "policy_test": PolicyTest}
"""What a draft is held against."""
LIMIT: Final = 6
KEY: Final = F("key")
NOTHING: Final = Value("")


@dataclass(frozen=True, slots=True)
class NamedRecord:
    """One record whose name holds a text.

    Attributes:
        kind: a key of `apps.policies.kinds.KINDS`, or of `CHECKS`.
        beside: what tells it from others of that name: a label, or whose it is.
        rank: where its name holds the text, as `apps.rows.rank_of_name` says.
    """

    kind: str
    id: UUID
    name: str
    beside: str
    rank: int


@dataclass(frozen=True, slots=True)
class _Names:
    """Which columns of a kind are looked through, what its name is, and what stands beside it."""

    columns: tuple[str, ...]
    name: Any = KEY
    beside: Any = NOTHING


def _of(column: str) -> Any:
    return Coalesce(F(column), Value(""), output_field=CharField())


def _place() -> Any:
    return Concat(F("channel__key"), Value("/"), F("key"), output_field=CharField())


_NAMES: Final[Mapping[str, _Names]] = {
    "agent": _Names(("key", "name"), beside=_of("name")),
    "profile": _Names(("key", "label"), beside=F("label")),
    "provider": _Names(("key",), beside=_of("agent__key")),
    "group": _Names(("key", "place"), name=F("place")),
    "sender": _Names(("key",), beside=Coalesce(F("agent__key"), F("group__key"), Value(""), output_field=CharField())),
    "permission_grant": _Names(("key",)),
    "content_filter": _Names(("key",)),
}
"""The kinds that people know by name."""
_ADDED: Final[Mapping[str, Callable[[], Any]]] = {"group": _place}


def records_named(
    environment: Environment, text: str, kinds: Collection[str], *, limit: int = LIMIT
) -> list[NamedRecord]:
    """Find the records of some kinds whose name holds a text, in one query; of each kind at most `limit`.

    Args:
        kinds: those that have no name of their own find nothing.
    """
    wanted = [kind for kind in _NAMES if kind in kinds]
    if not wanted or not text:
        return []
    first, *others = (_rows(environment, text, kind)[:limit] for kind in wanted)
    found = first.union(*others, all=True) if others else first
    return [NamedRecord(*row) for row in found]


def checks_named(environment: Environment, text: str, *, limit: int = LIMIT) -> list[NamedRecord]:
    """Find the guardrails and policy tests whose name holds a text, in one query; of each kind at most `limit`."""
    if not text:
        return []
    first, *others = (
        named(model._default_manager.filter(environment=environment), ("name",), text)
        .annotate(of_kind=Value(kind, output_field=CharField()), beside=NOTHING)
        .order_by("rank", "name")
        .values_list("of_kind", "id", "name", "beside", "rank")[:limit]
        for kind, model in CHECKS.items()
    )
    return [NamedRecord(*row) for row in first.union(*others, all=True)]


def _rows(environment: Environment, text: str, kind: str) -> "QuerySet[Any, tuple[Any, ...]]":
    names = _NAMES[kind]
    rows: Any = KINDS[kind]._default_manager.filter(environment=environment)
    if kind in _ADDED:
        rows = rows.annotate(place=_ADDED[kind]())
    rows = named(rows, names.columns, text).annotate(of_kind=Value(kind, output_field=CharField()), named=names.name)
    found: QuerySet[Any, tuple[Any, ...]] = (
        rows.annotate(beside=names.beside)
        .order_by("rank", "key", "id")
        .values_list("of_kind", "id", "named", "beside", "rank")
    )
    return found
