"""The page of the queue with 1,000 pending requests: similar ones on one card, beside a card for each of them.

The alternative is what a queue does without taking similar requests together: the same page, templates and rows in the
same run, with nothing left out.
"""

import json
from collections.abc import Iterator

from bench._installation import installation
from bench.figures import Figure, percentile, shown

LIMIT_S = 0.300


def measure() -> Iterator[Figure]:
    """Render the page in a process of an installation of its own."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        times = json.loads(place.run("-m", "bench._queue_page").strip().splitlines()[-1])
    for name, what in (("similar", "1,000 similar pending requests"), ("different", "1,000 different ones, 30 cards")):
        worst = percentile(times[name], 0.95)
        value = f"p50 {shown(percentile(times[name], 0.5))}, p95 {shown(worst)}"
        yield Figure(f"page of the queue, {what}", value, "p95 ≤ 300 ms", worst <= LIMIT_S)
    alone, together = percentile(times["alone"], 0.5), percentile(times["similar"], 0.5)
    yield Figure("the same with a card for each request", f"p50 {shown(alone)}")
    yield Figure("the same, how much sooner one card for similar ones is (medians)", f"{alone / together:.1f}x")
