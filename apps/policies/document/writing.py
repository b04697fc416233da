"""Rows -> tree: the draft as a document in the current form of its release. Secrets stay sealed."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.document import members as m
from apps.policies.document.current import MODE_OF_PAIR
from apps.policies.models import (
    Agent,
    AllowlistEntry,
    Channel,
    ChannelAccount,
    ChannelGroup,
    ExecApprovals,
    ExecApprovalsAgent,
    ExecSettings,
    GlobalPolicy,
    ProviderPolicy,
    SenderRule,
)
from apps.registry.models import Environment

PAIR_OF_MODE = {mode: pair for pair, mode in MODE_OF_PAIR.items()} | {"auto": ("allowlist", "on-miss")}


def write_tree(environment: Environment) -> dict[str, Any]:
    """Write `openclaw.json` from the draft, in a fixed number of queries."""
    return Writer(environment).document()


def write_approvals_tree(environment: Environment) -> dict[str, Any] | None:
    """Write the exec approvals document from the draft; None when there is none."""
    document = ExecApprovals.objects.filter(environment=environment).first()
    if document is None:
        return None
    entries = _by(AllowlistEntry.objects.filter(environment=environment), "approvals_agent_id")
    agents = {
        agent.key: m.fill(
            agent.extra,
            [*m.values_of(agent, m.APPROVAL_WORDS), (("allowlist",), _allowlist(entries[agent.pk,]))],
        )
        for agent in ExecApprovalsAgent.objects.filter(environment=environment)
    }
    return m.fill(document.extra, [*m.values_of(document, m.APPROVALS), (("agents",), agents or None)])


def _allowlist(entries: list[AllowlistEntry]) -> list[dict[str, Any]] | None:
    return [m.fill(entry.extra, m.values_of(entry, m.ALLOWLIST)) for entry in entries] or None


def _by(records: Iterable[Any], *parents: str) -> dict[tuple[Any, ...], list[Any]]:
    found: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for record in records:
        found[tuple(getattr(record, parent) for parent in parents)].append(record)
    return found


class Writer:
    """Holds the records of one environment by their parents while they are written."""

    def __init__(self, environment: Environment, *, with_senders_and_groups: bool = True) -> None:
        """Read the records; without senders and groups for those who read these otherwise."""
        self.dialect = DIALECTS[environment.dialect]
        self.policy = GlobalPolicy.objects.filter(environment=environment).first()
        self.agents = list(Agent.objects.filter(environment=environment))
        self.providers = _by(ProviderPolicy.objects.filter(environment=environment), "agent_id")
        self.exec = _by(ExecSettings.objects.filter(environment=environment), "agent_id")
        self.channels: list[Channel] = []
        self.senders: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
        if with_senders_and_groups:
            self.senders = _by(SenderRule.objects.filter(environment=environment), "agent_id", "group_id")
            self.channels = list(Channel.objects.filter(environment=environment))
            self.accounts = _by(ChannelAccount.objects.filter(environment=environment), "channel_id")
            groups = ChannelGroup.objects.filter(environment=environment)
            self.groups = _by(groups, "channel_id", "account_id", "parent_id", "kind")

    def document(self) -> dict[str, Any]:
        extra = {} if self.policy is None else self.policy.extra
        values = [] if self.policy is None else m.values_of(self.policy, m.GLOBAL)
        if self.dialect.agent_entries and len(self.agents) > 1:
            values.append((("agents", "ownership"), "explicit"))
        entries = {agent.key: self.agent(agent) for agent in self.agents}
        values += [(("agents", "entries"), entries or None), *self._maps(None)]
        values += self._channels(extra.get("channels") or {})
        tree = m.fill(extra, values)
        if not self.dialect.agent_entries:
            _entries_to_list(tree)
        return tree

    def agent(self, agent: Agent) -> dict[str, Any]:
        return m.fill(agent.extra, [*m.values_of(agent, m.AGENT), *self._maps(agent)])

    def _maps(self, agent: Agent | None) -> list[tuple[m.Keys, Any]]:
        pk = None if agent is None else agent.pk
        providers = {row.key: m.fill(row.extra, m.values_of(row, m.PROVIDER)) for row in self.providers[pk,]}
        settings = [self._exec(row) for row in self.exec[pk,]]
        return [
            (("tools", "byProvider"), providers or None),
            (("tools", "toolsBySender"), self._senders(pk, None)),
            (("tools", "exec"), settings[0] if settings else None),
        ]

    def _senders(self, agent: Any, group: Any) -> dict[str, Any] | None:
        return {row.key: m.fill(row.extra, m.values_of(row, m.SENDER)) for row in self.senders[agent, group]} or None

    def _exec(self, row: ExecSettings) -> dict[str, Any]:
        values = dict(m.values_of(row, m.EXEC))
        pair = (row.security or "", row.ask or "")
        if self.dialect.agent_entries and pair in MODE_OF_PAIR:
            values |= {("mode",): MODE_OF_PAIR[pair], ("security",): None, ("ask",): None}
        elif not self.dialect.agent_entries and row.mode is not None:
            security, ask = PAIR_OF_MODE[row.mode]
            values |= {("mode",): None, ("security",): security, ("ask",): ask}
        return m.fill(row.extra, values.items())

    def _channels(self, kept: dict[str, Any]) -> list[tuple[m.Keys, Any]]:
        written: dict[str, Any] = {key: None for key, value in kept.items() if value is None}
        written |= {channel.key: self._channel(channel) for channel in self.channels}
        return [(("channels", key), value) for key, value in written.items()]

    def _channel(self, channel: Channel) -> dict[str, Any]:
        accounts = {
            account.key: m.fill(account.extra, self._group_maps(channel.pk, account.pk))
            for account in self.accounts[channel.pk,]
        }
        return m.fill(channel.extra, [*self._group_maps(channel.pk, None), (("accounts",), accounts or None)])

    def _group_maps(self, channel: Any, account: Any) -> list[tuple[m.Keys, Any]]:
        return [((kind,), self._groups(channel, account, None, kind)) for kind in m.GROUP_MAPS]

    def _groups(self, channel: Any, account: Any, parent: Any, kind: str) -> dict[str, Any] | None:
        return {row.key: self._group(row) for row in self.groups[channel, account, parent, kind]} or None

    def _group(self, row: ChannelGroup) -> dict[str, Any]:
        inner = self._groups(row.channel_id, row.account_id, row.pk, "channels")
        senders = self._senders(None, row.pk)
        values = [*m.values_of(row, m.GROUP), (("toolsBySender",), senders), (("channels",), inner)]
        tree = m.fill(row.extra, values)
        if row.has_tools:
            tree.setdefault("tools", {})
        elif tree.get("tools") == {}:
            del tree["tools"]
        return tree


def _entries_to_list(tree: dict[str, Any]) -> None:
    """Write agents as the older release reads them."""
    agents = tree.get("agents")
    if not isinstance(agents, dict) or "entries" not in agents:
        return
    listed = [{"id": key, **agent} for key, agent in agents["entries"].items()]
    members = {"list" if key == "entries" else key: listed if key == "entries" else agents[key] for key in agents}
    agents.clear()
    agents.update({key: value for key, value in members.items() if key != "ownership"})
