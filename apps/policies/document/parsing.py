"""Tree -> rows: every record that a document in the current form describes, and every mistake in it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.document import members as m
from apps.policies.document.findings import Findings, Path
from apps.policies.document.rows import NaturalKey, Row, kept_template
from apps.policies.document.shapes import did_you_mean, mapping, only_keys
from apps.policies.document.verbatim import check_verbatim
from apps.policies.models import (
    Agent,
    Channel,
    ChannelAccount,
    ChannelGroup,
    ExecApprovals,
    ExecSettings,
    GlobalPolicy,
    GroupKind,
    ProviderPolicy,
    SenderRule,
)

BLOCK_KEYS = ("allow", "alsoAllow", "deny")
NESTING = frozenset({GroupKind.GUILDS, GroupKind.TEAMS})


@dataclass(slots=True)
class Parser:
    """Reads one document. Mistakes go to `findings`; a row with a mistake is made all the same, and never stored."""

    dialect: str
    findings: Findings
    profiles: frozenset[str] = frozenset()
    rows: list[Row] = field(default_factory=list)

    def parse(self, tree: dict[str, Any]) -> list[Row]:
        """Take a document apart; the tree is used up."""
        check_verbatim(tree, self.findings)
        row = self._row(GlobalPolicy, (), (), tree, m.GLOBAL)
        self._check_scope(row, ())
        maps = self._take_maps(tree, m.GLOBAL_MAPS, ())
        self._scope_maps(maps, None, ())
        self._agents(maps["agents", "entries"], has_ownership="ownership" in (tree.get("agents") or ()))
        self._channels(tree)
        row.values["extra"] = kept_template(tree, m.GLOBAL, row.values)
        return self.rows

    def _row(self, model: Any, key: NaturalKey, path: Path, tree: dict[str, Any], members: tuple[m.Member, ...]) -> Row:
        row = Row(model, key, path, m.take(tree, members, path, self.findings))
        row.values["position"] = 0
        self.rows.append(row)
        return row

    def _take_maps(self, tree: dict[str, Any], places: tuple[m.Keys, ...], path: Path) -> dict[m.Keys, dict[str, Any]]:
        return {where: m.take_map(tree, where, path, self.findings) for where in places}

    def _items(self, found: dict[str, Any], path: Path) -> Iterator[tuple[int, str, dict[str, Any], Path]]:
        for position, (key, value) in enumerate(found.items()):
            place = (*path, key)
            if len(key) > m.KEY_LENGTH:
                self.findings.error(
                    place,
                    "too_long",
                    _("the key is longer than %(key_length)s characters") % {"key_length": m.KEY_LENGTH},
                )
            elif mapping(value, place, self.findings):
                yield position, key, value, place

    # --- scopes ---

    def _agents(self, found: dict[str, Any], *, has_ownership: bool) -> None:
        path = ("agents", "entries")
        for position, key, tree, place in self._items(found, path):
            if not key.strip():
                self.findings.error(place, "blank_key", _("an agent's id is blank"))
            row = self._row(Agent, (key,), place, tree, m.AGENT)
            row.values |= {"position": position, "key": key}
            self._check_scope(row, place)
            maps = self._take_maps(tree, m.AGENT_MAPS, place)
            self._scope_maps(maps, (key,), place)
            row.values["extra"] = kept_template(tree, m.AGENT, row.values)
        if len(found) > 1 and not has_ownership and DIALECTS[self.dialect].agent_entries:
            message = _('several agents need `agents.ownership: "explicit"`')
            self.findings.error(("agents", "ownership"), "ownership_required", message)

    def _scope_maps(self, maps: dict[m.Keys, dict[str, Any]], agent: NaturalKey | None, path: Path) -> None:
        tools = (*path, "tools")
        self._providers(maps["tools", "byProvider"], agent, (*tools, "byProvider"))
        self._senders(maps["tools", "toolsBySender"], {"agent": agent, "group": None}, (*tools, "toolsBySender"))
        self._exec(maps["tools", "exec"], agent, (*tools, "exec"))

    def _check_scope(self, row: Row, path: Path) -> None:
        for prefix, place in m.SCOPE_BLOCKS:
            self._check_lists(row.values, (*path, *place), prefix)
        self._check_profile(row.values["profile"], (*path, "tools", "profile"))

    def _check_lists(self, values: dict[str, Any], path: Path, prefix: str = "") -> None:
        if values.get(f"{prefix}allow") and values.get(f"{prefix}also_allow"):
            message = _("`allow` and `alsoAllow` exclude each other in one scope")
            self.findings.error(path, "allow_with_also_allow", message)

    def _check_profile(self, profile: str | None, path: Path) -> None:
        known = (*DIALECTS[self.dialect].profiles, *sorted(self.profiles))
        if profile and profile not in known:
            message = _("`%(profile)s` is none of %(shown)s%(hint)s") % {
                "profile": profile,
                "shown": ", ".join(known),
                "hint": did_you_mean(profile, known),
            }
            self.findings.error(path, "unknown_word", message)

    def _providers(self, found: dict[str, Any], agent: NaturalKey | None, path: Path) -> None:
        for position, key, tree, place in self._items(found, path):
            only_keys(tree, ("profile", *BLOCK_KEYS), place, self.findings)
            row = self._row(ProviderPolicy, (agent, key), place, tree, m.PROVIDER)
            row.values |= {"position": position, "key": key}
            row.refs = {"agent": agent}
            self._check_lists(row.values, place)
            self._check_profile(row.values["profile"], (*place, "profile"))
            row.values["extra"] = kept_template(tree, m.PROVIDER, row.values)

    def _senders(self, found: dict[str, Any], refs: dict[str, NaturalKey | None], path: Path) -> None:
        for position, key, tree, place in self._items(found, path):
            only_keys(tree, BLOCK_KEYS, place, self.findings)
            row = self._row(SenderRule, (*refs.values(), key), place, tree, m.SENDER)
            row.values |= {"position": position, "key": key}
            row.refs = refs
            self._check_lists(row.values, place)
            row.values["extra"] = kept_template(tree, m.SENDER, row.values)

    def _exec(self, tree: dict[str, Any], agent: NaturalKey | None, path: Path) -> None:
        if not tree:
            return
        row = self._row(ExecSettings, (agent,), path, tree, m.EXEC)
        row.refs = {"agent": agent}
        if row.values["mode"] is not None and (row.values["security"] or row.values["ask"]):
            message = _("`mode` cannot be combined with `security` or `ask`")
            self.findings.error((*path, "mode"), "mode_with_legacy_pair", message)
        row.values["extra"] = kept_template(tree, m.EXEC, row.values)

    # --- channels ---

    def _channels(self, tree: dict[str, Any]) -> None:
        channels: Any = tree.get("channels")
        if "channels" not in tree or not mapping(channels, ("channels",), self.findings):
            return
        named = {key: value for key, value in channels.items() if key not in m.NOT_CHANNELS}
        for position, key, channel, place in self._items(named, ("channels",)):
            if not key.strip():
                self.findings.error(place, "blank_key", _("a channel's name is blank"))
            channels[key] = None
            row = self._row(Channel, (key,), place, channel, ())
            row.values |= {"position": position, "key": key}
            self._group_maps(channel, {"channel": (key,), "account": None}, place)
            self._accounts(m.take_map(channel, ("accounts",), place, self.findings), (key,), (*place, "accounts"))
            row.values["extra"] = kept_template(channel, (), row.values)

    def _accounts(self, found: dict[str, Any], channel: NaturalKey, path: Path) -> None:
        for position, key, tree, place in self._items(found, path):
            row = self._row(ChannelAccount, (channel, key), place, tree, ())
            row.values |= {"position": position, "key": key}
            row.refs = {"channel": channel}
            self._group_maps(tree, {"channel": channel, "account": (channel, key)}, place)
            row.values["extra"] = kept_template(tree, (), row.values)

    def _group_maps(self, tree: dict[str, Any], refs: dict[str, NaturalKey | None], path: Path) -> None:
        for kind in m.GROUP_MAPS:
            found = m.take_map(tree, (kind,), path, self.findings)
            self._groups(found, kind, {**refs, "parent": None}, (*path, kind))

    def _groups(self, found: dict[str, Any], kind: str, refs: dict[str, NaturalKey | None], path: Path) -> None:
        for position, key, tree, place in self._items(found, path):
            has_tools = "tools" in tree
            if has_tools and mapping(tree["tools"], (*place, "tools"), self.findings):
                only_keys(tree["tools"], BLOCK_KEYS, (*place, "tools"), self.findings)
            elif has_tools:
                tree["tools"] = {}
            natural = (*refs.values(), kind, key)
            row = self._row(ChannelGroup, natural, place, tree, m.GROUP)
            row.values |= {"position": position, "key": key, "kind": kind, "has_tools": has_tools}
            row.refs = refs
            self._check_lists(row.values, (*place, "tools"))
            senders = m.take_map(tree, ("toolsBySender",), place, self.findings)
            self._senders(senders, {"agent": None, "group": natural}, (*place, "toolsBySender"))
            if kind in NESTING:
                inner = m.take_map(tree, ("channels",), place, self.findings)
                self._groups(inner, GroupKind.CHANNELS, {**refs, "parent": natural}, (*place, "channels"))
            row.values["extra"] = kept_template(tree, m.GROUP, row.values)


def kept_places(row: Row) -> Iterator[Path]:
    """Name the places that a record keeps verbatim: the outermost keys that hold nothing of its own."""
    yield from _kept(row.values["extra"], (), HOLDERS.get(row.model, frozenset()), row.path)


def _kept(template: dict[str, Any], at: m.Keys, holders: frozenset[m.Keys], path: Path) -> Iterator[Path]:
    for key, value in template.items():
        place = (*at, key)
        if isinstance(value, dict) and place in holders:
            yield from _kept(value, place, holders, path)
        elif value is not None and value != {}:
            yield (*path, *place)


def _holders(members: tuple[m.Member, ...]) -> frozenset[m.Keys]:
    return frozenset(member.path[:depth] for member in members for depth in range(1, len(member.path)))


HOLDERS: dict[Any, frozenset[m.Keys]] = {
    GlobalPolicy: _holders(m.GLOBAL) | {("channels",)},
    Agent: _holders(m.AGENT),
    ChannelGroup: _holders(m.GROUP),
    ExecSettings: _holders(m.EXEC),
    ExecApprovals: _holders(m.APPROVALS),
}
"""Objects that hold members of a record, and may hold keys beside them."""
