"""Coverage of policy tests: which records of the draft decided how many cases."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from apps.firewall.runtime.cases import CaseResult
from apps.policies.document.findings import Path, show_path
from apps.policies.kinds import KIND_OF
from apps.policies.models import (
    Agent,
    AllowlistEntry,
    ChannelGroup,
    ExecSettings,
    GlobalPolicy,
    PermissionGrant,
    Profile,
    ProviderPolicy,
    SenderRule,
)
from apps.policies.places import Places
from apps.registry.models import Environment

RULES: Final = (
    GlobalPolicy,
    Profile,
    Agent,
    ProviderPolicy,
    ChannelGroup,
    SenderRule,
    ExecSettings,
    AllowlistEntry,
    PermissionGrant,
)
"""The records that decide about tools."""

PROFILE: Final = "profile"


@dataclass(frozen=True, slots=True)
class CoveredRecord:
    """A record of the draft, and how many cases it decided; `path` is its place in the document."""

    kind: str
    id: UUID
    path: str
    cases: int


def records_covered(environment: Environment, results: Sequence[CaseResult]) -> list[CoveredRecord]:
    """Count the cases that each record decided, those that decided none among them.

    A record decided a case when its block removed the tool or, of a tool that is allowed, stood in a layer that let it
    pass; the entry of an allowlist when it admitted the command; a grant when it gave a permission.
    """
    rows = [(row, place) for model in RULES for row, place in _rows(environment, model)]
    known = {".".join(map(str, written)): row.pk for row, place in rows for written in (place, _as_engine(place))}
    named = _named(row for row, _place in rows)
    counted: Counter[UUID] = Counter()
    for result in results:
        counted.update(_deciders(result, known, named))
    return [CoveredRecord(KIND_OF[type(row)], row.pk, show_path(place), counted[row.pk]) for row, place in rows]


def _rows(environment: Environment, model: Any) -> Iterator[tuple[Any, Path]]:
    places = Places(environment)
    for row in model.objects.filter(environment=environment):
        yield row, places.of(row)


def _named(rows: Iterable[Any]) -> dict[tuple[type, str], set[UUID]]:
    """Find entries of allowlists by pattern, and grants by name: answers name them, and not their places."""
    found: dict[tuple[type, str], set[UUID]] = defaultdict(set)
    for row in rows:
        if isinstance(row, AllowlistEntry | PermissionGrant):
            found[type(row), row.pattern if isinstance(row, AllowlistEntry) else row.key].add(row.pk)
    return found


def _deciders(result: CaseResult, known: Mapping[str, UUID], named: Mapping[tuple[type, str], set[UUID]]) -> set[UUID]:
    found = {key for place in result.places for key in _holders(place, known)}
    answered: list[tuple[type, str]] = [(PermissionGrant, key) for key in result.answer.grants]
    answered += [(AllowlistEntry, pattern) for pattern in result.answer.patterns]
    return found.union(*(named.get(each, ()) for each in answered))


def _holders(place: str, known: Mapping[str, UUID]) -> Iterator[UUID]:
    """Find the record in whose block a place stands, and the profile of our own that it names."""
    block, _blank, profile = place.partition(f".{PROFILE} ")
    if profile and f"profiles.{profile}" in known:
        yield known[f"profiles.{profile}"]
    parts = block.split(".")
    for length in range(len(parts), 0, -1):
        holder = known.get(".".join(parts[:length]))
        if holder is not None:
            yield holder
            return


def _as_engine(place: Path) -> Path:
    """Write a place as layers do; they leave out that agents stand in `entries`, which rules of commands do not."""
    return (place[0], *place[2:]) if place[:2] == ("agents", "entries") else place
