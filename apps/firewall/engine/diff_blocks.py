"""Which blocks of policy two snapshots do not have in common: place by place, as a document would write them.

Who has which tool is compared elsewhere (`diff`), tools themselves too (`diff_guards`). Blocks say what somebody wrote,
whether or not it reaches anybody.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from apps.firewall.engine.diff_guards import Action
from apps.firewall.engine.snapshot import Snapshot

Members: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, str]
"""Kind and place."""

_WRITTEN: Final = {"also_allow": "alsoAllow"}
_UNDER_TOOLS: Final = frozenset({"exec", "fs", "elevated", "loopDetection", "toolSearch"})
_NULL: Final[Members] = {"null": True}


@dataclass(frozen=True, slots=True)
class BlockDifference:
    """A block that is not the same in both snapshots; None on the side that has none.

    Attributes:
        kind: `release`, `global`, `profile`, `agent`, `provider`, `channel`, `account`, `group`, `sender`, `sandbox`,
            `subagents`, `owners`, `exec`, `settings`, `approvals`, `approvals_agent`, `permission_grant` or
            `content_filter`.
        place: the path at which a document has it.
    """

    kind: str
    place: str
    before: Members | None
    after: Members | None

    @property
    def action(self) -> Action:
        if self.before is None:
            return "added"
        return "removed" if self.after is None else "changed"

    @property
    def members(self) -> tuple[str, ...]:
        """Name the members that differ, of a block that both snapshots have."""
        if self.before is None or self.after is None:
            return ()
        named = dict.fromkeys((*self.after, *self.before))
        return tuple(name for name in named if self.before.get(name) != self.after.get(name))


def block_differences(old: Snapshot, new: Snapshot) -> tuple[BlockDifference, ...]:
    """Compare the blocks of two snapshots, in the order in which the new one has them; what is gone stands last."""
    if old == new:
        return ()
    before, after = dict(_Blocks(old.document)), dict(_Blocks(new.document))
    pairs = ((key, before.get(key), after.get(key)) for key in dict.fromkeys((*after, *before)))
    return tuple(BlockDifference(*key, was, now) for key, was, now in pairs if was != now)


class _Blocks:
    """Every block of a stored document, with its kind and its place."""

    def __init__(self, document: Members) -> None:
        self._document = document
        self._policies = [
            {_WRITTEN.get(name, name): value for name, value in policy.items()} for policy in document["policies"]
        ]

    def __iter__(self) -> Iterator[tuple[Key, Members]]:
        document, shared = self._document, self._document["global"]
        yield ("release", "release"), {"release": document["dialect"]}
        yield from self._policy("global", "tools", shared["policy"])
        yield from self._named("provider", "tools.byProvider", shared["by_provider"])
        yield from self._named("sender", "tools.toolsBySender", shared["by_sender"])
        yield from self._policy("sandbox", "tools.sandbox.tools", shared["sandbox"])
        yield from self._policy("subagents", "tools.subagents.tools", shared["subagents"])
        if shared["max_spawn_depth"] is not None:
            yield ("subagents", "agents.defaults.subagents"), {"maxSpawnDepth": shared["max_spawn_depth"]}
        yield from _settings("tools", "agents.defaults", document["settings"])
        yield from self._agents()
        for channel in document["channels"]:
            yield from self._channel(channel)
        if document["owners"]:
            yield ("owners", "commands.ownerAllowFrom"), {"ownerAllowFrom": document["owners"]}
        for name, position in document.get("profiles", {}).items():
            yield from self._policy("profile", f"profiles.{name}", position)
        yield from _approvals(document["exec_approvals"])
        for kind, member in (("permission_grant", "grants"), ("content_filter", "filters")):
            for row in document.get(member, ()):
                yield (kind, f"{member}.{row['key']}"), {name: value for name, value in row.items() if name != "key"}

    def _policy(self, kind: str, place: str, position: int | None) -> Iterator[tuple[Key, Members]]:
        if position is not None:
            yield (kind, place), self._policies[position]

    def _named(self, kind: str, place: str, flat: list[Any]) -> Iterator[tuple[Key, Members]]:
        for at in range(0, len(flat), 2):
            position = flat[at + 1]
            yield (kind, f"{place}.{flat[at]}"), _NULL if position is None else self._policies[position]

    def _agents(self) -> Iterator[tuple[Key, Members]]:
        defaults = self._document["agent_defaults"]
        yield from self._policy("agent", "agents.defaults.tools", defaults["policy"])
        yield from self._named("provider", "agents.defaults.tools.byProvider", defaults["by_provider"])
        for agent in self._document["agents"] or ():
            place = f"agents.{agent['id']}.tools"
            own = {} if agent["policy"] is None else self._policies[agent["policy"]]
            yield ("agent", place), {**own, **({"default": True} if agent.get("default") else {})}
            yield from self._named("provider", f"{place}.byProvider", agent.get("by_provider", []))
            yield from self._named("sender", f"{place}.toolsBySender", agent.get("by_sender", []))
            yield from self._policy("sandbox", f"{place}.sandbox.tools", agent.get("sandbox"))
            yield from _settings(place, f"agents.{agent['id']}", agent.get("settings", {}))

    def _channel(self, channel: Members) -> Iterator[tuple[Key, Members]]:
        place = f"channels.{channel['name']}"
        yield ("channel", place), {}
        yield from self._maps(place, channel["maps"])
        for account in channel["accounts"]:
            yield ("account", f"{place}.accounts.{account['id']}"), {}
            yield from self._maps(f"{place}.accounts.{account['id']}", account["maps"])

    def _maps(self, place: str, maps: Members) -> Iterator[tuple[Key, Members]]:
        for name, groups in maps.items():
            if not groups:  # an empty map is not the same as none: it stands before a wider one
                yield ("channel", f"{place}.{name}"), {}
            yield from self._groups(f"{place}.{name}", groups)

    def _groups(self, place: str, groups: list[Members]) -> Iterator[tuple[Key, Members]]:
        for group in groups:
            here = f"{place}.{group['key']}"
            position = group.get("tools")
            own = {} if position is None else self._policies[position]
            yield ("group", here), {**own, **({"slug": group["slug"]} if "slug" in group else {})}
            yield from self._named("sender", f"{here}.toolsBySender", group.get("by_sender", []))
            yield from self._groups(f"{here}.channels", group.get("channels", []))


def _settings(tools: str, around: str, settings: Members) -> Iterator[tuple[Key, Members]]:
    for name, value in settings.items():
        place = f"{tools if name in _UNDER_TOOLS else around}.{name}"
        kind = "exec" if name == "exec" else "settings"
        yield (kind, place), value if isinstance(value, Mapping) else {name: value}


def _approvals(document: Members) -> Iterator[tuple[Key, Members]]:
    beside = {name: value for name, value in document.items() if name not in {"defaults", "agents"}}
    if beside:
        yield ("approvals", "approvals:"), beside
    if isinstance(document.get("defaults"), Mapping):
        yield ("approvals", "approvals:defaults"), document["defaults"]
    agents = document.get("agents")
    for name, members in agents.items() if isinstance(agents, Mapping) else ():
        yield ("approvals_agent", f"approvals:agents.{name}"), members if isinstance(members, Mapping) else _NULL
