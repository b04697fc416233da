"""A second ranking, by whatever reads meaning better than words do; off unless it is named.

An installed package offers one as an entry point of `openclaw_admin.search_rerankers`: a class or function without
arguments that gives a `Reranker`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final, Protocol, runtime_checkable

from apps.firewall.errors import FirewallError

GROUP: Final = "openclaw_admin.search_rerankers"
SETTING: Final = "TOOL_SEARCH_RERANKER"
FIRST: Final = 50
"""Candidates that a second ranking may reorder."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What a second ranking reads of a tool: the same words as the first, never the schema of an untrusted one."""

    id: str
    name: str
    text: str


@runtime_checkable
class Reranker(Protocol):
    """Ranks what was found by words."""

    def order(self, query: str, candidates: Sequence[Candidate]) -> Sequence[float]:
        """Give a score for each candidate in their order, the higher the better."""


class RerankerError(FirewallError):
    """The named second ranking is not there, or is none."""

    code = "search_reranker_unusable"


def reranker_named(name: str) -> Reranker | None:
    """Load the second ranking of an installed package.

    Args:
        name: of its entry point, "" for none.
    Raises:
        RerankerError: nothing installed has that name, it cannot be loaded, or it ranks nothing.
    """
    if not name:
        return None
    offered = {each.name: each for each in entry_points(group=GROUP)}
    if name not in offered:
        known = ", ".join(f"`{each}`" for each in sorted(offered)) or "none is installed"
        raise RerankerError(f"{SETTING}: no second ranking `{name}`: {known}")
    try:
        reranker = offered[name].load()()
    except Exception as exc:  # whatever somebody else's code raises is its failure
        raise RerankerError(f"{SETTING}: `{name}` cannot be loaded: {type(exc).__name__}") from exc
    if not isinstance(reranker, Reranker):
        raise RerankerError(f"{SETTING}: `{name}` is no second ranking: it has no `order`")
    return reranker


def reordered(query: str, candidates: Sequence[Candidate], reranker: Reranker) -> list[int]:
    """Give the places of at most the first 50 candidates in the order of a second ranking.

    A second ranking that fails, or whose answer is no list of numbers, one for each, changes nothing.
    """
    as_they_are = list(range(len(candidates)))
    try:
        scores = [float(score) for score in reranker.order(query, tuple(candidates))]
    except Exception:  # noqa: BLE001 - somebody else's code; the order by words stands
        return as_they_are
    if len(scores) != len(candidates) or not all(map(math.isfinite, scores)):
        return as_they_are
    return sorted(as_they_are, key=lambda at: -scores[at])
