"""What people mean: words of one meaning, and phrases that ask for something without naming it.

General English and Chinese of those who ask for tools, no list of tools. A word brings the others of its lines along,
with less weight than it has itself.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

from apps.firewall.tools.search.words import terms

TABLE: Final = Path(__file__).with_name("intents.txt")
LONGEST_PHRASE: Final = 3
"""Terms of the longest phrase."""
LONGEST_GAP: Final = 3
"""Terms between a verb and its particle."""
PARTICLES: Final = "on off up down back out away over"
FAINT_WEIGHT: Final = 0.3

FAINT: Final = """
today tonight tomorrow yesterday now soon later week weekend month year hour minute day morning afternoon evening night
monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
november december next last old new good great nice right same other another someone somebody people everyone one two
three four five six seven eight nine ten first second still again already always never only much many lot more most less
long ago back up on off out down over away get make take give put go come know see look try say tell show work
"""
"""Words that say when, how many or how much, and verbs that stand for any other; a tool is hardly found by them."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """One thing that a query says.

    Args:
        term: as it says it.
        others: what may stand for it.
        weight: how much it says, up to 1.
    """

    term: str
    others: tuple[str, ...]
    weight: float = 1.0


def meanings(found: Sequence[str]) -> list[Meaning]:
    """Give what the terms of a query mean, each once in their order. A phrase counts for more than its words do."""
    tables = _tables()
    phrases = dict(_phrases(tables, found))
    spoken = {at for places in phrases for at in places}
    meant = {asked[0]: Meaning(asked[0], asked[1:]) for asked in phrases.values()}
    for at, term in enumerate(found):
        is_faint = at in spoken or term in tables.faint
        others = () if at in spoken else _without(term, (*tables.same.get(term, ()), *tables.asks.get((term,), ())))
        meant.setdefault(term, Meaning(term, others, FAINT_WEIGHT if is_faint else 1.0))
    return list(meant.values())


def _phrases(tables: "_Tables", found: Sequence[str]) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    """Find the phrases of a query, with the places of their terms; `turn the light off` holds one, too."""
    for at in range(len(found) - 1):
        for size in range(LONGEST_PHRASE, 1, -1):
            places = tuple(range(at, min(at + size, len(found))))
            if asked := tables.asks.get(tuple(found[each] for each in places)):
                yield places, asked
                break
        else:
            for end in range(at + 2, min(at + LONGEST_GAP + 2, len(found))):
                if found[end] in tables.particles and (asked := tables.asks.get((found[at], found[end]))):
                    yield (at, end), asked


def _without(term: str, others: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each for each in others if each != term))


@dataclass(frozen=True, slots=True)
class _Tables:
    same: Mapping[str, tuple[str, ...]]
    asks: Mapping[tuple[str, ...], tuple[str, ...]]
    faint: frozenset[str]
    particles: frozenset[str]


@cache
def _tables() -> _Tables:
    lines = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    phrases = [line.split(">") for line in lines if ">" in line]
    same: defaultdict[str, list[str]] = defaultdict(list)
    for line in lines:
        head, colon, rest = line.partition(":")
        near = _words(rest if colon else line)
        for one, other in product(_words(head), near) if ">" not in line else ():
            same[one].append(other)
            same[other].append(one)
    return _Tables(
        same={term: _without(term, others) for term, others in same.items()},
        asks={tuple(terms(phrase)): _words(asked) for phrase, asked in phrases},
        faint=frozenset(terms(FAINT)),
        particles=frozenset(terms(PARTICLES)),
    )


def _words(line: str) -> tuple[str, ...]:
    """Give a term for each word; a Chinese one of two characters is that pair alone."""
    return tuple(found[-1] for word in line.split() if (found := terms(word)))
