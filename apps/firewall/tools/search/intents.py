"""What people mean: words of one meaning, and phrases that ask for something without naming it.

General English and Chinese of those who ask for tools, no list of tools. A word brings the others of its lines along,
with less weight than it has itself.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

from apps.firewall.tools.search.words import terms

LONGEST_PHRASE: Final = 3
"""Terms of the longest phrase."""

SAME: Final = """
create, add, new, make, insert, register
"""

ASKS: Final = """
look up: search, find, web
price: search, web
"""


def related(found: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Give the terms of a query, each once in its order, with the terms that may stand for it."""
    same, asks = _tables()
    ways: dict[str, list[str]] = {term: [] for term in found}
    for at, term in enumerate(found):
        ways[term] += same.get(term, ())
        for size in range(1, LONGEST_PHRASE + 1):
            ways[term] += asks.get(tuple(found[at : at + size]), ())
    return [(term, tuple(dict.fromkeys(each for each in others if each != term))) for term, others in ways.items()]


@cache
def _tables() -> tuple[dict[str, list[str]], dict[tuple[str, ...], list[str]]]:
    same: dict[str, list[str]] = {}
    asks: dict[tuple[str, ...], list[str]] = {}
    for line in SAME.strip().splitlines():
        group = terms(line)
        for term in group:
            same.setdefault(term, []).extend(group)
    for line in ASKS.strip().splitlines():
        phrase, _, meant = line.partition(":")
        asks.setdefault(tuple(terms(phrase)), []).extend(terms(meant))
    return same, asks
