"""How well search finds: on the shipped queries and tools, and on an environment's own, against what is live."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.tools.search.evaluate import (
    DEEPEST,
    Labelled,
    ranking,
    recall_at,
    reciprocal_rank,
    shipped_queries,
    shipped_tools,
)
from apps.firewall.tools.search.index import SearchIndex
from apps.gateway.tool_runs.catalogues import RunCatalogue, made_catalogue
from apps.runs.models import SearchLabel

DEPTHS: Final = (1, 3, 5, 10)
ASKED_AT_ONCE: Final = 300
"""Labelled queries that a page or a program has asked, the newest; the command asks all."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What search is worth on some labelled queries.

    Args:
        recall: the share of the right tools among the first k, by k of `DEPTHS`; on average over the queries.
        mrr: one by the place of the first right tool, on average.
        absent: how many queries were not asked: none of their tools is in the catalogue.
    """

    tools: int
    queries: int
    recall: Mapping[int, float]
    mrr: float
    absent: int = 0


@cache
def shipped_measured() -> Measured:
    """Measure the search of this release with the labelled queries that come with it."""
    rank = ranking(SearchIndex(shipped_tools()))
    return _measured(len(shipped_tools()), rank, shipped_queries())


def labels_measured(snapshot: Snapshot | None, labels: Iterable[SearchLabel]) -> Measured:
    """Measure search over every tool of a snapshot with an environment's own labelled queries."""
    asked = tuple((each.query, tuple(each.tools)) for each in labels)
    if snapshot is None or not asked:
        return Measured(0, 0, dict.fromkeys(DEPTHS, 0.0), 0.0, absent=len(asked))
    return _own(snapshot, asked)


@lru_cache(maxsize=4)
def whole_catalogue(snapshot: Snapshot) -> RunCatalogue:
    """Give every tool of a snapshot, whoever may use it."""
    return made_catalogue(snapshot, tuple(snapshot.tool_names), ())


@lru_cache(maxsize=16)
def _own(snapshot: Snapshot, asked: tuple[tuple[str, tuple[str, ...]], ...]) -> Measured:
    catalogue = whole_catalogue(snapshot)
    ids = {each.name: each.id for each in catalogue.tools.descriptors}
    found = [(query, frozenset(ids[name] for name in names if name in ids)) for query, names in asked]
    labelled = [Labelled(query, right) for query, right in found if right]
    measured = _measured(len(ids), ranking(catalogue.index), labelled)
    return Measured(measured.tools, measured.queries, measured.recall, measured.mrr, absent=len(asked) - len(labelled))


def _measured(tools: int, rank: Callable[[str], Sequence[str]], labelled: Sequence[Labelled]) -> Measured:
    judged = [(list(rank(each.query))[:DEEPEST], each.right) for each in labelled]
    size = len(judged) or 1
    recall = {k: sum(recall_at(k, ranked, right) for ranked, right in judged) / size for k in DEPTHS}
    return Measured(tools, len(judged), recall, sum(reciprocal_rank(*each) for each in judged) / size)
