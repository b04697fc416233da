"""What would a context see if one block said something else? For previews, before anything is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.firewall.engine.answers import Explanation
from apps.firewall.engine.compile import AgentRules, Engine, compile_document
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import explain_with
from apps.firewall.engine.document import write_policy
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.providers import ProviderBlock, ProviderMap, provider_map
from apps.firewall.engine.senders import compile_senders
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError


class BlockError(FirewallError):
    """A block that the snapshot has no place for."""

    code = "block_unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Which block is replaced.

    Attributes:
        layer: `global`, `global_provider`, `agent`, `agent_provider`, `sandbox`, `subagent`, `group` or `sender`, whose
            blocks name a profile as a member; or `profile` for the lists of an own profile, which `simulate` leaves
            as they are.
        agent: for `agent`, `agent_provider`; with `sandbox` and `sender` the agent's own instead of the global one.
        provider: the key of a provider block.
        path: for `group`, the way through the channel's part of the document: `("telegram", "groups", "-100")`,
            `("slack", "accounts", "work", "channels", "C1")`, `("discord", "guilds", "1", "channels", "2")`.
        sender: the key of a sender's rule, in a group with `path`, otherwise in the sender layer.
        profile: the name of an own profile.
    """

    layer: str
    agent: str | None = None
    provider: str | None = None
    path: tuple[str, ...] = ()
    sender: str | None = None
    profile: str | None = None


def simulate(snapshot: Snapshot, context: CallContext, block: Block, policy: Policy | None) -> Explanation:
    """Explain a context as if a block were another one.

    Args:
        policy: what the block would say; None takes it away.
    Raises:
        BlockError: the snapshot has no such place.
    """
    return explain_with(engine_with(snapshot, block, policy), context)


def engine_with(snapshot: Snapshot, block: Block, policy: Policy | None) -> Engine:
    """Return an engine in which one block is another one; the snapshot's own stays as it is.

    The blocks of groups and senders need the whole snapshot compiled anew.
    """
    engine = snapshot.engine
    match block.layer:
        case "global":
            return replace(engine, policy=policy)
        case "global_provider":
            return replace(engine, by_provider=_providers(engine, engine.by_provider, block, policy))
        case "subagent":
            return replace(engine, subagents=policy)
        case "sandbox" if block.agent is None:
            return replace(engine, sandbox=policy)
        case "agent":
            return _with_agent(engine, block, policy=policy)
        case "agent_provider":
            own = _agent(engine, block).by_provider
            return _with_agent(engine, block, by_provider=_providers(engine, own, block, policy))
        case "sandbox":
            return _with_agent(engine, block, sandbox=policy)
        case "group" | "sender":
            return compile_document(_document_with(snapshot.document, block, policy))
    raise BlockError(f"no block in a layer named `{block.layer}`")


def engine_without(snapshot: Snapshot, block: Block) -> Engine:
    """Return an engine that lacks a rule by sender, or the block of a group; what stood behind it holds then.

    The whole snapshot is compiled anew.

    Raises:
        BlockError: it has no such place.
    """
    document = snapshot.document
    if block.path:
        holder = _stored_group(document, block.path)
    else:
        holder = document["global"] if block.agent is None else _stored_agent(document, block.agent)
    if block.sender is None:
        holder.pop("tools", None)
        return compile_document(document)
    flat = holder.get("by_sender", [])
    pairs = zip(flat[::2], flat[1::2], strict=True)
    holder["by_sender"] = [part for key, position in pairs if key != block.sender for part in (key, position)]
    return compile_document(document)


def _agent(engine: Engine, block: Block) -> AgentRules:
    if not block.agent:
        raise BlockError(f"the block of layer `{block.layer}` names no agent")
    name = normalize_agent_id(block.agent)
    return (engine.agents or {}).get(name) or AgentRules(name)


def _with_agent(engine: Engine, block: Block, **members: Any) -> Engine:
    agent = replace(_agent(engine, block), **members)
    return replace(engine, agents={**(engine.agents or {}), agent.name: agent})


def _providers(engine: Engine, blocks: ProviderMap, block: Block, policy: Policy | None) -> ProviderMap:
    if not block.provider:
        raise BlockError(f"the block of layer `{block.layer}` names no provider")
    changed = provider_map(engine.dialect, [(block.provider, policy or Policy())])
    others = {key: other for key, other in blocks.items() if key not in changed}
    if policy is None:
        return others
    return {**others, **{key: ProviderBlock(each.key, policy) for key, each in changed.items()}}


def _document_with(document: dict[str, Any], block: Block, policy: Policy | None) -> dict[str, Any]:
    position = None
    if policy is not None:
        position = len(document["policies"])
        document["policies"].append(write_policy(policy))
    if block.layer == "sender":
        holder = document["global"] if block.agent is None else _stored_agent(document, block.agent)
        _set_rule(holder, block.sender or "", position)
        return document
    group = _stored_group(document, block.path)
    if block.sender is not None:
        _set_rule(group, block.sender, position)
    elif position is None:
        group.pop("tools", None)
    else:
        group["tools"] = position
    return document


def _stored_agent(document: dict[str, Any], name: str) -> dict[str, Any]:
    wanted = normalize_agent_id(name)
    for agent in document["agents"] or ():
        if normalize_agent_id(agent["id"]) == wanted:
            found: dict[str, Any] = agent
            return found
    raise BlockError(f"the snapshot has no agent `{name}`")


def _stored_group(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return the stored form of a group; one that is new joins at the end of its map."""
    name, *rest = path or ("",)
    holder = next((channel for channel in document["channels"] if channel["name"] == name), None)
    if holder is None:
        holder = {"name": name, "maps": {}, "accounts": []}
        document["channels"].append(holder)
    if rest[:1] == ["accounts"]:
        account = next((each for each in holder["accounts"] if each["id"] == rest[1]), None)
        if account is None:
            raise BlockError(f"the channel `{name}` has no account `{rest[1]}`")
        holder, rest = account, rest[2:]
    if len(rest) not in (2, 4):
        raise BlockError(f"`{'.'.join(path)}` leads to no group")
    group = _entry(holder["maps"].setdefault(rest[0], []), rest[1])
    return group if len(rest) == 2 else _entry(group.setdefault("channels", []), rest[3])


def _entry(groups: list[dict[str, Any]], key: str) -> dict[str, Any]:
    for group in groups:
        if group["key"] == key:
            return group
    group = {"key": key}
    groups.append(group)
    return group


def _set_rule(holder: dict[str, Any], key: str, position: int | None) -> None:
    """Put a block under a sender's key: in place of the one that stands there, else at the end."""
    flat: list[Any] = holder.setdefault("by_sender", [])
    for at in range(0, len(flat), 2):
        if flat[at] == key:
            flat[at + 1] = position
            return
    flat.extend((key, position))


def engine_with_group(engine: Engine, path: tuple[str, ...], tools: Policy | None) -> Engine:
    """Return an engine in which a group's own block is another one; all else is shared, which keeps previews quick.

    Args:
        path: to a group that is there, as in `Block`.
        tools: None takes the block away.
    """
    if path[0] not in engine.channels:
        return engine
    position = None if tools is None else len(engine.policies)
    channel = engine.channels[path[0]].with_entry(path[1:], lambda entry: replace(entry, tools=position))
    added = () if tools is None else (tools,)
    return engine.varied(*added, channels={**engine.channels, path[0]: channel})


def engine_with_senders(engine: Engine, block: Block, rules: Sequence[tuple[str, Policy]]) -> Engine:
    """Return an engine in which a group, an agent or everybody has other rules by sender; all else is shared.

    Args:
        block: a group by its `path`, an agent, or neither for the rules that hold everywhere.
        rules: all of them, in the order of the document.
    """
    first = len(engine.policies)
    index = compile_senders(engine.dialect, ((key, first + at) for at, (key, _) in enumerate(rules))) if rules else None
    added = [policy for _, policy in rules]
    if block.path and block.path[0] not in engine.channels:
        return engine
    if block.path:
        channel = engine.channels[block.path[0]].with_entry(block.path[1:], lambda entry: replace(entry, senders=index))
        return engine.varied(*added, channels={**engine.channels, block.path[0]: channel})
    if block.agent is None:
        return engine.varied(*added, senders=index)
    agent = replace(_agent(engine, block), senders=index)
    return engine.varied(*added, agents={**(engine.agents or {}), agent.name: agent})
