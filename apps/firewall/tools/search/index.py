"""Which tools a query means: Okapi BM25 over the words of a catalogue, exact names before everything.

An index is built once for a catalogue and then only read, by any number of threads.
"""

import logging
import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.fields import WEIGHTS, fields, text
from apps.firewall.tools.search.intents import meanings
from apps.firewall.tools.search.rerank import FIRST, Candidate, Reranker, reordered
from apps.firewall.tools.search.words import terms

if TYPE_CHECKING:
    import numpy as np

    Scores: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
    Places: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]

QUERY_LIMIT: Final = 2_000
"""Characters of a query that count."""
QUERY_TERMS: Final = 48
QUERY_NAMES: Final = 48
RELATED_TERMS: Final = 128
"""Terms of one query, names in it, and terms that may stand for others, that count."""
RELATED_WEIGHT: Final = 0.9
"""What a word is worth beside the one that was said."""
K1, B = 1.2, 0.5
"""How soon a repeated word counts no more, and how much a long text is held against a tool: 0 not at all, 1 in full."""
_SPOKEN: Final = re.compile(r"[^\s`'\"()\[\]{}<>,;!?。，；！？「」“”]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """One tool that was found.

    Args:
        score: how well its words match; a tool that was named outright stands first whatever its score.
        rank: its place, from 1.
    """

    descriptor: Descriptor
    score: float
    rank: int


class SearchIndex:
    """The words of one catalogue."""

    def __init__(self, descriptors: Sequence[Descriptor]) -> None:
        self._descriptors = tuple(descriptors)
        self._names = _names(self._descriptors)
        self._vocabulary, documents = _numbered(self._descriptors)
        self._postings = _Postings(documents, self._vocabulary) if self._vocabulary else None

    def search(self, query: str, *, limit: int, rerank: Reranker | None = None) -> list[Hit]:
        """Find the tools that a query means, best first, each once.

        Args:
            limit: most hits; below 1 there are none.
            rerank: a second ranking of the best hits that were not named outright.
        """
        query = query[:QUERY_LIMIT]
        named = self._named(query)
        scores = self._scored(query)
        found = [at for at in self._best(scores, limit=max(limit, FIRST) + len(named)) if at not in set(named)]
        if rerank is not None and found:
            candidates = [_candidate(self._descriptors[at]) for at in found[:FIRST]]
            found = [found[at] for at in reordered(query, candidates, rerank)] + found[FIRST:]
        places = [*named, *found][: max(limit, 0)]
        return [
            Hit(self._descriptors[at], 0.0 if scores is None else float(scores[at]), rank)
            for rank, at in enumerate(places, start=1)
        ]

    def _named(self, query: str) -> list[int]:
        """Give the places of the tools that a query names: it is a name, or holds one that is no plain word."""
        whole = query.strip()
        spoken = (word.strip(".:") for word in _SPOKEN.findall(query)[:QUERY_NAMES])
        names = [whole, *(word for word in spoken if not word.isalpha())]
        return list(dict.fromkeys(at for name in names for at in self._called(name)))

    def _called(self, name: str) -> list[int]:
        found = self._names.get(name.casefold(), [])
        return sorted(found, key=lambda at: (self._descriptors[at].name.strip() != name, self._descriptors[at].id))

    def _scored(self, query: str) -> "Scores | None":
        """Score each tool for a query; None when no word of it is known."""
        if self._postings is None:
            return None
        left = RELATED_TERMS
        total = None
        for meaning in meanings(terms(query, limit=QUERY_LIMIT)[:QUERY_TERMS]):
            others = [self._vocabulary[each] for each in meaning.others if each in self._vocabulary][:left]
            left -= len(others)
            scores = self._postings.of_meaning(self._vocabulary.get(meaning.term), others)
            if scores is not None:
                scores *= meaning.weight
                total = scores if total is None else total + scores
        return total

    def _best(self, scores: "Scores | None", *, limit: int) -> list[int]:
        if scores is None:
            return []
        import numpy as np

        places = np.flatnonzero(scores > 0)
        if len(places) > limit:
            least = np.partition(scores[places], -limit)[-limit]
            places = places[scores[places] >= least]
        descriptors = self._descriptors
        return sorted(places.tolist(), key=lambda at: (-scores[at], descriptors[at].name, descriptors[at].id))[:limit]


def _names(descriptors: Sequence[Descriptor]) -> dict[str, list[int]]:
    """Map what a tool may be called outright, in lower case, to the places of those tools."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for at, each in enumerate(descriptors):
        place = each.id.strip().casefold()
        for name in {each.name.strip().casefold(), place, place.partition(":")[2].strip()} - {""}:
            found[name].append(at)
    return dict(found)


def _numbered(descriptors: Sequence[Descriptor]) -> tuple[dict[str, int], list[list[int]]]:
    """Give each term a number, and each tool the numbers of its terms, as often as they count."""
    vocabulary = defaultdict[str, int](count().__next__)
    documents: list[list[int]] = []
    for each in descriptors:
        document: list[int] = []
        for field, weight in zip(fields(each), WEIGHTS, strict=True):
            document += [vocabulary[term] for term in field] * weight
        documents.append(document)
    return dict(vocabulary), documents


@cache
def _library() -> Any:
    """Import what counts when something is searched first: it takes a tenth of a second, and few processes search."""
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells each index to whoever listens
    return bm25s


class _Postings:
    """Which tools hold a term, and how well they match it."""

    def __init__(self, documents: list[list[int]], vocabulary: dict[str, int]) -> None:
        index = _library().BM25(k1=K1, b=B)
        index.index((documents, vocabulary), create_empty_token=False, show_progress=False)
        self._scores: Scores = index.scores["data"]
        self._places: Places = index.scores["indices"]
        self._begins: list[int] = index.scores["indptr"].tolist()
        self._tools = len(documents)

    def of_meaning(self, own: int | None, others: list[int]) -> "Scores | None":
        """Score one meaning: by its own word, or less by another one for it, not by both.

        A meaning is as common as all its words together: a rare word for something common says little.
        """
        if own is None and not others:
            return None
        import numpy as np

        words = others if own is None else [own, *others]
        spans = [slice(self._begins[each], self._begins[each + 1]) for each in words]
        anywhere = np.zeros(self._tools, dtype=np.bool_)
        for span in spans:
            anywhere[self._places[span]] = True
        rarity = self._rarity(int(np.count_nonzero(anywhere)))
        best = np.zeros(self._tools, dtype=np.float32)
        for word, span in zip(words, spans, strict=True):
            share = rarity / self._rarity(span.stop - span.start)
            weight = np.float32((1 + share) / 2 if word == own else RELATED_WEIGHT * share)
            places = self._places[span]
            best[places] = np.maximum(best[places], self._scores[span] * weight)
        return best

    def _rarity(self, tools: int) -> float:
        return math.log(1 + (self._tools - tools + 0.5) / (tools + 0.5))


def _candidate(descriptor: Descriptor) -> Candidate:
    return Candidate(descriptor.id, descriptor.name, text(descriptor))
