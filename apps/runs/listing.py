"""Lists of runs, page by page, and one run with what it searched and called."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q, QuerySet

from apps.audit.chain import storable_text
from apps.firewall.engine.subjects import kept_name
from apps.firewall.identifiers import read_id
from apps.registry.models import Environment
from apps.runs.errors import RunFilterError
from apps.runs.models import RunCall, RunSearch, ToolRun
from apps.runs.services import ABANDONED

PAGE: Final = 50
PAGE_LIMIT: Final = 200
ROWS_SHOWN: Final = 200
AGENTS_SHOWN: Final = 100
MODES: Final = ("direct", "tools", "directory", "code")
OPEN: Final = "open"
OUTCOMES: Final = (OPEN, "completed", "failed", "cancelled", ABANDONED)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilters:
    """What to look for; an empty member filters nothing.

    Args:
        agents: any of these; a principal that may see some agents only is held to them here.
        mode: in force, one of `MODES`.
        outcome: one of `OUTCOMES`.
    """

    agents: tuple[str, ...] = ()
    agent: str = ""
    mode: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class RunPage:
    """A page of runs, the newest first. `older` is the cursor of the next page, None where there is none."""

    rows: tuple[ToolRun, ...]
    older: str | None


def runs_page(environment: Environment, filters: RunFilters, *, after: str = "", limit: int = PAGE) -> RunPage:
    """Give a page of the runs of an environment.

    Args:
        after: `older` of the page before.
        limit: 1 to `PAGE_LIMIT`.
    Raises:
        RunFilterError: `after` is no cursor, or a filter has no such value.
    """
    limit = max(1, min(limit, PAGE_LIMIT))
    rows = _filtered(environment, filters).defer("context", "client_tools")
    if after:
        at, identifier = _read_cursor(after)
        rows = rows.filter(Q(begun_at__lt=at) | Q(begun_at=at, id__lt=identifier))
    found = list(rows.order_by("-begun_at", "-id")[: limit + 1])
    kept = tuple(found[:limit])
    return RunPage(kept, _cursor(kept[-1]) if len(found) > limit else None)


def run_agents(environment: Environment) -> list[str]:
    """Name the agents that have runs."""
    names = ToolRun.objects.filter(environment=environment).order_by("agent").values_list("agent", flat=True)
    return list(names.distinct()[:AGENTS_SHOWN])


def run_searches(run: ToolRun) -> Sequence[RunSearch]:
    """Give what a run searched, in order."""
    return list(run.queries.all()[:ROWS_SHOWN])


def run_calls(run: ToolRun) -> Sequence[RunCall]:
    """Give what a run called, in order."""
    return list(run.tool_calls.all()[:ROWS_SHOWN])


def _filtered(environment: Environment, filters: RunFilters) -> QuerySet[ToolRun]:
    rows = ToolRun.objects.filter(environment=environment)
    for name, known in (("mode", MODES), ("outcome", OUTCOMES)):
        value = getattr(filters, name)
        if value and value not in known:
            raise RunFilterError(f"`{name}` is one of {', '.join(known)}, not `{value[:100]}`")
    if filters.agents:
        rows = rows.filter(agent__in=filters.agents)
    if filters.agent:
        rows = rows.filter(agent=kept_name("agent", storable_text(filters.agent)))
    if filters.mode:
        rows = rows.filter(mode=filters.mode)
    if filters.outcome == OPEN:
        return rows.filter(ended_at=None)
    return rows.filter(outcome=filters.outcome) if filters.outcome else rows


def _cursor(run: ToolRun) -> str:
    return f"{(run.begun_at - EPOCH) // MICROSECOND}~{run.shown_id}"


def _read_cursor(text: str) -> tuple[datetime, UUID]:
    begun, _, shown = text.partition("~")
    try:
        if not (begun.isascii() and begun.isdecimal() and len(begun) <= 17):
            raise ValueError("no instant")
        return EPOCH + int(begun) * MICROSECOND, read_id("trun", shown)
    except (ValueError, OverflowError) as exc:
        raise RunFilterError("the cursor is none of a list of runs") from exc
