"""Layers against each other: what one list names and another takes away, and scopes that are left without tools."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from apps.firewall.engine.names import ANYTHING, fold, normalize_name
from apps.firewall.engine.policy import Policy, add_also_allow, merge_allow
from apps.policies.lint.draft import Draft
from apps.policies.lint.findings import LintFinding
from apps.policies.lint.reach import sender_identity

Names = Sequence[str] | None
LISTS: Final = (("allow", "allow"), ("alsoAllow", "also_allow"))
SANDBOX: Final = (("sandbox.tools.allow", "sandbox_allow"), ("sandbox.tools.alsoAllow", "sandbox_also_allow"))
SPAWN: Final = "sessions_spawn"


def layer_findings(draft: Draft) -> Iterator[LintFinding]:
    """Review what the layers of the draft do to each other."""
    if draft.policy is None:
        return
    layers = _Layers(draft, draft.records("agent"))
    for find in PASSES:
        yield from find(layers)


def agent_findings(draft: Draft, agent: Any) -> Iterator[LintFinding]:
    """Review the lists of one agent, saved or being typed, against its profile and the global policy."""
    if draft.policy is None:
        return
    layers = _Layers(draft, [agent])
    yield from layers.emptied_one(agent)
    yield from layers.hidden_entries(agent, layers.of_profile(agent))
    yield from layers.denied_entries("agent", agent)
    yield from layers.denied_again(agent)


class _Layers:
    def __init__(self, draft: Draft, agents: Sequence[Any]) -> None:
        self.draft = draft
        self.policy = draft.policy
        self.universe = draft.candidates.universe
        self.agents = agents
        self.denied = self.mask(self.policy.deny)
        own = {row.key: Policy(_names(row.allow), _names(row.deny)) for row in draft.records("profile")}
        known = {key: Policy(policy.allow, policy.deny) for key, policy in draft.dialect.profiles.items()}
        self.profiles = {**known, **own}

    def mask(self, names: Names) -> int:
        """Return the tools that the entries of a list name."""
        found = 0
        for entry in names or ():
            found |= self.draft.candidates.entry_mask(entry)
        return found

    def passing(self, policy: Policy | None) -> int:
        """Return the tools that a policy lets pass."""
        return self.universe.full if policy is None else self.draft.candidates.rules(policy, examined=True).mask

    def of_profile(self, agent: Any) -> int:
        """Return the tools of the profile that counts for an agent."""
        name = agent.profile if agent.profile is not None else self.policy.profile
        more = agent.also_allow if agent.also_allow is not None else self.policy.also_allow
        return self.passing(add_also_allow(self.profiles.get(name or ""), _names(more)))

    def of_agent(self, agent: Any) -> int:
        return self.of_profile(agent) & self.passing(_own(self.policy)) & self.passing(_own(agent))

    def _member(self, record: Any, member: str) -> str:
        return member if record is self.policy else f"tools.{member}"

    def emptied(self) -> Iterator[LintFinding]:
        """Find lists that deny every tool, and agents that are left without one."""
        for record in (self.policy, *self.agents):
            yield from self.emptied_one(record)

    def emptied_one(self, record: Any) -> Iterator[LintFinding]:
        """Say whether a record denies every tool, or is left without one by lists that each have some."""
        full = self.universe.full
        if full and record.deny and self.mask(record.deny) == full:
            message = _("the list denies every tool: nothing that is allowed elsewhere opens one again")
            yield self.draft.finding(record, "denies_everything", self._member(record, "deny"), message)
        elif full and record is not self.policy and self._is_narrowed_away(record):
            message = _("this agent has no tool: its profile and lists share none; widen one of them")
            yield self.draft.finding(record, "no_tool_left", "", message)

    def _is_narrowed_away(self, agent: Any) -> bool:
        """Say whether lists that leave tools each leave none together."""
        own, shared = self.passing(_own(agent)), self.passing(_own(self.policy))
        return bool(own and shared) and not self.of_agent(agent)

    def hidden_by_profile(self) -> Iterator[LintFinding]:
        """Find entries of allow lists that no profile beside them has: the list only narrows."""
        reached = 0
        for agent in self.agents:
            of_profile = self.of_profile(agent)
            reached |= of_profile
            yield from self.hidden_entries(agent, of_profile)
        if self.agents:
            yield from self.hidden_entries(self.policy, reached)

    def hidden_entries(self, record: Any, reached: int) -> Iterator[LintFinding]:
        for entry in record.allow or ():
            named = self.draft.candidates.entry_mask(entry)
            if named and fold(entry) != ANYTHING and not named & reached:
                message = _("the profile leaves out `%(entry)s`, and `allow` adds nothing: write it in `alsoAllow`")
                yield self.draft.finding(
                    record, "hidden_by_profile", self._member(record, "allow"), message % {"entry": entry}, entry
                )

    def commands_hidden(self) -> Iterator[LintFinding]:
        """Find settings of commands of an agent that has no `exec`."""
        exec_mask = self.universe.mask_of_names(["exec"])
        agents = {agent.pk: agent for agent in self.agents}
        for record in self.draft.records("exec"):
            agent = agents.get(record.agent_id)
            if agent is None or not exec_mask or "deny" in (record.mode, record.security):
                continue
            if not self.of_agent(agent) & exec_mask:
                message = _("these settings never count: the profile or a list leaves this agent without `exec`")
                yield self.draft.finding(record, "exec_hidden", "", message)

    def denied_above(self) -> Iterator[LintFinding]:
        """Find entries that the global `deny` takes away, or repeats."""
        if not self.denied:
            return
        for kind in ("agent", "provider", "group", "sender"):
            for record in self.draft.records(kind):
                yield from self.denied_entries(kind, record)
        for agent in self.agents:
            yield from self.denied_again(agent)

    def denied_entries(self, kind: str, record: Any) -> Iterator[LintFinding]:
        """Find entries of a record that the global `deny` takes away."""
        for member, column in LISTS:
            yield from self._denied(record, _block(kind, member), getattr(record, column))

    def denied_again(self, agent: Any) -> Iterator[LintFinding]:
        """Find entries of an agent's `deny` that the global one has."""
        for entry in agent.deny or ():
            named = self.draft.candidates.entry_mask(entry)
            if named and not named & ~self.denied:
                message = _("the global `deny` has `%(entry)s` already: this entry changes nothing") % {"entry": entry}
                yield self.draft.finding(agent, "denied_already", "tools.deny", message, entry, "info")

    def _denied(self, record: Any, member: str, names: Names) -> Iterator[LintFinding]:
        for entry in names or ():
            named = self.draft.candidates.entry_mask(entry)
            if named and not named & ~self.denied:
                message = _("the global `deny` takes `%(entry)s` away: a later list cannot bring it back")
                yield self.draft.finding(record, "denied_above", member, message % {"entry": entry}, entry)

    def sandboxes(self) -> Iterator[LintFinding]:
        """Find tools that a sandbox allows and an ordinary `deny` takes away."""
        for record in (self.policy, *self.agents):
            denied = self.denied | self.mask(record.deny)
            for member, column in SANDBOX:
                for entry in getattr(record, column) or ():
                    named = self.draft.candidates.entry_mask(entry)
                    if named and not named & ~denied:
                        message = _("`deny` of the tools takes `%(entry)s` away, in the sandbox too")
                        yield self.draft.finding(
                            record,
                            "sandbox_allow_denied",
                            self._member(record, member),
                            message % {"entry": entry},
                            entry,
                        )

    def plugins(self) -> Iterator[LintFinding]:
        """Find allow lists that hide a plugin which no list of the draft ever names."""
        unnamed = self._unnamed()
        for record in (self.policy, *self.agents):
            own = _own(record)
            if own is not None and self.draft.candidates.rules(own, examined=True).ignored:
                continue
            allowed = self.mask(record.allow)
            for plugin, tools in unnamed.items():
                if record.allow and allowed and not allowed & tools:
                    message = _(
                        "the list hides the plugin `%(plugin)s`, which no list names: add `%(plugin)s`, or deny it"
                    )
                    yield self.draft.finding(
                        record,
                        "plugin_left_out",
                        self._member(record, "allow"),
                        message % {"plugin": plugin},
                        plugin,
                    )

    def _unnamed(self) -> dict[str, int]:
        named = 0
        for kind in ("global", "agent", "provider", "profile", "group", "sender"):
            named |= self.mask([entry for entry in self.draft.entries(kind) if fold(entry) != ANYTHING])
        plugins = {
            plugin: self.universe.mask_of_names(tools) for plugin, tools in self.draft.candidates.plugins.items()
        }
        return {plugin: tools for plugin, tools in plugins.items() if not tools & named}

    def owner_only(self) -> Iterator[LintFinding]:
        """Find rules for everybody that name what only owners may use."""
        dialect = self.draft.dialect
        owners = self.universe.mask_of_names(dialect.owner_only)
        if dialect.owner_flag_counts:
            owners |= self.universe.owner_only
        for rule in self.draft.records("sender"):
            if rule.key.strip() != ANYTHING or sender_identity(dialect, rule.key) != ANYTHING:
                continue
            for member, column in LISTS:
                for entry in getattr(rule, column) or ():
                    named = self.draft.candidates.entry_mask(entry)
                    if named and not named & ~owners:
                        message = _("`%(entry)s` is for owners only: a rule for everybody gives it to nobody else")
                        yield self.draft.finding(rule, "owner_only", member, message % {"entry": entry}, entry)


def _subagents(layers: _Layers) -> Iterator[LintFinding]:
    """Find entries for sub-agents that a built-in list denies all the same."""
    draft, dialect, policy = layers.draft, layers.draft.dialect, layers.policy
    depth = policy.max_spawn_depth or dialect.max_spawn_depth
    for member, column in (("allow", "subagent_allow"), ("alsoAllow", "subagent_also_allow")):
        for entry in getattr(policy, column) or ():
            name, place = normalize_name(dialect, entry), f"subagents.tools.{member}"
            if dialect.subagent_allow_lifts_deny:
                continue
            if name in dialect.subagent_deny_always:
                message = _("sub-agents never have `%(entry)s`: no list gives it to them")
                yield draft.finding(policy, "subagent_denied", place, message % {"entry": entry}, entry)
            elif name == SPAWN and depth == 1:
                message = _(
                    "with `maxSpawnDepth` 1 no sub-agent may start another: raise it to 2 or remove `%(entry)s`"
                )
                yield draft.finding(policy, "spawn_depth", place, message % {"entry": entry}, entry)


def _own(record: Any) -> Policy | None:
    allow = merge_allow(_names(record.allow), _names(record.also_allow))
    return None if allow is None and record.deny is None else Policy(allow, _names(record.deny))


def _names(listed: Names) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _block(kind: str, member: str) -> str:
    return f"tools.{member}" if kind in ("agent", "group") else member


PASSES: Final[Sequence[Callable[[_Layers], Iterator[LintFinding]]]] = (
    _Layers.emptied,
    _Layers.hidden_by_profile,
    _Layers.commands_hidden,
    _Layers.denied_above,
    _Layers.sandboxes,
    _Layers.plugins,
    _Layers.owner_only,
    _subagents,
)
