"""Which tools a query means: Okapi BM25 over the words of a catalogue, exact names before everything.

An index is built once for a catalogue and then only read, by any number of threads. The terms of a tool are remembered,
so that the next catalogue of the same tools is ready sooner.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from apps.firewall.tools.search.descriptors import Descriptor, JsonObject
from apps.firewall.tools.search.intents import related
from apps.firewall.tools.search.rerank import FIRST, Candidate, Reranker, reordered
from apps.firewall.tools.search.words import TEXT_LIMIT, terms

if TYPE_CHECKING:
    import bm25s
    import numpy as np

QUERY_LIMIT: Final = 2_000
"""Characters of a query that count."""
QUERY_TERMS: Final = 32
RELATED_TERMS: Final = 128
"""Terms of one query, and those that may stand for them, that count."""
RELATED_WEIGHT: Final = 0.5
K1, B = 1.5, 0.5
"""How soon a repeated word counts no more, and how much a long text is held against a tool: 0 not at all, 1 in full."""
NAME_LIMIT: Final = 256
PARAMETERS_LIMIT: Final = 4_000
PARAMETERS_DEPTH: Final = 4
WEIGHTS: Final = (3, 2, 1, 1)
"""How often a word counts where it stands: in the name, the label, the description, among the parameters."""
REMEMBERED: Final = 20_000
"""Tools whose terms are remembered."""
_SPOKEN: Final = re.compile(r"[^\s`'\"()\[\]{}<>,;!?。，；！？「」“”]+")


Fields: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The terms of a tool: of its name, its label, its description, its parameters."""


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
        self._vocabulary: dict[str, int] = {}
        self._scores = self._index([_fields(each) for each in self._descriptors])

    def search(self, query: str, *, limit: int, rerank: Reranker | None = None) -> list[Hit]:
        """Find the tools that a query means, best first, each once.

        Args:
            limit: most hits; below 1 there are none.
            rerank: a second ranking of the best hits that were not named outright.
        """
        query = query[:QUERY_LIMIT]
        named = self._named(query)
        scores = self._scored(query)
        taken = set(named)
        found = [at for at in self._best(scores, limit=max(limit, FIRST)) if at not in taken]
        if rerank is not None and found:
            first = found[:FIRST]
            candidates = [_candidate(self._descriptors[at]) for at in first]
            found = [first[at] for at in reordered(query, candidates, rerank)] + found[FIRST:]
        places = [*named, *found][: max(limit, 0)]
        return [
            Hit(self._descriptors[at], 0.0 if scores is None else float(scores[at]), rank)
            for rank, at in enumerate(places, start=1)
        ]

    def _index(self, documents: "list[Fields]") -> "bm25s.BM25 | None":
        vocabulary = defaultdict[str, int](count().__next__)
        numbered: list[list[int]] = []
        for fields in documents:
            document: list[int] = []
            for field, weight in zip(fields, WEIGHTS, strict=True):
                document += [vocabulary[term] for term in field] * weight
            numbered.append(document)
        self._vocabulary = dict(vocabulary)
        if not vocabulary:
            return None
        scores: bm25s.BM25 = _library().BM25(k1=K1, b=B)
        scores.index((numbered, self._vocabulary), create_empty_token=False, show_progress=False)
        return scores

    def _named(self, query: str) -> list[int]:
        """Give the places of the tools that a query names: it is a name, or holds one that is no plain word."""
        whole = query.strip()
        spoken = (word.strip(".:") for word in _SPOKEN.findall(query))
        names = [whole, *(word for word in spoken if not word.isalpha())]
        return list(dict.fromkeys(at for name in names for at in self._called(name)))

    def _called(self, name: str) -> list[int]:
        found = self._names.get(name.casefold(), [])
        return sorted(found, key=lambda at: (self._descriptors[at].name != name, self._descriptors[at].id))

    def _scored(self, query: str) -> "np.ndarray[Any, Any] | None":
        if self._scores is None:
            return None
        left = RELATED_TERMS
        total = None
        for term, others in related(terms(query, limit=QUERY_LIMIT)[:QUERY_TERMS]):
            known = [self._vocabulary[each] for each in others if each in self._vocabulary][:left]
            left -= len(known)
            best = self._of_term(self._vocabulary.get(term), known)
            if best is not None:
                total = best if total is None else total + best
        return total

    def _of_term(self, own: int | None, others: list[int]) -> "np.ndarray[Any, Any] | None":
        """Score one meaning: by its own word, or less by another one of the same meaning, not by both."""
        if self._scores is None or (own is None and not others):
            return None
        import numpy as np

        best = self._scores.get_scores_from_ids([] if own is None else [own])
        for other in others:
            np.maximum(best, self._scores.get_scores_from_ids([other]) * np.float32(RELATED_WEIGHT), out=best)
        return best

    def _best(self, scores: "np.ndarray[Any, Any] | None", *, limit: int) -> list[int]:
        if scores is None:
            return []
        import numpy as np

        places = np.flatnonzero(scores > 0)
        if len(places) > limit:
            least = np.partition(scores[places], -limit)[-limit]
            places = places[scores[places] >= least]
        descriptors = self._descriptors
        best = sorted(places.tolist(), key=lambda at: (-scores[at], descriptors[at].name, descriptors[at].id))
        return best[:limit]


def _fields(descriptor: Descriptor) -> Fields:
    """Give the terms of a tool by where they stand, from memory where they are known."""
    schema = descriptor.parameters if descriptor.is_trusted else _NO_SCHEMA
    key = (descriptor.id, descriptor.name, descriptor.label, descriptor.description, id(schema))
    known = _remembered.get(key)
    if known is not None:
        return known[0]
    named = terms(descriptor.name, limit=NAME_LIMIT)
    fields = (
        (*named, *(term for term in terms(descriptor.id, limit=NAME_LIMIT) if term not in named)),
        tuple(terms(descriptor.label, limit=NAME_LIMIT)),
        tuple(terms(descriptor.description)),
        tuple(terms(_parameters_text(schema))),
    )
    with _remembering:
        while len(_remembered) >= REMEMBERED:
            del _remembered[next(iter(_remembered))]
        _remembered[key] = (fields, schema)
    return fields


_NO_SCHEMA: Final[JsonObject] = {}
_remembered: dict[tuple[str, str, str, str, int], tuple[Fields, JsonObject]] = {}
"""By the words of a tool and the very schema; it is kept, for its number is nobody else's only as long as it lives."""
_remembering: Final = Lock()


def _names(descriptors: Sequence[Descriptor]) -> dict[str, list[int]]:
    """Map what a tool may be called outright, in lower case, to the places of those tools."""
    found: dict[str, list[int]] = {}
    for at, each in enumerate(descriptors):
        for name in {each.name, each.id, each.id.partition(":")[2]}:
            found.setdefault(name.strip().casefold(), []).append(at)
    found.pop("", None)
    return found


def _candidate(descriptor: Descriptor) -> Candidate:
    schema = descriptor.parameters if descriptor.is_trusted else _NO_SCHEMA
    words = (descriptor.label, descriptor.description[:TEXT_LIMIT], _parameters_text(schema))
    return Candidate(descriptor.id, descriptor.name, "\n".join(filter(None, words)))


def _parameters_text(schema: JsonObject) -> str:
    text, size = [], 0
    for piece in _of_parameters(schema, depth=PARAMETERS_DEPTH):
        text.append(piece)
        size += len(piece) + 1
        if size >= PARAMETERS_LIMIT:
            break
    return " ".join(text)[:PARAMETERS_LIMIT]


def _of_parameters(schema: object, *, depth: int) -> Iterator[str]:
    """Give the names and descriptions of parameters, also of those inside others."""
    if not isinstance(schema, Mapping) or depth == 0:
        return
    properties = schema.get("properties")
    for name, each in properties.items() if isinstance(properties, Mapping) else ():
        yield str(name)
        if isinstance(each, Mapping):
            if isinstance(description := each.get("description"), str):
                yield description
            yield from _of_parameters(each, depth=depth - 1)
    yield from _of_parameters(schema.get("items"), depth=depth - 1)


@lru_cache(maxsize=1)
def _library() -> Any:
    """Import what counts when something is searched first: it takes a tenth of a second, and few processes search."""
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells each index to whoever listens
    return bm25s
