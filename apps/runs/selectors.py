"""Runs for pages and programs: one, lists, and figures over many."""

from typing import Any, Final
from uuid import UUID

from apps.audit.selectors import calls_by_id
from apps.runs.errors import RunNotFoundError
from apps.runs.models import RunCall, ToolRun

CALLS_TOLD: Final = 1000
SEARCHES_TOLD: Final = 1000


def run_find(run_id: UUID) -> ToolRun:
    """Find a run that something of ours names.

    Raises:
        RunNotFoundError: it was forgotten.
    """
    run = ToolRun.objects.select_related("environment").filter(pk=run_id).first()
    if run is None:
        raise RunNotFoundError("no such run")
    return run


def run_told(run: ToolRun) -> dict[str, Any]:
    """Tell programs of a run: what it was offered, what it searched, and every call with its rank and outcome."""
    calls = list(RunCall.objects.filter(run=run)[:CALLS_TOLD])
    records = calls_by_id([each.call_id for each in calls], since=run.begun_at)
    return {
        "id": run.shown_id,
        "agent": run.agent,
        "session": run.session_key or None,
        "provider": run.provider,
        "model": run.model or None,
        "begun_at": run.begun_at.isoformat(),
        "ended_at": None if run.ended_at is None else run.ended_at.isoformat(),
        "outcome": run.outcome or None,
        "mode": run.mode,
        "asked_mode": run.asked_mode,
        "why": run.why,
        "snapshot": run.snapshot_digest or None,
        "catalogue": {"size": run.catalogue_size, "sources": run.sources, "visible": run.visible},
        "bytes": {
            "direct": run.direct_bytes,
            "offered": run.surface_bytes,
            "directory_characters": run.directory_characters,
        },
        "counts": {
            "search": run.searches,
            "describe": run.describes,
            "code": run.codes,
            "call": run.calls,
        },
        "described": run.described,
        "searches": [{"query": each.query, "found": each.found} for each in run.queries.all()[:SEARCHES_TOLD]],
        "calls": [
            {
                "id": each.shown_id,
                "tool": each.tool,
                "name": each.name,
                "source": each.source,
                "through": each.through,
                "rank": each.rank,
                "status": records[each.call_id].status if each.call_id in records else "running",
            }
            for each in calls
        ],
    }
