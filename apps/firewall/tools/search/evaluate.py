"""How well search finds: recall and mean reciprocal rank over queries whose right tools are known.

`labelled.json` holds 304 tools and 207 queries of our own. Three in ten queries are held out: no word or weight was
chosen by looking at what becomes of them.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.index import SearchIndex

SHIPPED: Final = Path(__file__).with_name("labelled.json")
TRUSTED: Final = ("core", "plugin")
DEEPEST: Final = 50
"""Places that are looked at for the right tools."""

Ranking: TypeAlias = Callable[[str], Sequence[str]]
"""Gives the ids of tools for a query, best first."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A query and the ids of the tools that are right for it; each is, not all together."""

    query: str
    right: frozenset[str]
    is_held_out: bool = False


@dataclass(frozen=True, slots=True)
class Quality:
    """What a ranking is worth.

    Args:
        recall: the share of the right tools among the first k, on average over the queries.
        mrr: one by the place of the first right tool, 0 where there is none, on average.
    """

    queries: int
    k: int
    recall: float
    mrr: float


def recall_at(k: int, ranked: Sequence[str], right: Collection[str]) -> float:
    """Give the share of the right tools among the first k; at least one is right."""
    return len(set(ranked[:k]) & set(right)) / min(len(right), k)


def reciprocal_rank(ranked: Sequence[str], right: Collection[str]) -> float:
    """Give one by the place of the first right tool, 0 where none was found."""
    return next((1 / place for place, each in enumerate(ranked, start=1) if each in right), 0.0)


def quality(rank: Ranking, queries: Iterable[Labelled], *, k: int = 5) -> Quality:
    """Judge a ranking by labelled queries; without any it is worth nothing."""
    judged = [(rank(each.query), each.right) for each in queries if each.right]
    size = len(judged) or 1
    return Quality(
        queries=len(judged),
        k=k,
        recall=sum(recall_at(k, ranked, right) for ranked, right in judged) / size,
        mrr=sum(reciprocal_rank(ranked, right) for ranked, right in judged) / size,
    )


def ranking(index: SearchIndex) -> Ranking:
    """Give the ids that an index finds."""
    return lambda query: [hit.descriptor.id for hit in index.search(query, limit=DEEPEST)]


@cache
def shipped_tools() -> tuple[Descriptor, ...]:
    """Give the tools of the shipped set; those of MCP servers and clients are untrusted."""
    return tuple(Descriptor(**each, is_trusted=each["source"] in TRUSTED) for each in _shipped()["tools"])


@cache
def shipped_queries() -> tuple[Labelled, ...]:
    """Give the labelled queries of the shipped set."""
    return tuple(Labelled(each["query"], frozenset(each["right"]), each["held_out"]) for each in _shipped()["queries"])


def _shipped() -> dict[str, list[dict[str, Any]]]:
    shipped: dict[str, list[dict[str, Any]]] = json.loads(SHIPPED.read_bytes())
    return shipped
