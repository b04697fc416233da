"""Replay of past calls, reading them from the database among it, beside asking the engine about each call by itself."""

import json
from collections.abc import Iterator

from bench._installation import installation
from bench.figures import Figure, shown

CALLS, RATE, BUILD_S = 200_000, 50_000, 900


def measure() -> Iterator[Figure]:
    """Record calls of 20 agents in 2,000 contexts, change the draft, and replay them."""
    with installation() as place:
        place.run("manage.py", "prepare_database")
        ran = json.loads(
            place.run("-m", "bench._replayed_calls", str(CALLS), timeout_s=BUILD_S).strip().splitlines()[-1]
        )
    if ran["counts"] != ran["naive_counts"]:
        raise RuntimeError(f"replay and the plain way differ: {ran['counts']}, {ran['naive_counts']}")
    rate, plain = CALLS / ran["seconds"], ran["naive_calls"] / ran["naive_seconds"]
    what = f"replay of {CALLS:,} recorded calls, {ran['flips']:,} of which flip, with reading them"
    yield Figure(what, f"{rate:,.0f} calls/s, {shown(ran['seconds'])}", f"≥ {RATE:,} calls/s", rate >= RATE)
    value = f"{plain:,.0f} calls/s, {rate / plain:.1f} times slower"
    yield Figure(f"the same call by call, {ran['naive_calls']:,} of them", value)
