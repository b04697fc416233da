"""What happens to runs: they begin, are offered tools, search, call, and end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from apps.audit.masking import Masker
from apps.registry.models import Environment
from apps.runs.errors import RunEndedError
from apps.runs.models import ClientCall, RunCall, RunSearch, ToolRun

KEPT: Final = timedelta(days=30)
QUIET: Final = timedelta(minutes=30)
"""After so long without anything a run is over."""

ABANDONED: Final = "abandoned"
QUERY_LETTERS: Final = 512
TASK_LETTERS: Final = 2000
FOUND_KEPT: Final = 50
DESCRIBED_KEPT: Final = 200
SEARCHES_LOOKED_AT: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """What a caller says of its run."""

    agent: str
    session_key: str
    channel: str
    sender: str
    actor: str
    context: Mapping[str, Any]
    provider: str
    model: str
    form: str
    client_tools: Sequence[Mapping[str, Any]] = ()
    required: Sequence[str] = ()
    task: str = ""
    only_runnable: bool = True
    takes_code: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What a run is offered, and what that costs; the members are those of `ToolRun`."""

    snapshot_digest: str
    asked_mode: str
    mode: str
    why: str
    sources: Mapping[str, int] = field(default_factory=dict)
    catalogue_size: int = 0
    direct_bytes: int = 0
    surface_bytes: int = 0
    directory_characters: int = 0
    visible: int = 0


def run_begin(environment: Environment, said: Beginning, *, run_id: UUID, at: datetime) -> ToolRun:
    """Keep a new run."""
    return ToolRun.objects.create(id=run_id, environment=environment, begun_at=at, last_at=at, **_columns(said))


def run_join(environment: Environment, said: Beginning, *, run_id: UUID, at: datetime) -> ToolRun:
    """Go on with the run that a caller last began with the very same words, or begin one under `run_id`.

    For callers that keep no session: one that went quiet, or was ended, is not gone on with.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"run of {said.actor}"])
        begun = ToolRun.objects.select_related("environment").filter(environment=environment, ended_at=None)
        found = begun.filter(last_at__gte=at - QUIET, **_columns(said)).order_by("-begun_at", "-id").first()
        return found or run_begin(environment, said, run_id=run_id, at=at)


def _columns(said: Beginning) -> dict[str, Any]:
    return {
        "agent": said.agent,
        "session_key": said.session_key,
        "channel": said.channel,
        "sender": said.sender,
        "actor": said.actor,
        "context": dict(said.context),
        "provider": said.provider,
        "model": said.model,
        "form": said.form,
        "client_tools": [dict(each) for each in said.client_tools],
        "required": list(said.required),
        "task": Masker().text(said.task[:TASK_LETTERS]),
        "only_runnable": said.only_runnable,
        "takes_code": said.takes_code,
    }


def run_offered(run_id: UUID, offer: Offer) -> None:
    """Keep what a run is offered; the first offer stays, for it is what the model saw at the start."""
    ToolRun.objects.filter(pk=run_id, snapshot_digest="", mode="").update(
        snapshot_digest=offer.snapshot_digest,
        asked_mode=offer.asked_mode,
        mode=offer.mode,
        why=offer.why,
        sources=dict(offer.sources),
        catalogue_size=offer.catalogue_size,
        direct_bytes=offer.direct_bytes,
        surface_bytes=offer.surface_bytes,
        directory_characters=offer.directory_characters,
        visible=offer.visible,
    )


def searches_record(run: ToolRun, found: Sequence[tuple[str, Sequence[str]]], *, at: datetime) -> None:
    """Keep queries and the ids of what each found, best first.

    Raises:
        RunEndedError: the run has ended meanwhile; nothing was kept.
    """
    masker = Masker()
    with transaction.atomic():
        _count(run, at, searches=len(found))
        RunSearch.objects.bulk_create(
            RunSearch(
                run=run,
                environment_id=run.environment_id,
                at=at,
                query=masker.text(query[:QUERY_LETTERS]),
                found=list(ids[:FOUND_KEPT]),
            )
            for query, ids in found
        )


def describe_record(run: ToolRun, tool: str, *, at: datetime) -> None:
    """Count that a tool was described.

    Raises:
        RunEndedError: the run has ended meanwhile.
    """
    with transaction.atomic():
        _count(run, at, describes=1)
        known = ToolRun.objects.select_for_update(of=("self",)).only("described").get(pk=run.pk)
        if tool not in known.described and len(known.described) < DESCRIBED_KEPT:
            known.described = [*known.described, tool]
            known.save(update_fields=["described"])


def code_record(run: ToolRun, *, at: datetime) -> None:
    """Count that code was run.

    Raises:
        RunEndedError: the run has ended meanwhile.
    """
    _count(run, at, codes=1)


def call_begin(
    run: ToolRun, *, call_id: UUID, tool: str, name: str, source: str, through: str, at: datetime
) -> int | None:
    """Keep that a call of the run begins; the same call again is harmless.

    Args:
        tool: its id in the catalogue.
    Returns:
        Its best rank in what the run had searched; None where no search had found it.
    Raises:
        RunEndedError: the run has ended meanwhile; nothing was kept.
    """
    rank, query = _best(run, tool)
    with transaction.atomic():
        _, is_new = RunCall.objects.get_or_create(
            call_id=call_id,
            defaults={
                "run": run,
                "environment_id": run.environment_id,
                "at": at,
                "tool": tool,
                "name": name,
                "source": source,
                "through": through,
                "rank": rank,
                "query": query,
            },
        )
        if is_new:
            _count(run, at, calls=1)
    return rank


def run_end(run: ToolRun, *, outcome: str, at: datetime) -> ToolRun:
    """End a run; ending it again changes nothing."""
    ToolRun.objects.filter(pk=run.pk, ended_at=None).update(ended_at=at, outcome=outcome)
    run.refresh_from_db()
    return run


def runs_sweep(at: datetime) -> int:
    """End the runs that went quiet, forget what is old; harmless to repeat.

    Returns:
        How many runs were forgotten.
    """
    ToolRun.objects.filter(ended_at=None, last_at__lt=at - QUIET).update(ended_at=F("last_at"), outcome=ABANDONED)
    ClientCall.objects.filter(ended_at__lt=at - QUIET).delete()
    return ToolRun.objects.filter(last_at__lt=at - KEPT).delete()[1].get(ToolRun._meta.label, 0)


def _count(run: ToolRun, at: datetime, **more: int) -> None:
    changes: dict[str, Any] = {name: F(name) + count for name, count in more.items()}
    if not ToolRun.objects.filter(pk=run.pk, ended_at=None).update(last_at=at, **changes):
        raise RunEndedError("the run has ended")


def _best(run: ToolRun, tool: str) -> tuple[int | None, str]:
    """Find the best place of a tool in the newest searches of a run."""
    looked = RunSearch.objects.filter(run=run, found__contains=[tool]).order_by("-id")
    places = [(each.found.index(tool) + 1, each.query) for each in looked[:SEARCHES_LOOKED_AT]]
    return min(places, key=lambda place: place[0], default=(None, ""))
