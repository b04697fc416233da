"""Suggestions from use: tools that an agent has and never calls, and a narrower policy for the same calls.

A suggestion is proven before it is made: over all classes of contexts nobody gains a tool, and nobody loses one that
the agent has called.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from apps.audit.agent_tools import AgentTools, agent_tools
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.firewall.engine.diff import diff_snapshots
from apps.firewall.engine.policy import Policy
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.policies.compiler import draft_source
from apps.policies.models import Agent
from apps.policies.selectors import draft_snapshot
from apps.registry.models import Environment

LOOK_BACKS: Final = (7, 30, 90)
"""Days from which people choose how far to look back."""
CALLS_LEAST: Final = 20
"""With fewer calls there is not enough to say what an agent needs."""


@dataclass(frozen=True, slots=True)
class AgentUse:
    """What an agent may call and what it has called, by the draft and the ledger.

    Attributes:
        used: each tool that it has called, with its newest call.
        allowed: tools of a call that says nothing of its model, place and sender.
        unused: those of them that it has not called, in the order of the catalogue.
    """

    agent: Agent
    calls: int
    used: dict[str, datetime]
    allowed: tuple[str, ...]
    unused: tuple[str, ...]

    @property
    def is_enough(self) -> bool:
        return self.calls >= CALLS_LEAST


@dataclass(frozen=True, slots=True)
class Narrower:
    """A narrower policy of an agent: one list says this instead.

    Attributes:
        member: `allow` or `deny`, of the agent.
        entries: the whole list as it would be.
        lost: tools that somebody loses in some context, none of which the agent has called.
        key: of this very suggestion; it changes when calls or the draft change what is suggested.
    """

    member: str
    entries: tuple[str, ...]
    lost: tuple[str, ...]
    before: Snapshot = field(repr=False)
    after: Snapshot = field(repr=False)

    @property
    def key(self) -> str:
        told = json.dumps([self.member, self.entries, self.before.digest])
        return hashlib.sha256(told.encode()).hexdigest()[:32]


def uses(environment: Environment, agents: Sequence[Agent], *, days: int, at: datetime) -> list[AgentUse]:
    """Lay what agents have called beside what the draft allows them.

    Args:
        days: how far to look back from `at`.
    """
    draft = draft_snapshot(environment)
    names = {agent: {agent.key, normalize_agent_id(agent.key)} for agent in agents}
    known = agent_tools(environment.slug, frozenset[str]().union(*names.values()), since=at - timedelta(days=days))
    return [_use(draft, agent, [known[name] for name in spellings]) for agent, spellings in names.items()]


def _use(draft: Snapshot, agent: Agent, known: Sequence[AgentTools]) -> AgentUse:
    used: dict[str, datetime] = {}
    for name, at in (each for spelling in known for each in spelling.tools.items()):
        own = draft.engine.canonical_name(name) or name
        used[own] = max(at, used.get(own, at))
    allowed = allowed_tools(draft, CallContext(agent_id=agent.key))
    unused = tuple(name for name in allowed if name not in used)
    return AgentUse(agent, sum(each.calls for each in known), used, allowed, unused)


def narrower(use: AgentUse) -> Narrower | None:
    """Find a narrower policy under which each call of an agent is allowed as before.

    Returns:
        A shorter list of what is allowed where the agent may have one, else a longer one of what is denied; None when
        there are too few calls to say, nothing is unused, or no such list is proven.
    """
    if not use.is_enough or not use.unused:
        return None
    before = draft_snapshot(use.agent.environment)
    for name, entries in _candidates(use, before):
        after = _with_list(use.agent, name, entries)
        diff = diff_snapshots(before, after)
        lost = {tool for change in diff.changes for tool in change.lost}
        gained = any(change.gained for change in diff.changes)
        if lost and not gained and lost.isdisjoint(use.used):
            return Narrower(name, entries, tuple(sorted(lost)), before, after)
    return None


def _candidates(use: AgentUse, draft: Snapshot) -> list[tuple[str, tuple[str, ...]]]:
    agent = use.agent
    deny = tuple(dict.fromkeys([*(agent.deny or ()), *use.unused]))
    found = [("deny", deny)]
    if not agent.also_allow:
        passing = _passing(draft, Policy(allow=None if agent.allow is None else tuple(agent.allow)))
        allow = tuple(name for name in draft.tool_names if name in use.used and name in passing)
        if allow:  # an empty list would allow everything
            found.insert(0, ("allow", allow))
    return found


def _passing(draft: Snapshot, policy: Policy) -> frozenset[str]:
    engine = draft.engine
    candidates = engine.candidates(engine.universe.full)
    return frozenset(engine.universe.names_of(candidates.rules(policy, examined=True).mask))


def _with_list(agent: Agent, name: str, entries: tuple[str, ...]) -> Snapshot:
    source = draft_source(agent.environment)
    for each in source.agents or ():
        if each.id == agent.key:
            members: dict[str, Any] = {name: entries}
            each.policy = replace(each.policy or Policy(), **members)
    return build_snapshot(source)
