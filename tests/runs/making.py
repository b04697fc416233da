"""Runs as agents make them, without an agent."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from apps.firewall.identifiers import new_id
from apps.policies.services import document_import, publish
from apps.runs.models import ToolRun
from apps.runs.services import Beginning, Offer, call_begin, run_begin, run_offered, searches_record

MakeRun = Callable[..., ToolRun]


def run_made(
    environment: Any,
    *,
    agent: str = "main",
    at: datetime | None = None,
    mode: str = "tools",
    why: str = "default",
    searched: Sequence[tuple[str, Sequence[str]]] = (),
    called: Sequence[tuple[str, str]] = (),
    **offer: Any,
) -> ToolRun:
    """Make a run.

    Args:
        searched: queries and the ids that each found.
        called: ids of tools, and the way that each was called.
    """
    at = at or timezone.now()
    said = Beginning(
        agent=agent,
        session_key=f"agent:{agent}:main",
        channel="telegram",
        sender="7",
        actor="token:oca_1",
        context={"agent_id": agent},
        provider="acme",
        model="acme-large",
        form="openai-chat",
    )
    run = run_begin(environment, said, run_id=new_id(), at=at)
    sizes = {"catalogue_size": 300, "direct_bytes": 90_000, "surface_bytes": 9_000, "visible": 12}
    run_offered(run.pk, Offer(snapshot_digest="d" * 64, asked_mode=mode, mode=mode, why=why, **(sizes | offer)))
    if searched:
        searches_record(run, searched, at=at)
    for tool, through in called:
        source, _, name = tool.partition(":")
        name = name.rpartition(":")[2]
        call_begin(run, call_id=new_id(), tool=tool, name=name, source=source, through=through, at=at)
    run.refresh_from_db()
    return run


DOCUMENT = {"agents": {"entries": {"main": {"tools": {"profile": "full"}}}}}


def published_in(environment: Any, by: Any) -> Any:
    """Publish an agent `main` who may use everything; gives the environment."""
    document_import(environment, json.dumps(DOCUMENT), by=by)
    publish(environment, by=by, message="first", expected_live="")
    return environment
