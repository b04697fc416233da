"""Every page of the menu over a large policy: 1,000 agents, 10,000 groups, 100,000 sender rules.

The alternative of the funnel is what a console without an engine of its own would do while somebody types: compile the
draft anew from its rows and decide each tool by itself.
"""

import json
from collections.abc import Iterator
from typing import Any

from bench._installation import installation
from bench.figures import Figure, percentile, shown

PAGE_S, FUNNEL_S, QUERIES = 0.150, 0.060, 25
SIZE = "1,000 agents, 10,000 groups, 100,000 sender rules, 500 tools"


def measure() -> Iterator[Figure]:
    """Render pages in a process of an installation of its own."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        found = json.loads(place.run("-m", "bench._console_pages").strip().splitlines()[-1])
    pages = sorted(found["pages"], key=lambda page: -percentile(page["times"], 0.5))
    for page in pages[:5]:
        yield _time(page, f"page {page['name']}, {SIZE}")
    rest = [time for page in pages[5:] for time in page["times"]]
    yield Figure(
        f"the other {len(pages) - 5} pages of the menu, all their times",
        f"p50 {shown(percentile(rest, 0.5))}, p99 {shown(percentile(rest, 0.99))}",
    )
    most = max(pages, key=lambda page: int(page["queries"]))
    yield Figure(
        f"questions to the database, most of {len(pages)} pages",
        f"{most['queries']} ({most['name']})",
        f"≤ {QUERIES}",
        most["queries"] <= QUERIES,
    )
    yield from _funnel(found)


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
