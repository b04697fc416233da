"""What a benchmark hands back, and helpers to take times."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table in docs/performance.md.

    Args:
        what: the thing measured, with its size: `decision, 500 tools, 100,000 sender rules`.
        value: the figures with their units: `p50 1.9 µs, p99 3.1 µs`.
        goal: what it has to reach: `p99 ≤ 6 µs`; empty when it only informs.
        holds: whether it does; None without a goal.
    """

    what: str
    value: str
    goal: str = ""
    holds: bool | None = None


def percentile(times: Sequence[float], share: float) -> float:
    """Give the value below which a share (0 to 1) of the times lies."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def timed(call: Callable[[], object], *, rounds: int) -> list[float]:
    """Run a call so many times and return the seconds of each."""
    times = []
    clock = time.perf_counter
    for _ in range(rounds):
        started = clock()
        call()
        times.append(clock() - started)
    return times


def shown(seconds: float) -> str:
    """Write a duration with the unit that fits: `1.9 µs`, `3.1 ms`, `1.2 s`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
