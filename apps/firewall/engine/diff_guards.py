"""What changes about tools themselves between two snapshots, and about the grants and content filters they meet.

Who has which tool is compared elsewhere (`diff`). A tool can stay in everybody's set, and be another one, want other
permissions, or be searched by other filters.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from apps.firewall.engine.content import write_filter
from apps.firewall.engine.grants import write_grant
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.source import ToolEntry

Written: TypeAlias = Mapping[str, Any]
Action: TypeAlias = Literal["added", "changed", "removed"]
Keys: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolDifference:
    """A tool that is not the same in both snapshots, as each of them has it; None where it has none."""

    name: str
    before: Written | None
    after: Written | None

    @property
    def action(self) -> Action:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def members(self) -> Keys:
        """Name the members that differ, of a tool that both snapshots have."""
        if self.before is None or self.after is None:
            return ()
        named = dict.fromkeys((*self.after, *self.before))
        return tuple(name for name in named if self.before.get(name) != self.after.get(name))


@dataclass(frozen=True, slots=True)
class KeyChange:
    """Grants, or filters, by their keys: those that come, those that go, and those that say something else."""

    gained: Keys = ()
    lost: Keys = ()
    changed: Keys = ()

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.changed)


@dataclass(frozen=True, slots=True)
class GuardDifference:
    """Tools of both snapshots that meet other grants or filters, in the same way.

    Attributes:
        grants: of those that name a permission which one of the tools asks for.
    """

    tools: Keys
    grants: KeyChange
    filters: KeyChange


def tool_differences(old: Iterable[Written], new: Iterable[Written]) -> tuple[ToolDifference, ...]:
    """Compare two catalogues as snapshots hold them; what differs, by name."""
    before, after = ({tool["name"]: tool for tool in tools} for tools in (old, new))
    names = sorted(before.keys() | after.keys())
    pairs = ((name, before.get(name), after.get(name)) for name in names)
    return tuple(ToolDifference(name, was, now) for name, was, now in pairs if was != now)


def guard_differences(old: Snapshot, new: Snapshot) -> tuple[GuardDifference, ...]:
    """Say which tools of both snapshots meet other grants or filters; those that change alike stand together."""
    alike: dict[tuple[KeyChange, KeyChange], list[str]] = {}
    for name in sorted(set(old.tool_names) & set(new.tool_names)):
        grants = _compared(_grants(old, name), _grants(new, name))
        filters = _compared(_filters(old, name), _filters(new, name))
        if grants or filters:
            alike.setdefault((grants, filters), []).append(name)
    found = [GuardDifference(tuple(tools), *change) for change, tools in alike.items()]
    return tuple(sorted(found, key=lambda each: (-len(each.tools), each.tools)))


def _grants(snapshot: Snapshot, tool: str) -> dict[str, Written]:
    entry = snapshot.tool(tool)
    given = (grant for each in _permissions(entry) for grant in snapshot.permissions.giving(each))
    return {grant.key: write_grant(grant) for grant in given}


def _permissions(entry: ToolEntry | None) -> Iterator[str]:
    traits = {} if entry is None else entry.traits or {}
    return (each for each in traits.get("permissions", ()) if isinstance(each, str))


def _filters(snapshot: Snapshot, tool: str) -> dict[str, Written]:
    return {each.key: write_filter(each) for each in snapshot.content.concerning(tool)}


def _compared(before: Mapping[str, Written], after: Mapping[str, Written]) -> KeyChange:
    if before == after:
        return KeyChange()
    both = before.keys() & after.keys()
    return KeyChange(
        gained=tuple(sorted(after.keys() - both)),
        lost=tuple(sorted(before.keys() - both)),
        changed=tuple(sorted(key for key in both if before[key] != after[key])),
    )
