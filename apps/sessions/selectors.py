"""Reading sessions: lists, one with its runs, what repeats in it."""

import base64
import binascii
import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.audit.chain import storable_text
from apps.firewall.engine.subjects import kept_name
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.loops import LoopHistory
from apps.registry.models import Environment
from apps.remembered import remembered
from apps.sessions.errors import SessionFilterError
from apps.sessions.models import Session, SessionRun

PAGE: Final = 50
PAGE_LIMIT: Final = 200
RUNS_SHOWN: Final = 50
REPEATS_SHOWN: Final = 8
AGENTS_SHOWN: Final = 100
NAMES_KNOWN: Final = 10_000
STATES: Final = ("open", "ended")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFilters:
    """What to look for; an empty member filters nothing.

    Args:
        agents: any of these; a principal that may see some agents only is held to them here.
        state: one of `STATES`.
        text: a part of the key.
    """

    agents: tuple[str, ...] = ()
    agent: str = ""
    state: str = ""
    channel: str = ""
    sender: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class SessionPage:
    """A page of sessions, the one used last first. `older` is the cursor of the next page, None where there is none."""

    rows: tuple[Session, ...]
    older: str | None


@dataclass(frozen=True, slots=True)
class Repeat:
    """A call that was made more than once with the same parameters, as far as the history goes back.

    Args:
        stuck: how many of these came to the same end as the one before.
    """

    tool: str
    count: int
    stuck: int


@dataclass(frozen=True, slots=True)
class LoopState:
    """What loop detection remembers of a session.

    Args:
        remembered: calls in the history.
        problem: why it cannot be read; empty when it can.
    """

    remembered: int = 0
    repeats: tuple[Repeat, ...] = ()
    problem: str = ""


def sessions(environment: Environment, filters: SessionFilters, *, after: str = "", limit: int = PAGE) -> SessionPage:
    """Give a page of the sessions of an environment.

    Args:
        after: `older` of the page before.
        limit: 1 to `PAGE_LIMIT`.
    Raises:
        SessionFilterError: `after` is no cursor, or the state is unknown.
    """
    limit = max(1, min(limit, PAGE_LIMIT))
    rows = _filtered(environment, filters).defer("loops")
    if after:
        at, identifier = _read_cursor(after)
        rows = rows.filter(Q(last_call_at__lt=at) | Q(last_call_at=at, id__lt=identifier))
    found = list(rows.order_by("-last_call_at", "-id")[: limit + 1])
    kept = tuple(found[:limit])
    return SessionPage(kept, _cursor(kept[-1]) if len(found) > limit else None)


def _filtered(environment: Environment, filters: SessionFilters) -> QuerySet[Session]:
    rows = Session.objects.select_related("environment").filter(environment=environment)
    if filters.agents:
        rows = rows.filter(agent__in=filters.agents)
    if filters.state not in ("", *STATES):
        raise SessionFilterError(f"no state `{filters.state}`: it is one of {', '.join(STATES)}")
    if filters.state:
        rows = rows.filter(ended_at__isnull=filters.state == "open")
    if filters.text:
        rows = rows.filter(key__icontains=storable_text(filters.text))
    given = {
        "agent": kept_name("agent", storable_text(filters.agent)),
        "channel": kept_name("channel", storable_text(filters.channel)),
        "sender": storable_text(filters.sender),
    }
    exact = {name: value for name, value in given.items() if value}
    return rows.filter(**exact)


def sessions_since(environment: Environment, since: datetime) -> QuerySet[Session]:
    """Every session with a call since then."""
    return Session.objects.filter(environment=environment, last_call_at__gte=since)


def session_agents(environment: Environment) -> list[str]:
    """Name the agents that have sessions."""
    names = Session.objects.filter(environment=environment).order_by("agent").values_list("agent", flat=True)
    return list(names.distinct()[:AGENTS_SHOWN])


@remembered
def session_agent_names(environment: str) -> list[str]:
    """Name the agents with sessions in the environment with a slug; in all where it is empty."""
    return _distinct("agent", environment)


@remembered
def session_channel_names(environment: str) -> list[str]:
    """Name the channels of sessions in the environment with a slug; in all where it is empty."""
    return _distinct("channel", environment)


def _distinct(column: str, environment: str) -> list[str]:
    rows = Session.objects.filter(environment__slug=environment) if environment else Session.objects.all()
    return list(rows.order_by(column).values_list(column, flat=True).distinct()[:NAMES_KNOWN])


def session_runs(session: Session, *, limit: int = RUNS_SHOWN) -> list[SessionRun]:
    """Give the runs of a session, newest first."""
    return list(session.runs.order_by("-started_at", "-id")[:limit])


def session_named(session_id: UUID) -> Session | None:
    """Find a session, for those that close what it left open."""
    return Session.objects.select_related("environment").filter(pk=session_id).first()


def session_with_key(environment: Environment, key: str) -> Session | None:
    """Find a session by its key, or by a text that callers wrote for it; None where it is not known."""
    found = Session.objects.filter(Q(key=key) | Q(spellings__contains=[key]), environment=environment)
    return found.order_by("-last_call_at").first()


def loop_state(session: Session) -> LoopState:
    """Say what repeats in a session, most often first."""
    if session.loops is None:
        return LoopState()
    try:
        history = LoopHistory.from_json(session.loops)
    except FirewallError as exc:
        return LoopState(problem=exc.message)
    counts = Counter((record.tool, record.signature) for record in history.records)
    found = [Repeat(tool, count, _stuck(history, tool, signature)) for (tool, signature), count in counts.items()]
    repeats = sorted((each for each in found if each.count > 1), key=lambda each: (-each.count, each.tool))
    return LoopState(len(history.records), tuple(repeats[:REPEATS_SHOWN]))


def _stuck(history: LoopHistory, tool: str, signature: str) -> int:
    ends = [each.equal for each in history.records if (each.tool, each.signature) == (tool, signature) and each.equal]
    return sum(one == other for one, other in pairwise(ends))


def _cursor(session: Session) -> str:
    text = json.dumps([session.last_call_at.isoformat(), str(session.pk)])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(text: str) -> tuple[datetime, UUID]:
    try:
        given: Any = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        at, identifier = datetime.fromisoformat(given[0]), UUID(given[1])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, binascii.Error) as exc:
        raise SessionFilterError("the cursor is none of a list of sessions") from exc
    if at.tzinfo is None:
        raise SessionFilterError("the cursor is none of a list of sessions")
    return at, identifier
