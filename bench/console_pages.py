"""Every page of the menu over a large policy: 1,000 agents, 10,000 groups, 100,000 sender rules, ten guardrails, fifty
policy tests, and a ledger; `make bench-audit` asks for the same pages over its 5,000,000 entries.

The alternative of the funnel is what a console without an engine of its own would do while somebody types: compile the
draft anew from its rows and decide each tool by itself.
"""

import json
from collections.abc import Iterator
from typing import Any

from bench._installation import Installation, installation
from bench.figures import Figure, percentile, shown

PAGE_S, FUNNEL_S, QUERIES = 0.150, 0.060, 25
SIZE = "1,000 agents, 10,000 groups, 100,000 sender rules, 500 tools"
ENTRIES, PAGES_S = 200_000, 1800.0


def measure() -> Iterator[Figure]:
    """Render pages in a process of an installation of its own."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        place.run("-m", "bench._audit_rows", str(ENTRIES))
        place.run("-m", "bench._audit_find", "follow")
        found = rendered(place)
    yield from figures_of(found["pages"], ENTRIES)
    yield from _funnel(found)


def rendered(place: Installation) -> dict[str, Any]:
    """Ask for the pages in an installation whose ledger is filled."""
    found: dict[str, Any] = json.loads(
        place.run("-m", "bench._console_pages", timeout_s=PAGES_S).strip().splitlines()[-1]
    )
    return found


def figures_of(pages: list[dict[str, Any]], entries: int) -> Iterator[Figure]:
    """Tell of the slowest pages one by one, of the others together."""
    pages = sorted(pages, key=lambda page: -percentile(page["times"], 0.5))
    for page in pages[:5]:
        yield _time(page, f"page {page['name']}, {SIZE}, {entries:,} entries")
    rest = [time for page in pages[5:] for time in page["times"]]
    yield Figure(
        f"the other {len(pages) - 5} pages of the menu, {entries:,} entries, all their times",
        f"p50 {shown(percentile(rest, 0.5))}, p99 {shown(percentile(rest, 0.99))}",
    )
    most = max(pages, key=lambda page: int(page["queries"]))
    yield Figure(
        f"questions to the database, most of {len(pages)} pages, {entries:,} entries",
        f"{most['queries']} ({most['name']})",
        f"≤ {QUERIES}",
        most["queries"] <= QUERIES,
    )


def _time(page: dict[str, Any], what: str) -> Figure:
    middle, high = percentile(page["times"], 0.5), percentile(page["times"], 0.99)
    value = f"p50 {shown(middle)}, p99 {shown(high)}, {page['queries']} questions"
    return Figure(what, value, f"p50 ≤ {shown(PAGE_S)}", middle <= PAGE_S)


def _funnel(found: dict[str, Any]) -> Iterator[Figure]:
    middle, high = percentile(found["funnel"], 0.5), percentile(found["funnel"], 0.99)
    value = f"p50 {shown(middle)}, p99 {shown(high)}"
    yield Figure(f"funnel after a keystroke, {SIZE}", value, f"p50 ≤ {shown(FUNNEL_S)}", middle <= FUNNEL_S)
    alone = percentile(found["recompiled"], 0.5)
    yield Figure("the same by compiling the draft anew", f"p50 {shown(alone)}; {alone / middle:.0f} times as long")
