"""The rules of a snapshot as a tree of names: each rule is found by a path, and may be laid over another snapshot.

The stored form names policies by their position; here they stand where they hold. Keys keep their order, for look-ups
by provider and by sender depend on it. Tools are no rules: they stay with the document that they came with.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from apps.firewall.engine.document import PolicyTable, read_stored_policy
from apps.firewall.engine.openclaw_json import MAPS
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import SnapshotError

Tree: TypeAlias = dict[str, Any]

_POLICIES: Final = frozenset({"policy", "sandbox", "subagents", "tools"})
_NAMED: Final = frozenset({"by_provider", "by_sender"})
_PLAIN: Final = ("owners", "settings", "exec_approvals")
_LISTED: Final = ("grants", "filters")


def tree_of(document: Mapping[str, Any]) -> Tree:
    """Return the rules of a snapshot's stored form by name.

    Raises:
        SnapshotError: two rules have the same name.
    """
    naming = _Naming(document["policies"])
    agents = document["agents"]
    return {
        "global": naming.block(document["global"], _NAMED),
        "agents": None if agents is None else naming.blocks(agents, "id", _NAMED),
        "agent_defaults": naming.block(document["agent_defaults"], ("by_provider",)),
        "channels": {name: naming.channel(channel) for name, channel in _keyed(document["channels"], "name").items()},
        "profiles": {name: naming.policy(position) for name, position in document.get("profiles", {}).items()},
        **{name: document[name] for name in _PLAIN},
        **{name: _keyed(document.get(name, ()), "key") for name in _LISTED},
    }


def document_of(tree: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the stored form of rules, with everything that is no rule taken from another stored form."""
    table = _Positions()
    profiles = {name: table.position(policy) for name, policy in tree["profiles"].items()}
    agents = tree["agents"]
    written: dict[str, Any] = {
        **{name: document[name] for name in ("format", "dialect", "environment", "tools")},
        "global": table.scope(tree["global"]),
        "agents": None if agents is None else [{"id": key, **table.agent(block)} for key, block in agents.items()],
        "agent_defaults": table.scope(tree["agent_defaults"]),
        "channels": [table.channel(name, channel) for name, channel in tree["channels"].items()],
        **{name: tree[name] for name in _PLAIN},
        "policies": table.rows,
    }
    if profiles:
        written["profiles"] = profiles
    grants = sorted(tree["grants"].items())  # the order of filters matters, that of grants does not
    for name, found in (("grants", grants), ("filters", tree["filters"].items())):
        if found:
            written[name] = [{"key": key, **members} for key, members in found]
    return written


def _keyed(blocks: Iterable[Mapping[str, Any]], key: str) -> dict[str, Any]:
    listed = list(blocks)
    found = {block[key]: {name: value for name, value in block.items() if name != key} for block in listed}
    if len(found) != len(listed):
        raise SnapshotError("two rules of the snapshot have the same name")
    return found


class _Naming:
    """Puts policies where they hold, and blocks under their names."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self._rows = rows

    def policy(self, position: int | None) -> dict[str, Any] | None:
        return None if position is None else self._rows[position]

    def block(self, members: Mapping[str, Any], maps: Iterable[str] = ("by_sender",)) -> Tree:
        block: Tree = {name: self._member(name, value) for name, value in members.items()}
        for name in maps:
            block.setdefault(name, {})  # an empty map and none decide alike
        return block

    def blocks(self, listed: Iterable[Mapping[str, Any]], key: str, maps: Iterable[str] = ("by_sender",)) -> Tree:
        return {name: self.block(members, maps) for name, members in _keyed(listed, key).items()}

    def channel(self, channel: Mapping[str, Any]) -> Tree:
        accounts = _keyed(channel["accounts"], "id")
        return {
            "maps": self._maps(channel["maps"]),
            "accounts": {key: {"maps": self._maps(account["maps"])} for key, account in accounts.items()},
        }

    def _maps(self, maps: Mapping[str, Any]) -> Tree:
        return {kind: self.blocks(groups, "key") for kind, groups in maps.items()}

    def _member(self, name: str, value: Any) -> Any:
        if name in _POLICIES:
            return self.policy(value)
        if name in _NAMED:
            return self._named(value)
        return self.blocks(value, "key") if name == "channels" else value

    def _named(self, flat: list[Any]) -> Tree:
        found = dict(zip(flat[::2], map(self.policy, flat[1::2]), strict=True))
        if len(found) * 2 != len(flat):
            raise SnapshotError("two rules of the snapshot have the same name")
        return found


class _Positions:
    """Gives policies their positions, in the order in which a source is written."""

    def __init__(self) -> None:
        self._table = PolicyTable()
        self._known: dict[int, int | None] = {}
        self._kept: list[Policy] = []  # the table tells policies apart by what they are in memory

    @property
    def rows(self) -> list[dict[str, Any]]:
        return self._table.rows

    def position(self, members: dict[str, Any] | None) -> int | None:
        if members is None:
            return None
        if id(members) not in self._known:
            policy = read_stored_policy(members)
            self._kept.append(policy)
            self._known[id(members)] = self._table.position(policy)
        return self._known[id(members)]

    def scope(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """Write the global block, or that of every agent where there are none; its maps stand there even empty."""
        return {name: self._member(name, block[name]) for name in _ordered(block)}

    def agent(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """Write an agent or a group: an empty map is left out."""
        return {name: self._member(name, block[name]) for name in _ordered(block) if not _is_left_out(name, block)}

    def channel(self, name: str, channel: Mapping[str, Any]) -> dict[str, Any]:
        accounts = channel.get("accounts", {})
        return {
            "name": name,
            "maps": self._maps(channel.get("maps", {})),
            "accounts": [{"id": key, "maps": self._maps(account.get("maps", {}))} for key, account in accounts.items()],
        }

    def _maps(self, maps: Mapping[str, Any]) -> dict[str, Any]:
        return {kind: self._groups(maps[kind]) for kind in MAPS if kind in maps}

    def _groups(self, groups: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [{"key": key, **self.agent(group)} for key, group in groups.items()]

    def _member(self, name: str, value: Any) -> Any:
        if name in _POLICIES:
            return self.position(value)
        if name in _NAMED:
            return [part for key, policy in value.items() for part in (key, self.position(policy))]
        return self._groups(value) if name == "channels" else value


_ORDER: Final = ("policy", "tools", "by_provider", "by_sender", "sandbox", "subagents")


def _ordered(block: Mapping[str, Any]) -> list[str]:
    """Name the members of a block in the order in which its policies get their positions."""
    return sorted(block, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))


def _is_left_out(name: str, block: Mapping[str, Any]) -> bool:
    return name in _NAMED and not block[name]
