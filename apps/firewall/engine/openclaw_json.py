"""Reads the policy out of an `openclaw.json`: what decides, not the rest of the file.

Source: conformance README, `pipeline.jsonl` and `group_policy.jsonl`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.policy import Policy, PolicyShapeError, read_policy
from apps.firewall.engine.sandbox_mode import depends_on_session
from apps.firewall.engine.source import (
    AccountSource,
    AgentSource,
    ChannelSource,
    GroupSource,
    Named,
    SnapshotSource,
    ToolEntry,
)
from apps.firewall.engine.subagents import max_spawn_depth
from apps.firewall.errors import FirewallError

MAPS: Final = ("groups", "direct", "guilds", "channels", "teams", "rooms")
_SETTINGS: Final = ("exec", "fs", "elevated", "loopDetection")
_SHARED_SETTINGS: Final = (*_SETTINGS, "toolSearch")  # everybody's, agents have none of their own


class DocumentError(FirewallError):
    """A list of the document holds something that is not a name; `path` leads to its block."""

    code = "document_invalid"

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message)
        self.path = path


def parse_document(
    document: Mapping[str, Any],
    *,
    dialect: str,
    tools: Iterable[ToolEntry],
    environment: str = "",
    exec_approvals: Mapping[str, Any] | None = None,
) -> SnapshotSource:
    """Return the policy of a document. Whatever is not of the kind that OpenClaw reads counts as absent.

    Args:
        dialect: name of the release as whose the document is read.
        tools: every tool that exists.
    Raises:
        DocumentError: a list of names holds something else.
        UnknownDialectError: no such release is spoken.
    """
    return _Reader(dialect_named(dialect)).source(document, list(tools), environment, exec_approvals or {})


class _Reader:
    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect

    def source(
        self,
        document: Mapping[str, Any],
        tools: list[ToolEntry],
        environment: str,
        exec_approvals: Mapping[str, Any],
    ) -> SnapshotSource:
        shared, agents = _object(document, "tools"), _object(document, "agents")
        defaults = _object(agents, "defaults")
        default_tools = _object(defaults, "tools")
        subagents = _object(defaults, "subagents")
        depth = subagents.get("maxSpawnDepth")
        roster = self._agents(agents)
        settings = _settings(shared, defaults, _SHARED_SETTINGS)
        if depends_on_session(settings, *(agent.settings for agent in roster or ())):
            session = _object(document, "session")
            settings["session"] = {name: whole(session[name]) for name in ("mainKey", "scope") if name in session}
        return SnapshotSource(
            dialect=self._dialect.release,
            environment=environment,
            tools=tools,
            policy=_policy(document.get("tools"), "tools"),
            by_provider=self._providers(shared, "tools"),
            by_sender=_named(shared, "toolsBySender", "tools"),
            sandbox=_policy(_object(shared, "sandbox").get("tools"), "tools.sandbox.tools"),
            subagents=_policy(_object(shared, "subagents").get("tools"), "tools.subagents.tools"),
            max_spawn_depth=None if depth is None else max_spawn_depth(self._dialect, depth),
            agents=roster,
            agent_defaults=_policy(default_tools, "agents.defaults.tools") if "tools" in defaults else None,
            agent_defaults_by_provider=self._providers(default_tools, "agents.defaults.tools"),
            channels=[
                _channel(name, block)
                for name, block in _object(document, "channels").items()
                if isinstance(block, Mapping)
            ],
            owners=_owners(_object(document, "commands").get("ownerAllowFrom")),
            settings=settings,
            exec_approvals=whole(exec_approvals),
        )

    def _agents(self, agents: Mapping[str, Any]) -> list[AgentSource] | None:
        """Read the map of agents where the release knows it and the document has it, else the list."""
        if self._dialect.agent_entries and "entries" in agents:
            return [
                self._agent(name, entry)
                for name, entry in _object(agents, "entries").items()
                if isinstance(entry, Mapping)
            ]
        if "list" not in agents:
            return None
        entries = agents["list"]
        entries = entries if isinstance(entries, list) else []
        return [
            self._agent(entry["id"], entry)
            for entry in entries
            if isinstance(entry, Mapping) and isinstance(entry.get("id"), str)
        ]

    def _agent(self, name: str, entry: Mapping[str, Any]) -> AgentSource:
        tools = _object(entry, "tools")
        path = f"agents.{name}.tools"
        return AgentSource(
            id=name,
            is_default=entry.get("default") is True,
            policy=_policy(entry.get("tools"), path),
            by_provider=self._providers(tools, path),
            by_sender=_named(tools, "toolsBySender", path),
            sandbox=_policy(_object(tools, "sandbox").get("tools"), f"{path}.sandbox.tools"),
            settings=_settings(tools, entry, _SETTINGS),
        )

    def _providers(self, block: Mapping[str, Any], path: str) -> Named:
        """Read provider blocks; one release takes whatever is not empty for a block, if one without lists."""
        named = _named(block, "byProvider", path)
        if not self._dialect.provider_last_spelling_wins:
            return named
        values = _object(block, "byProvider")
        return [(key, Policy() if policy is None and values[key] else policy) for key, policy in named]


def whole(value: Any) -> Any:
    """Return a JSON value with whole numbers: a snapshot holds no floats, what follows the point is lost."""
    if isinstance(value, float):
        return int(value)
    if isinstance(value, Mapping):
        return {key: whole(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [whole(member) for member in value]
    return value


def _settings(tools: Mapping[str, Any], around: Mapping[str, Any], blocks: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings of one level: blocks under `tools`, and beside it the workspace and such."""
    settings = {name: whole(tools[name]) for name in blocks if name in tools}
    sandbox = _object(around, "sandbox")
    if sandbox:
        settings["sandbox"] = whole(sandbox)
    beside = {name: around.get(name) for name in ("workspace", "elevatedDefault")}
    for name, value in (beside | {"workspaceAccess": sandbox.get("workspaceAccess")}).items():
        if isinstance(value, str):
            settings[name] = value
    return settings


def _channel(name: str, block: Mapping[str, Any]) -> ChannelSource:
    path = f"channels.{name}"
    return ChannelSource(
        name=name,
        maps=_maps(block, path),
        accounts=[
            AccountSource(key, _maps(account if isinstance(account, Mapping) else {}, f"{path}.accounts.{key}"))
            for key, account in _object(block, "accounts").items()
        ],
    )


def _maps(block: Mapping[str, Any], path: str) -> dict[str, list[GroupSource]]:
    return {name: _groups(block[name], f"{path}.{name}") for name in MAPS if isinstance(block.get(name), Mapping)}


def _groups(block: Mapping[str, Any], path: str) -> list[GroupSource]:
    return [_group(key, entry, f"{path}.{key}") for key, entry in block.items() if isinstance(entry, Mapping)]


def _group(key: str, entry: Mapping[str, Any], path: str) -> GroupSource:
    slug, nested = entry.get("slug"), entry.get("channels")
    return GroupSource(
        key=key,
        tools=_policy(entry.get("tools"), f"{path}.tools"),
        by_sender=_named(entry, "toolsBySender", path),
        slug=slug if isinstance(slug, str) else None,
        channels=_groups(nested, f"{path}.channels") if isinstance(nested, Mapping) else None,
    )


def _owners(value: object) -> list[str]:
    if not isinstance(value, list):
        return []
    return [str(entry) for entry in value if isinstance(entry, str | int) and not isinstance(entry, bool)]


def _object(block: Mapping[str, Any], member: str) -> Mapping[str, Any]:
    value = block.get(member)
    return value if isinstance(value, Mapping) else {}


def _named(block: Mapping[str, Any], member: str, path: str) -> Named:
    return [(key, _policy(value, f"{path}.{member}.{key}")) for key, value in _object(block, member).items()]


def _policy(block: object, path: str) -> Policy | None:
    try:
        return read_policy(block)
    except PolicyShapeError as exc:
        raise DocumentError(f"{path}: {exc.message}", path=path) from exc
