"""Tool search: an index of 5,000 tools, the time of one search, and how often the right tool is among the first."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from statistics import median

from apps.firewall.tools.search import fields
from apps.firewall.tools.search.descriptors import Descriptor
from apps.firewall.tools.search.evaluate import Labelled, Quality, quality, ranking, shipped_queries, shipped_tools
from apps.firewall.tools.search.index import SearchIndex
from bench.figures import Figure, percentile, shown, timed

TOOLS = 5_000
INDEX_S, SEARCH_S, RECALL = 0.3, 0.005, 0.9
ROUNDS = 5
LIMIT = 20
WORD = re.compile(r"\w+")


def measure() -> Iterator[Figure]:
    """Measure a catalogue of 5,000 tools, and what is found in the labelled one."""
    tools = many(TOOLS)
    SearchIndex(tools[:1])  # the library is imported once in a process
    afresh = min(timed(partial(_afresh, tools), rounds=ROUNDS))
    yield Figure(f"search index of {TOOLS:,} tools, built", shown(afresh), f"≤ {shown(INDEX_S)}", afresh <= INDEX_S)
    again = min(timed(partial(SearchIndex, tools), rounds=ROUNDS))
    yield Figure("the same of tools whose words are known", shown(again))
    yield _searches(SearchIndex(tools))
    yield from _qualities()


def many(size: int) -> list[Descriptor]:
    """Make a catalogue of the labelled tools, again and again under other plugins and with words of their own."""
    shipped = shipped_tools()
    return [_another(shipped[number % len(shipped)], number) for number in range(size)]


def _another(tool: Descriptor, number: int) -> Descriptor:
    copy = f"unit{number // 300}"
    return replace(
        tool,
        id=f"{tool.id}_{number}",
        name=f"{tool.name}_{number}",
        description=f"{tool.description} For {copy} and what belongs to area {number % 97}.",
        parameters={**tool.parameters, "title": copy},
    )


def _afresh(tools: list[Descriptor]) -> SearchIndex:
    fields.forget()
    return SearchIndex(tools)


def _searches(index: SearchIndex) -> Figure:
    queries = shipped_queries()
    times = [median(timed(partial(index.search, each.query, limit=LIMIT), rounds=ROUNDS)) for each in queries]
    middle, high = percentile(times, 0.5), percentile(times, 0.99)
    return Figure(
        f"one search among {TOOLS:,} tools, {len(queries)} queries, {ROUNDS} times each",
        f"p50 {shown(middle)}, p99 {shown(high)}",
        f"p99 ≤ {shown(SEARCH_S)}",
        high <= SEARCH_S,
    )


def _qualities() -> Iterator[Figure]:
    queries = shipped_queries()
    ranked = ranking(SearchIndex(shipped_tools()))
    reached = quality(ranked, queries)
    held_out = [each for each in queries if each.is_held_out]
    yield Figure(
        f"recall@5, {len(queries)} labelled queries over {len(shipped_tools())} tools",
        _told(reached),
        f"≥ {RECALL}",
        reached.recall >= RECALL,
    )
    yield Figure(f"the same of the {len(held_out)} queries held out", _told(quality(ranked, held_out)))
    yield Figure("the same by counting the words that a tool's text holds", _told(_naive(queries)))


def _naive(queries: tuple[Labelled, ...]) -> Quality:
    """Judge the ranking that one would write first: how many words of the query are somewhere in the text of a tool."""
    texts = {each.id: f"{each.id} {each.name} {each.label} {fields.text(each)}".casefold() for each in shipped_tools()}

    def rank(query: str) -> list[str]:
        words = set(WORD.findall(query.casefold()))
        counts = {tool: sum(word in text for word in words) for tool, text in texts.items()}
        return sorted((tool for tool, found in counts.items() if found), key=lambda tool: (-counts[tool], tool))

    return quality(rank, queries)


def _told(reached: Quality) -> str:
    return f"{reached.recall:.3f}, MRR {reached.mrr:.3f}"
