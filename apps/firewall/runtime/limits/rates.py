"""Rates: how many calls a minute a tool, an agent, a sender or a session may make."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import normalize_name
from apps.firewall.engine.subjects import subject_names
from apps.firewall.runtime.call import Call
from apps.firewall.tools.definition import Definition
from apps.firewall.tools.model_calls import json_text

Per: TypeAlias = Literal["everybody", "tool", "agent", "sender", "session"]

OWN_RULE: Final = "its definition"
CODE_POINTS_PER_TOKEN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RateRule:
    """One rate.

    Args:
        name: as people know it; it stands in refusals.
        tools, agents: names, patterns, of tools also groups; whom it holds for.
        per: whose calls are counted together: each tool's, agent's, sender's or session's own, or everybody's.
    """

    id: str
    name: str
    per_minute: int
    per: Per = "everybody"
    tools: tuple[str, ...] = ("*",)
    agents: tuple[str, ...] = ("*",)


@dataclass(frozen=True, slots=True)
class Share:
    """One counter that a call takes from.

    Args:
        rule: id of its rule; empty for the rate that a tool's definition states.
        subject: whose calls it counts; a tool's, an agent's, a sender's name, a session's key, or nothing.
    """

    rule: str
    name: str
    subject: str
    per_minute: int


def shares_of(call: Call, definition: Definition, rules: Iterable[RateRule], dialect: Dialect) -> Iterator[Share]:
    """List every counter that a call takes from: those of its rules, and that of the tool itself."""
    own = definition.rate_limit
    if own is not None and own.requests_per_minute is not None:
        yield Share("", OWN_RULE, definition.name, own.requests_per_minute)
    for rule in rules:
        if _holds(rule, call, definition, dialect):
            yield Share(rule.id, rule.name, _subject(rule.per, call, definition), rule.per_minute)


def _holds(rule: RateRule, call: Call, definition: Definition, dialect: Dialect) -> bool:
    tools, agents = subject_names(dialect, "tool", rule.tools), subject_names(dialect, "agent", rule.agents)
    return tools.matches(normalize_name(dialect, definition.name)) and agents.matches(call.agent)


def _subject(per: Per, call: Call, definition: Definition) -> str:
    """Name whose calls count; senders and sessions that nobody named count together, as one that is unknown."""
    context = call.context
    sender = context.sender_id or context.sender_username or context.sender_e164 or context.sender_name or ""
    subjects = {
        "everybody": "",
        "tool": definition.name,
        "agent": call.agent,
        "sender": f"{context.channel or ''}:{sender}",
        "session": context.session_key or "",
    }
    return subjects[per]


def estimated_tokens(value: Any) -> int:
    """Estimate what a value costs a model: a quarter of the code points of its JSON, rounded up."""
    return math.ceil(len(json_text(value)) / CODE_POINTS_PER_TOKEN)
