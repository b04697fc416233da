"""Looking through sources: one look at a time for each, its whole result in one transaction at the end."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.access import actor_of
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.models import Boot
from apps.audit.services import boot_id, entries_record
from apps.events.notices import announce
from apps.firewall.errors import FirewallError
from apps.firewall.tools.discovery.found import Failure, Look
from apps.firewall.tools.remote_json import plain_text
from apps.registry.differences import json_differences
from apps.registry.errors import SourceBusyError
from apps.registry.hiding import without_secrets
from apps.registry.looks import LOOK_LIMIT_S, look_through
from apps.registry.models import DiscoveryRun, DiscoverySource, Environment, RunState
from apps.registry.services.changing import By, change
from apps.registry.services.takeover import Takeover
from apps.registry.services.usage import usage_report
from apps.registry.source_settings import source_secrets

log = structlog.get_logger(__name__)

RUNS_KEPT: Final = 100
PATHS_LIMIT: Final = 50
LOST_AFTER: Final = timedelta(minutes=15)
"""A look that was asked for and never done: the queue has lost it."""


def source_look(source: DiscoverySource, *, by: By = None, at: datetime | None = None) -> DiscoveryRun:
    """Look through a source now and take over what is there. Not for coroutines: it waits for the place.

    A place that cannot be looked through is a failed run and changes nothing else.

    Raises:
        PermissionDeniedError.
        SourceBusyError: somebody looks through it right now.
    """
    return run_finish(run_start(source, by=by, at=at))


def run_start(source: DiscoverySource, *, by: By = None, at: datetime | None = None) -> DiscoveryRun:
    """Claim a source for a look by this process.

    Raises:
        PermissionDeniedError, SourceBusyError.
    """
    boot, started = boot_id(), at or timezone.now()
    with change(by):
        source = DiscoverySource.objects.select_for_update(of=("self",)).select_related("environment").get(pk=source.pk)
        _close_orphans(source.runs.filter(state=RunState.RUNNING), started)
        if source.runs.filter(state=RunState.RUNNING).exists():
            raise SourceBusyError(_("the source `%(key)s` is being looked through already") % {"key": source.key})
        run = DiscoveryRun.objects.create(source=source, actor=actor_of(by), started_at=started, boot=boot)
        announce("discovery.started", id=run.pk, environment=source.environment.slug)
    return run


def run_finish(run: DiscoveryRun) -> DiscoveryRun:
    """Do the look that a run stands for in this process, and store its result."""
    source = run.source
    DiscoveryRun.objects.filter(pk=run.pk).update(boot=boot_id())
    last = source.runs.filter(state=RunState.COMPLETED, started_at__gt=source.updated_at).first()
    try:
        look = asyncio.run(_timed(source, "" if last is None else last.etag))
    except FirewallError as exc:
        look = Look(failure=Failure(stage="discover", code=exc.code, message=exc.message))
    except TimeoutError:
        message = f"it took longer than {LOOK_LIMIT_S:.0f} s"
        look = Look(failure=Failure(stage="discover", code="timeout", message=message))
    except BaseException as exc:
        _fail(run, _internal(exc))
        raise
    try:
        run = run_take(run, look)
    except Exception as exc:
        _fail(run, _internal(exc))
        raise
    if run.state == RunState.COMPLETED:
        usage_report(run)
    return run


def _internal(exc: BaseException) -> Failure:
    return Failure(stage="discover", code="internal_error", message=f"an internal error: {type(exc).__name__}")


def run_take(run: DiscoveryRun, look: Look) -> DiscoveryRun:
    """Store what a look brought home, everything at once; one that failed as a whole changes nothing but its run."""
    look = without_secrets(look, source_secrets(run.source))
    if look.failure is not None:
        return _fail(run, look.failure)
    return _take(run, look)


async def _timed(source: DiscoverySource, etag: str) -> Look:
    async with asyncio.timeout(LOOK_LIMIT_S):
        return await look_through(source, etag=etag)


def _fail(run: DiscoveryRun, failure: Failure) -> DiscoveryRun:
    run.state, run.ended_at = RunState.FAILED, timezone.now()
    run.error_code, run.error_message = plain_text(failure.code, 64), plain_text(failure.message, 1000)
    with change(None):
        run.save(update_fields=["state", "ended_at", "error_code", "error_message"])
        announce("discovery.ended", id=run.pk, environment=run.source.environment.slug)
    log.warning("discovery.failed", source=run.source.key, code=failure.code)
    return run


def _take(run: DiscoveryRun, look: Look) -> DiscoveryRun:
    with change(None, actor=run.actor):
        rows = DiscoverySource.objects.select_for_update(of=("self",)).select_related("environment")
        # No two looks, nor a look and a person, give a name twice at once.
        Environment.objects.select_for_update(no_key=True).get(pk=run.source.environment_id)
        source = rows.get(pk=run.source_id)
        takeover = Takeover(source=source, run=run, at=timezone.now())
        if not look.is_unchanged:
            takeover.take(look)
        _store(run, look, takeover)
        _forget_old_runs(source)
        if takeover.changed_rows or takeover.new:
            announce("registry.changed", id=source.pk, environment=source.environment.slug)
        announce("discovery.ended", id=run.pk, environment=source.environment.slug)
        drafts = _entries(run, takeover)
        if drafts:
            entries_record(drafts)
    return run


def _store(run: DiscoveryRun, look: Look, takeover: Takeover) -> None:
    counts = Counter(finding["outcome"] for finding in takeover.findings)
    run.state, run.ended_at, run.etag = RunState.COMPLETED, timezone.now(), look.etag[:200]
    run.findings = takeover.findings
    run.found = len(look.found)
    run.added, run.changed = counts["added"], counts["changed"]
    run.removed, run.broken = counts["removed"], counts["broken"]
    run.save()


def _entries(run: DiscoveryRun, takeover: Takeover) -> list[EntryDraft]:
    """Tell the ledger what changed: one entry for the look, one for each tool that was found changed."""
    environment = takeover.source.environment.slug
    entries = []
    if takeover.changed_rows or takeover.new:
        counts = {name: getattr(run, name) for name in ("found", "added", "changed", "removed", "broken")}
        changes = {"action": "looked", "source": takeover.source.key, "run": run.shown_id, **counts}
        entries.append(
            EntryDraft(
                kind=EntryKind.SOURCE_CHANGE, actor=run.actor, environment=environment, status="looked", changes=changes
            )
        )
    for each in takeover.drifted:
        paths = [difference.path for difference in json_differences(each.drift.pinned, each.drift.found)]
        changes = {
            "action": "drift_found",
            "id": each.tool.shown_id,
            "drift": each.drift.shown_id,
            "paths": paths[:PATHS_LIMIT],
            "state": [each.drift.tool_state, each.tool.state],
        }
        entries.append(
            EntryDraft(
                kind=EntryKind.TOOL_CHANGE,
                actor=run.actor,
                environment=environment,
                tool=each.tool.name,
                status="drift_found",
                changes=changes,
            )
        )
    return entries


def _forget_old_runs(source: DiscoverySource) -> None:
    """Keep the last looks; drifts stay without their run."""
    old = source.runs.order_by("-started_at", "-id").values_list("pk", flat=True)[RUNS_KEPT:]
    DiscoveryRun.objects.filter(pk__in=list(old)).delete()


def runs_close_orphaned(at: datetime) -> int:
    """Give every run whose process is gone its end: failed.

    Returns:
        How many were closed.
    """
    with change(None):
        return _close_orphans(DiscoveryRun.objects.select_for_update().filter(state=RunState.RUNNING), at)


def _close_orphans(running: QuerySet[DiscoveryRun], at: datetime) -> int:
    boots = {run.boot for run in running if run.boot is not None}
    alive = set(Boot.objects.filter(id__in=boots, ended_at=None).values_list("id", flat=True))
    gone = [run.pk for run in running if run.boot not in alive or run.started_at < at - LOST_AFTER]
    fields: dict[str, Any] = {
        "state": RunState.FAILED,
        "ended_at": at,
        "error_code": "process_gone",
        "error_message": "the process ended before it had looked through the source",
    }
    return DiscoveryRun.objects.filter(pk__in=gone).update(**fields)


def sources_due(at: datetime) -> Sequence[UUID]:
    """List the sources whose interval is over, the longest waiting first."""
    timed = DiscoverySource.objects.filter(is_enabled=True, interval_s__gt=0).annotate(last=Max("runs__started_at"))
    due = [
        (source.last, source.pk)
        for source in timed
        if source.last is None or source.last + timedelta(seconds=source.interval_s) <= at
    ]
    least = datetime.min.replace(tzinfo=at.tzinfo)
    return [pk for _last, pk in sorted(due, key=lambda each: each[0] or least)]
