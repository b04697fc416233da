"""The machine itself: a fixed piece of plain Python, by which figures of two machines can be compared."""

from collections.abc import Iterator

from bench.figures import Figure, shown, timed

STEPS, ROUNDS = 20_000, 25


def measure() -> Iterator[Figure]:
    """Measure the quickest of several runs: what else the machine does makes no run quicker."""
    quickest = min(timed(work, rounds=ROUNDS))
    yield Figure(f"this machine: {STEPS:,} steps of plain Python, quickest of {ROUNDS}", shown(quickest))


def work() -> int:
    """Look up, call, add and build small values, in the proportions that the firewall does."""
    known = {f"name {number}": number for number in range(64)}
    names = list(known)
    total = 0
    for step in range(STEPS):
        name = names[step & 63]
        total += _amount(known[name], name) & len((name, step, total))
    return total


def _amount(number: int, name: str) -> int:
    return number + len(name)
