"""A call of a tool that does nothing, with both of its entries on disk; and results of 1 MB on their way."""

import json
from collections.abc import Iterable

from bench._installation import installation
from bench.figures import Figure, percentile, shown

SECONDS = 10.0
MEDIAN_S, RATE, RESULT_S = 0.008, 400, 0.060


def measure() -> Iterable[Figure]:
    """Make calls one after the other, then sixteen at a time, in one process with a database of its own."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        ran = json.loads(place.run("-m", "bench._runtime_calls", str(SECONDS)).splitlines()[-1])
    median = percentile(ran["alone"], 0.5)
    value = f"p50 {shown(median)}, p99 {shown(percentile(ran['alone'], 0.99))}"
    yield Figure("audited call of an in-process tool, one at a time", value, "p50 ≤ 8 ms", median <= MEDIAN_S)
    together = ran["together"]
    value = f"{ran['rate']:,.0f}/s, p50 {shown(percentile(together, 0.5))}, p99 {shown(percentile(together, 0.99))}"
    yield Figure(f"the same, 16 callers for {SECONDS:.0f} s in one process", value, f"≥ {RATE}/s", ran["rate"] >= RATE)
    yield Figure("the same, calls that did not complete", str(ran["bad"]), "0", ran["bad"] == 0)
    for name, taken in ran["results"].items():
        middle = percentile(taken, 0.5)
        what = f"1 MB of {name} masked, cut for callers (10,000 characters) and for the ledger (256 KiB)"
        yield Figure(what, f"p50 {shown(middle)}", "≤ 60 ms", middle <= RESULT_S)
