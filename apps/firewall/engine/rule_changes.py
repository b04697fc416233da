"""A change of a rule as a value of its own: read off two snapshots, and laid over a third.

What was live when the change was made may be something else by now. A list then keeps what was added to it since, and
takes the entries of the change; anything else that says neither what it said before nor what it should say is a
conflict, and nobody guesses.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from apps.firewall.engine.digest import canonical_json
from apps.firewall.engine.rule_tree import Tree, document_of, tree_of
from apps.firewall.engine.snapshot import Snapshot, load_snapshot
from apps.firewall.errors import FirewallError

Path = tuple[str, ...]


class Absent(Enum):
    """What stands where nothing does."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT


class RuleGoneError(FirewallError):
    """What a change belongs to is not there any more."""

    code = "rule_gone"


class RuleChangedError(FirewallError):
    """Something else was changed where a change stands."""

    code = "rule_changed"


@dataclass(frozen=True, slots=True)
class RuleEdit:
    """One value of the rules that says something else.

    Attributes:
        path: where it stands in the tree.
        before, after: `ABSENT` where there is none.
        behind: the key behind which a new one stands; None for the first one.
    """

    path: Path
    before: Any
    after: Any
    behind: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Write it down; a side that is absent is left out."""
        sides = {name: value for name in ("before", "after") if (value := getattr(self, name)) is not ABSENT}
        return {"path": list(self.path), "behind": self.behind, **sides}

    @classmethod
    def read(cls, written: Mapping[str, Any]) -> "RuleEdit":
        """Read what `to_json` wrote."""
        before, after = written.get("before", ABSENT), written.get("after", ABSENT)
        return cls(tuple(written["path"]), before, after, written["behind"])


def edits_between(old: Tree, new: Tree, path: Path, *, apart: Collection[Path] = ()) -> tuple[RuleEdit, ...]:
    """Say what changes at a path from one tree to another.

    Args:
        apart: what below the path belongs to other rules.
    """
    before, after = _value_at(old, path), _value_at(new, path)
    if before is ABSENT and after is not ABSENT:
        return (_beginning(old, new, path, _without(after, apart)),)
    behind = _behind(_value_at(new, path[:-1]), path[-1])
    return tuple(_differences(before, after, path, (), apart, behind))


def entry_edit(tree: Tree, block: Path, member: str, entry: str, *, is_added: bool) -> RuleEdit:
    """Make the edit of one entry of a list; where the block has no such list, adding makes one.

    Args:
        block: where the block stands, and `member` which of its lists.
    """
    policy = _value_at(tree, block)
    if not isinstance(policy, dict):
        return RuleEdit(block, policy, {member: [entry]} if is_added else policy)
    listed = policy.get(member, ABSENT)
    names = [name for name in (listed or ()) if name != entry] if listed is not ABSENT else []
    if not is_added:
        return RuleEdit((*block, member), listed, listed if listed is ABSENT else names)
    has_it = listed is not ABSENT and entry in listed
    return RuleEdit((*block, member), listed, listed if has_it else [*names, entry])


def with_edits(tree: Tree, edits: Iterable[RuleEdit]) -> Tree:
    """Return a tree with edits; the one that was given stays as it is.

    Raises:
        RuleGoneError, RuleChangedError: an edit finds no place, or something else in its place.
    """
    for edit in edits:
        tree = _with_edit(tree, edit.path, edit)
    return tree


def snapshot_with(snapshot: Snapshot, edits: Iterable[RuleEdit]) -> Snapshot:
    """Return a snapshot with changed rules; itself where they say already what they should.

    Raises:
        RuleGoneError, RuleChangedError: as `with_edits`.
        SnapshotError: such rules cannot be used.
    """
    document = snapshot.document
    tree = tree_of(document)
    changed = with_edits(tree, edits)
    return snapshot if changed == tree else load_snapshot(canonical_json(document_of(changed, document)))


def _value_at(tree: Any, path: Path) -> Any:
    for key in path:
        if not isinstance(tree, dict) or key not in tree:
            return ABSENT
        tree = tree[key]
    return tree


def _beginning(old: Tree, new: Tree, path: Path, after: Any) -> RuleEdit:
    """Make the edit of a new rule, with those maps around it that are new, too, and nothing else in them."""
    at, there = 0, old
    while at < len(path) - 1 and isinstance(there.get(path[at]), dict):
        there, at = there[path[at]], at + 1
    for key in reversed(path[at + 1 :]):
        after = {key: after}
    place = path[: at + 1]
    return RuleEdit(place, there.get(place[-1], ABSENT), after, _behind(_value_at(new, place[:-1]), place[-1]))


def _differences(
    before: Any, after: Any, path: Path, inner: Path, apart: Collection[Path], behind: str | None
) -> Iterator[RuleEdit]:
    if inner in apart:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in {**before, **after}:
            sides = before.get(key, ABSENT), after.get(key, ABSENT)
            yield from _differences(*sides, (*path, key), (*inner, key), apart, _behind(after, key))
    elif before != after:
        yield RuleEdit(path, before, _without(after, apart, inner), behind)


def _without(value: Any, apart: Collection[Path], inner: Path = ()) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _without(member, apart, (*inner, key)) for key, member in value.items() if (*inner, key) not in apart}


def _behind(siblings: Any, key: str) -> str | None:
    """Name the key before another one."""
    keys = list(siblings) if isinstance(siblings, dict) else []
    place = keys.index(key) if key in keys else 0
    return keys[place - 1] if place else None


def _with_edit(node: Any, path: Path, edit: RuleEdit) -> Tree:
    key, rest = path[0], path[1:]
    if not isinstance(node, dict) or (rest and key not in node):
        raise RuleGoneError(f"`{'.'.join(edit.path)}` has no place any more: nothing stands at `{key}`")
    if rest:
        return {**node, key: _with_edit(node[key], rest, edit)}
    value = _merged(node.get(key, ABSENT), edit)
    if value is ABSENT:
        return {name: member for name, member in node.items() if name != key}
    return {**node, key: value} if key in node else _added(node, key, value, edit.behind)


def _merged(current: Any, edit: RuleEdit) -> Any:
    if current == edit.after:
        return current
    if current == edit.before:
        return edit.after
    if _is_names(current) and _is_names(edit.before) and _is_names(edit.after):
        kept = [name for name in current if name in edit.after or name not in edit.before]
        return kept + [name for name in edit.after if name not in edit.before and name not in kept]
    is_new = edit.before is ABSENT or edit.before is None
    if is_new and isinstance(current, dict) and isinstance(edit.after, dict) and not current.keys() & edit.after.keys():
        return {**current, **edit.after}
    if current is ABSENT:
        raise RuleGoneError(f"`{'.'.join(edit.path)}` is gone")
    raise RuleChangedError(f"`{'.'.join(edit.path)}` says something else by now")


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _added(node: Tree, key: str, value: Any, behind: str | None) -> Tree:
    """Put a new key behind another one; last where that one is gone."""
    if behind is not None and behind not in node:
        return {**node, key: value}
    found: Tree = {key: value} if behind is None else {}
    for name, member in node.items():
        found[name] = member
        if name == behind:
            found[key] = value
    return found
