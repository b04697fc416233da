"""Figures and groups of a replay: bounded, whatever was called, and written down between two parts."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.engine.replay import Answer, Outcome

GROUPS_MOST: Final = 400
CALLS_NAMED: Final = 5
CHANGES: Final = ("unasked", "allowed", "blocked", "asked", "unknown")
"""What becomes of calls, in the order in which people read it: what would run now stands first."""


@dataclass(frozen=True, slots=True)
class GroupKey:
    """Calls that change alike: of one agent and tool, decided by the same before and after."""

    change: str
    agent: str
    tool: str
    now: Answer | None
    draft: Answer | None
    reason: str = ""


@dataclass(slots=True)
class Group:
    """How many calls change alike, and a few of them, the newest first."""

    count: int = 0
    calls: list[str] = field(default_factory=list)

    def add(self, count: int, call: str) -> None:
        self.count += count
        self.calls = sorted({*self.calls, call}, reverse=True)[:CALLS_NAMED]  # such ids are in order of time


@dataclass(slots=True)
class Tally:
    """What became of the calls so far. `left` counts, by change, the calls whose group had no room."""

    counts: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    groups: dict[GroupKey, Group] = field(default_factory=dict)

    def add(self, agent: str, tool: str, outcome: Outcome, count: int, call: str) -> None:
        """Count calls that are alike."""
        self.counts[outcome.change] += count
        if outcome.change == "same":
            return
        key = GroupKey(outcome.change, agent, tool, outcome.now, outcome.draft, outcome.reason)
        group = self.groups.get(key)
        if group is None:
            if len(self.groups) >= GROUPS_MOST:
                self.left[outcome.change] += count
                return
            group = self.groups[key] = Group()
        group.add(count, call)

    def to_json(self) -> dict[str, Any]:
        """Write it down, the groups in the order in which people read them."""
        ordered = sorted(
            self.groups.items(),
            key=lambda item: (CHANGES.index(item[0].change), -item[1].count, item[0].agent, item[0].tool),
        )
        return {
            "counts": dict(self.counts),
            "left": dict(self.left),
            "groups": [_written(key, group) for key, group in ordered],
        }

    @classmethod
    def read(cls, written: dict[str, Any]) -> "Tally":
        """Read what `to_json` wrote; an empty object is an empty tally."""
        groups = {}
        for each in written.get("groups", ()):
            groups[_key(each)] = Group(each["count"], list(each["calls"]))
        return cls(Counter(written.get("counts", {})), Counter(written.get("left", {})), groups)


def _written(key: GroupKey, group: Group) -> dict[str, Any]:
    return {
        "change": key.change,
        "agent": key.agent,
        "tool": key.tool,
        "now": None if key.now is None else key.now._asdict(),
        "draft": None if key.draft is None else key.draft._asdict(),
        "reason": key.reason,
        "count": group.count,
        "calls": group.calls,
    }


def _key(written: dict[str, Any]) -> GroupKey:
    now, draft = (None if written[side] is None else Answer(**written[side]) for side in ("now", "draft"))
    return GroupKey(written["change"], written["agent"], written["tool"], now, draft, written["reason"])
