"""Rows -> source -> snapshot. What there is much of (groups, rules by sender) is read as plain values."""

import gc
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from django.db import connection

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.openclaw_json import MAPS, parse_document, whole
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import (
    UNPROVEN_GROUPS_REFUSED,
    AccountSource,
    ChannelSource,
    GroupSource,
    Named,
    SnapshotSource,
    ToolEntry,
)
from apps.firewall.engine.warn import MCP_PLUGIN
from apps.policies.document.secrets import with_masks
from apps.policies.document.writing import Writer, write_approvals_tree
from apps.policies.guards import draft_filters, draft_grants
from apps.policies.models import Channel, ChannelAccount, Profile
from apps.registry.models import Environment, Tool, ToolSource
from apps.registry.selectors import tools_offered
from apps.registry.services.catalogue import offered_in

_SENDERS = """
    SELECT agent_id::text, group_id::text, key, json_build_array(allow, also_allow, deny)::text
    FROM policies_senderrule WHERE environment_id = %s ORDER BY position, id
"""
_GROUPS = """
    SELECT id::text, channel_id::text, account_id::text, parent_id::text, kind, key,
           CASE WHEN has_tools THEN json_build_array(allow, also_allow, deny)::text END,
           extra ->> 'slug', (extra -> 'channels')::text = '{}'
    FROM policies_channelgroup WHERE environment_id = %s ORDER BY position, id
"""


def compile_draft(environment: Environment) -> Snapshot:
    """Compile the draft of an environment. The same rows give the same bytes on any machine.

    Raises:
        SnapshotError: the draft has no canonical form.
    """
    with _collector_paused():
        return build_snapshot(draft_source(environment))


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep the garbage collector from walking 100,000 new rules again and again: they are all still needed."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def compile_draft_as(environment: Environment, release: str) -> Snapshot:
    """Compile the draft as if its environment spoke another release, with the tools that it would have then.

    Raises:
        SnapshotError: the draft has no canonical form.
        ToolInvalidError: the release brings a tool whose name is taken.
        UnknownDialectError: no such release is spoken.
    """
    dialect_named(release)
    other = copy(environment)
    other.dialect = release
    with _collector_paused():
        return build_snapshot(draft_source(other, tools=_entries(offered_in(environment, release))))


def draft_source(environment: Environment, tools: list[ToolEntry] | None = None) -> SnapshotSource:
    """Read the draft as the engine's source.

    Scopes go through the document, so that the engine reads settings as it does in any `openclaw.json`; secrets stay
    behind.
    """
    writer = Writer(environment, with_senders_and_groups=False)
    source = parse_document(
        with_masks(writer.document()),
        dialect=environment.dialect,
        tools=tool_entries(environment) if tools is None else tools,
        environment=environment.slug,
    )
    if writer.policy is not None and writer.policy.refuse_unproven_groups:
        source.settings = {**source.settings, "groups": UNPROVEN_GROUPS_REFUSED}
    rules = _Rules(environment)
    source.by_sender = rules.senders[None, None]
    source.policy = _present(source.policy, source.by_sender)
    for agent, record in zip(source.agents or (), writer.agents, strict=True):
        agent.by_sender = rules.senders[str(record.pk), None]
        agent.policy = _present(agent.policy, agent.by_sender)
        agent.labels = tuple(record.labels)
    source.channels = rules.channels(environment)
    source.profiles = {
        profile.key: Policy(allow=_names(profile.allow), deny=_names(profile.deny))
        for profile in Profile.objects.filter(environment=environment)
    }
    source.grants = draft_grants(environment)
    source.filters = draft_filters(environment)
    source.exec_approvals = whole(with_masks(write_approvals_tree(environment) or {}))
    return source


def _present(policy: Policy | None, by_sender: Named) -> Policy | None:
    """Return an empty block where the document has `tools` for the sake of rules by sender only."""
    return Policy() if policy is None and by_sender else policy


def tool_entries(environment: Environment) -> list[ToolEntry]:
    """Read the tools that policies decide about."""
    return _entries(tools_offered(environment))


def _entries(tools: Iterable[Tool]) -> list[ToolEntry]:
    return [
        ToolEntry(
            name=tool.name,
            plugin=_plugin_of(tool),
            label=tool.label,
            description=tool.description,
            section=tool.section,
            source=tool.source,
            owner_only=tool.owner_only,
            params=tool.params_schema or None,
            sensitive=tuple(tool.sensitive_fields),
            traits=tool.traits or None,
            executor=tool.executor or None,
            optional=tool.is_optional,
        )
        for tool in tools
    ]


def _names(listed: list[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _plugin_of(tool: Tool) -> str | None:
    """Tools of MCP servers belong to one plugin of OpenClaw's, whichever the server."""
    if tool.source == ToolSource.MCP:
        return MCP_PLUGIN
    return None if tool.plugin is None else tool.plugin.key


class _Rules:
    """The groups and rules by sender of one environment; equal blocks are one object."""

    def __init__(self, environment: Environment) -> None:
        self._blocks: dict[str | None, Policy | None] = {None: None}
        self.senders: dict[tuple[str | None, str | None], Named] = defaultdict(list)
        self._maps: dict[tuple[str | None, ...], list[tuple[Any, ...]]] = defaultdict(list)
        for agent, group, key, body in _fetched(_SENDERS, environment):
            self.senders[agent, group].append((key, self._block(body)))
        for row in _fetched(_GROUPS, environment):
            self._maps[row[1:5]].append(row)

    def channels(self, environment: Environment) -> list[ChannelSource]:
        accounts: dict[Any, list[ChannelAccount]] = defaultdict(list)
        for account in ChannelAccount.objects.filter(environment=environment):
            accounts[account.channel_id].append(account)
        return [
            ChannelSource(
                name=channel.key,
                maps=self._holder_maps(str(channel.pk), None, channel.extra),
                accounts=[
                    AccountSource(account.key, self._holder_maps(str(channel.pk), str(account.pk), account.extra))
                    for account in accounts[channel.pk]
                ],
            )
            for channel in Channel.objects.filter(environment=environment)
        ]

    def _holder_maps(self, channel: str, account: str | None, extra: dict[str, Any]) -> dict[str, list[GroupSource]]:
        found = {kind: self._groups(self._maps.get((channel, account, None, kind), ())) for kind in MAPS}
        return {kind: groups for kind, groups in found.items() if groups or extra.get(kind) == {}}

    def _groups(self, rows: Iterable[tuple[Any, ...]]) -> list[GroupSource]:
        return [
            GroupSource(
                key=key,
                tools=self._block(body),
                by_sender=self.senders.get((None, identifier), []),
                slug=slug,
                channels=self._inner(identifier, channel, account, is_empty=bool(is_empty)),
            )
            for identifier, channel, account, _, _, key, body, slug, is_empty in rows
        ]

    def _inner(self, group: str, channel: str, account: str | None, *, is_empty: bool) -> list[GroupSource] | None:
        rows = self._maps.get((channel, account, group, "channels"))
        if rows is None:
            return [] if is_empty else None
        return self._groups(rows)

    def _block(self, body: str | None) -> Policy | None:
        if body not in self._blocks:
            allow, also_allow, deny = (None if names is None else tuple(names) for names in json.loads(body or "[]"))
            self._blocks[body] = Policy(allow=allow, deny=deny, also_allow=also_allow)
        return self._blocks[body]


def _fetched(query: str, environment: Environment) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, [environment.pk])
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows
