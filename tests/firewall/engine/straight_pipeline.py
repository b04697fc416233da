"""The pipeline written straight down: lists, globs and loops, nothing compiled, nothing kept.

The engine must give the same answers; the benchmark measures how much sooner.
"""

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS, PLUGIN_GROUP, Dialect
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.sandbox_policy import resolve_sandbox_policy
from apps.firewall.engine.source import AgentSource, ChannelSource, GroupSource, Named, SnapshotSource, ToolEntry
from apps.firewall.engine.subagents import is_leaf, subagent_policy

Pattern: TypeAlias = str | re.Pattern[str]


def allowed(source: SnapshotSource, context: CallContext) -> list[str]:
    """Return the tools left at the end, in the order of the source.

    Reads plain groups, agents named by the context, and session keys `agent:<id>:<channel>:group:<group>`.
    """
    dialect = DIALECTS[source.dialect]
    owner = _is_owner(source, context)
    tools = [tool for tool in source.tools if tool.name != "apply_patch" or _patch_open(source, context, dialect)]
    if dialect.owner_unknown_is_stranger and owner is not True:
        tools = [
            tool for tool in tools if not tool.owner_only and _normal(dialect, tool.name) not in dialect.owner_only
        ]
    candidates = list(tools)
    for examined, policy in _layers(source, context, dialect, owner):
        if policy is not None:
            tools = _filter(dialect, tools, candidates, policy, examined)
    return [tool.name for tool in tools]


def _layers(
    source: SnapshotSource, context: CallContext, dialect: Dialect, owner: bool | None
) -> Iterable[tuple[bool, Policy | None]]:
    agent = _agent(source, context)
    shared = _provider_block(dialect, source.by_provider, context)
    own = _provider_block(dialect, agent.by_provider, context) if agent else None
    yield True, _profile(dialect, agent.policy if agent else None, source.policy)
    yield True, _profile(dialect, own, shared)
    yield True, _merge(source.policy)
    yield True, _merge(shared)
    yield True, _merge(agent.policy if agent else None)
    yield True, _merge(own)
    yield True, _merge(_group(source, context))
    if "sender" in dialect.layers:
        found, policy = _by_sender(dialect, agent.by_sender if agent else [], context)
        if not found:
            found, policy = _by_sender(dialect, source.by_sender, context)
        yield True, _merge(policy)
    if context.sandboxed:
        yield False, resolve_sandbox_policy(dialect, agent.sandbox if agent else None, source.sandbox).policy
    if owner is False and not dialect.owner_unknown_is_stranger:
        yield False, Policy(deny=dialect.owner_only)
    if context.subagent_depth > 0:
        leaf = is_leaf(dialect, context.subagent_depth, source.max_spawn_depth)
        yield False, subagent_policy(dialect, source.subagents, leaf=leaf)


def _filter(
    dialect: Dialect, tools: list[ToolEntry], candidates: list[ToolEntry], policy: Policy, examined: bool
) -> list[ToolEntry]:
    allow = [_pattern(entry) for entry in _expand(dialect, candidates, policy.allow or ())]
    deny = [_pattern(entry) for entry in _expand(dialect, candidates, policy.deny or ())]
    if examined and dialect.unknown_allowlist_dropped and not _names_core(dialect, candidates, policy.allow or ()):
        allow = []
    kept = []
    for tool in tools:
        name = _normal(dialect, tool.name)
        if any(_fits(entry, name) for entry in deny):
            continue
        admitted = not allow or any(_fits(entry, name) for entry in allow)
        if not admitted and name == "apply_patch":
            admitted = any(_fits(entry, dialect.apply_patch_companion) for entry in allow)
        if admitted:
            kept.append(tool)
    return kept


def _expand(dialect: Dialect, candidates: list[ToolEntry], names: Iterable[str]) -> list[str]:
    expanded: list[str] = []
    for entry in names:
        name = _normal(dialect, entry)
        name = dialect.renames.get(name, name)
        for each in (name, *dialect.families.get(name, ())):
            plugin = [
                _normal(dialect, tool.name)
                for tool in candidates
                if tool.plugin is not None and each in (PLUGIN_GROUP, tool.plugin.lower())
            ]
            for one in plugin or [each]:
                expanded.extend(dialect.groups.get(one, (one,)))
    return [entry for entry in expanded if entry]


def _names_core(dialect: Dialect, candidates: list[ToolEntry], names: Iterable[str]) -> bool:
    core = {_normal(dialect, tool.name) for tool in candidates if tool.plugin is None}
    entries = [_normal(dialect, name) for name in names if _normal(dialect, name)]
    return not entries or any(
        entry == "*" or entry in core or core.intersection(dialect.groups.get(entry, ())) for entry in entries
    )


def _pattern(entry: str) -> Pattern:
    """Prepare an entry once a layer, as OpenClaw does."""
    if entry == "*" or "*" not in entry:
        return entry
    return re.compile(".*".join(map(re.escape, entry.split("*"))))


def _fits(pattern: Pattern, name: str) -> bool:
    if isinstance(pattern, str):
        return pattern in ("*", name)
    return pattern.fullmatch(name) is not None


def _normal(dialect: Dialect, name: str) -> str:
    folded = name.strip().lower()
    return dialect.aliases.get(folded, folded)


def _merge(policy: Policy | None) -> Policy | None:
    if policy is None or (policy.allow is None and policy.deny is None and not policy.also_allow):
        return None
    if not policy.also_allow:
        return Policy(policy.allow, policy.deny)
    return Policy((*(policy.allow or ("*",)), *policy.also_allow), policy.deny)


def _profile(dialect: Dialect, own: Policy | None, shared: Policy | None) -> Policy | None:
    blocks = [block for block in (own, shared) if block is not None]
    name = next((block.profile for block in blocks if block.profile is not None), None)
    extra = next((block.also_allow for block in blocks if block.also_allow is not None), ())
    known = dialect.profiles.get(name or "")
    if known is None or known.allow is None:
        return None
    return Policy((*known.allow, *extra), known.deny)


def _agent(source: SnapshotSource, context: CallContext) -> AgentSource | None:
    return next((agent for agent in source.agents or () if agent.id == context.agent_id), None)


def _provider_block(dialect: Dialect, blocks: Named, context: CallContext) -> Policy | None:
    if not context.provider:
        return None
    keys = [context.provider]
    if context.model_id:
        whole = "/" in context.model_id and not dialect.model_key_with_provider
        keys.insert(0, context.model_id if whole else f"{context.provider}/{context.model_id}")
    return next((policy for key in keys for name, policy in blocks if name == key and policy is not None), None)


def _group(source: SnapshotSource, context: CallContext) -> Policy | None:
    parts = (context.session_key or "").split(":", 4)
    if len(parts) < 5:
        return None
    channel: ChannelSource | None = next((each for each in source.channels if each.name == parts[2]), None)
    if channel is None:
        return None
    groups = {group.key: group for group in channel.maps.get("groups", [])}
    for group in (groups.get(parts[4]), groups.get("*")):
        found, policy = _in_group(DIALECTS[source.dialect], group, context)
        if found:
            return policy
    return None


def _in_group(dialect: Dialect, group: GroupSource | None, context: CallContext) -> tuple[bool, Policy | None]:
    if group is None:
        return False, None
    found, policy = _by_sender(dialect, group.by_sender, context)
    if found:
        return True, policy
    return group.tools is not None, group.tools


def _by_sender(dialect: Dialect, rules: Named, context: CallContext) -> tuple[bool, Policy | None]:
    wanted = [
        ("id", context.sender_id),
        ("e164", context.sender_e164),
        ("username", context.sender_username),
        ("name", context.sender_name),
    ]
    if dialect.sender_channel_keys and context.channel and context.sender_id:
        wanted.insert(0, (f"channel:{context.channel}", context.sender_id))
    for kind, value in wanted:
        for key, policy in rules:
            if value and policy is not None and key.lower() in (f"{kind}:{value}", value if kind == "id" else None):
                return True, policy
    fallbacks = [policy for key, policy in rules if key == "*" and policy is not None]
    return bool(fallbacks), fallbacks[-1] if fallbacks else None


def _is_owner(source: SnapshotSource, context: CallContext) -> bool | None:
    said = (context.sender_id, context.sender_username, context.sender_name, context.sender_e164)
    if context.sender_is_owner is not None or not context.channel or not any(said):
        return context.sender_is_owner
    ids = [each for each in (context.sender_id, context.sender_e164) if each]
    names = {*ids, *(f"{context.channel}:{each}" for each in ids)}
    return bool(names & set(source.owners)) or (None if context.channel == "webchat" else False)


def _patch_open(source: SnapshotSource, context: CallContext, dialect: Dialect) -> bool:
    agent = _agent(source, context)
    blocks = [
        settings.get("exec", {}).get("applyPatch") for settings in (agent.settings if agent else {}, source.settings)
    ]
    block: dict[str, Any] = next((each for each in blocks if each is not None), {})
    if block.get("enabled") is False or (dialect.apply_patch_opt_in and block.get("enabled") is not True):
        return False
    if dialect.apply_patch_opt_in and context.provider not in dialect.apply_patch_providers:
        return False
    models = block.get("allowModels")
    return not models or context.model_id in models or f"{context.provider}/{context.model_id}" in models
