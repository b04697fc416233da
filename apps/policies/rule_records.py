"""The records of the draft in which blocks of lists stand: any number of blocks in a handful of queries."""

from collections.abc import Collection, Iterable
from typing import Any, Final

from django.db.models import Q

from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.simulate import Block
from apps.policies.document.findings import Path, show_path
from apps.policies.kinds import MEMBERS
from apps.policies.models import Agent, ChannelGroup, GlobalPolicy, Profile, ProviderPolicy, SenderRule
from apps.policies.models.base import PolicyRecord
from apps.registry.models import Environment

_PREFIXES: Final = {"sandbox": "sandbox_", "subagent": "subagent_"}
_SCOPES: Final = frozenset({"global", "agent", "sandbox", "subagent"})


class RuleRecords:
    """Finds the records of blocks; those that the draft has no longer are not found."""

    def __init__(self, environment: Environment, blocks: Collection[Block]) -> None:
        self._environment = environment
        self._agents = self._read_agents({block.agent for block in blocks if block.agent is not None})
        self._groups = self._read_groups({block.path for block in blocks if block.path})
        self._senders = self._read_senders({block.sender for block in blocks if block.sender is not None})
        self._providers = self._read_providers({block.provider for block in blocks if block.provider is not None})
        self._profiles = self._read_profiles({block.profile for block in blocks if block.profile is not None})
        scopes = any(block.layer in _SCOPES and block.agent is None for block in blocks)
        self._policy = GlobalPolicy.objects.filter(environment=environment).first() if scopes else None

    def of(self, block: Block) -> PolicyRecord | None:
        """Return the record of a block that was asked for."""
        agent = self._agents.get(block.agent) if block.agent is not None else None
        group = self._groups.get(block.path) if block.path else None
        if (block.agent is not None and agent is None) or (block.path and group is None):
            return None
        if block.sender is not None:
            return self._senders.get((agent and agent.pk, group and group.pk, block.sender))
        if block.provider is not None:
            return self._providers.get((agent and agent.pk, block.provider))
        if block.profile is not None:
            return self._profiles.get(block.profile)
        return group or agent or self._policy

    def path_of(self, block: Block, member: str = "") -> str:
        """Write where a block that is in the draft, or a list of it, stands in the document."""
        record: Any = self.of(block)
        place = _place(block, self._agents[block.agent].key if block.agent is not None else "")
        if not member:
            return show_path(place)
        inner = next(each.path for each in MEMBERS[type(record)] if each.field == field_of(block, member))
        return show_path(inner if isinstance(record, GlobalPolicy) else (*place, *inner))

    def _here(self, model: type[PolicyRecord]) -> Any:
        return model._default_manager.filter(environment=self._environment).order_by("position", "id")

    def _read_agents(self, names: set[str]) -> dict[str, Agent]:
        """Find agents by their normal ids; of several with the same the first counts, as in the engine."""
        if not names:
            return {}
        known: dict[str, Any] = {}
        for identifier, key in self._here(Agent).values_list("pk", "key"):
            known.setdefault(normalize_agent_id(key), identifier)
        wanted = {name: known[name] for name in names if name in known}
        rows = Agent.objects.in_bulk(list(wanted.values()))
        return {name: rows[identifier] for name, identifier in wanted.items()}

    def _read_groups(self, paths: set[tuple[str, ...]]) -> dict[tuple[str, ...], ChannelGroup]:
        if not paths:
            return {}
        rows = self._here(ChannelGroup).filter(key__in={path[-1] for path in paths})
        found: dict[tuple[str, ...], ChannelGroup] = {}
        for row in rows.select_related("channel", "account", "parent"):
            found.setdefault(_path(row), row)
        return {path: row for path, row in found.items() if path in paths}

    def _read_senders(self, keys: set[str]) -> dict[tuple[Any, Any, str], SenderRule]:
        if not keys:
            return {}
        held = Q(group__in=[group.pk for group in self._groups.values()]) | Q(group=None)
        rows: Iterable[SenderRule] = self._here(SenderRule).filter(held, key__in=keys)
        return {(row.agent_id, row.group_id, row.key): row for row in rows}

    def _read_providers(self, keys: set[str]) -> dict[tuple[Any, str], ProviderPolicy]:
        rows = self._here(ProviderPolicy).filter(key__in=keys) if keys else ()
        return {(row.agent_id, row.key): row for row in rows}

    def _read_profiles(self, keys: set[str]) -> dict[str, Profile]:
        return {row.key: row for row in self._here(Profile).filter(key__in=keys)} if keys else {}


def _path(group: ChannelGroup) -> tuple[str, ...]:
    """Write the way to a group as blocks do."""
    account = ("accounts", group.account.key) if group.account is not None else ()
    parent = (group.parent.kind, group.parent.key) if group.parent is not None else ()
    return (group.channel.key, *account, *parent, group.kind, group.key)


def field_of(block: Block, member: str) -> str:
    """Name the column of a record that holds a list of a block."""
    return _PREFIXES.get(block.layer, "") + member


def _place(block: Block, agent: str) -> Path:
    if block.path:
        group: Path = ("channels", *block.path)
        return group if block.sender is None else (*group, "toolsBySender", block.sender)
    if block.profile is not None:
        return ("profiles", block.profile)
    tools: Path = ("tools",) if block.agent is None else ("agents", "entries", agent, "tools")
    if block.sender is not None:
        return (*tools, "toolsBySender", block.sender)
    if block.provider is not None:
        return (*tools, "byProvider", block.provider)
    return tools if block.agent is None else ("agents", "entries", agent)


def member_of(field: str) -> str:
    """Name the list of a block that a column of its record holds."""
    prefix = next((prefix for prefix in _PREFIXES.values() if field.startswith(prefix)), "")
    return field.removeprefix(prefix)


def block_at(record: PolicyRecord, field: str) -> Block:
    """Return the block of a record in which one of its lists stands; without a field the record's own."""
    layer = next((layer for layer, prefix in _PREFIXES.items() if field.startswith(prefix)), "")
    if isinstance(record, Profile):
        return Block(layer="profile", profile=record.key)
    if isinstance(record, ChannelGroup):
        return Block(layer="group", path=_path(record))
    if isinstance(record, SenderRule) and record.group is not None:
        return Block(layer="group", path=_path(record.group), sender=record.key)
    if isinstance(record, Agent):
        return Block(layer=layer or "agent", agent=normalize_agent_id(record.key))
    if isinstance(record, SenderRule | ProviderPolicy):
        name = None if record.agent is None else normalize_agent_id(record.agent.key)
        if isinstance(record, SenderRule):
            return Block(layer="sender", agent=name, sender=record.key)
        return Block(layer="global_provider" if name is None else "agent_provider", agent=name, provider=record.key)
    return Block(layer=layer or "global")
