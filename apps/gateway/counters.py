"""What this process counted since it started: decisions are counted, not ledgered."""

from collections import Counter


class Counters:
    """Plain counts; adding one is atomic under the interpreter's lock."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, name: str, amount: int = 1) -> None:
        self._counts[name] += amount

    def snapshot(self) -> dict[str, int]:
        """Give all counts by name: `decisions.allowed`, `decisions.denied`, `calls.completed`, `refused.rate`, …"""
        return dict(sorted(self._counts.items()))


counters = Counters()
