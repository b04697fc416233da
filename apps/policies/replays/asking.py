"""Replays asked for by people, programs and the command line; who may read them."""

import zlib
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, may_environment, require
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.firewall.engine.snapshot import Snapshot
from apps.policies.actors import By, person_of
from apps.policies.errors import ReplayInvalidError, ReplayNotFoundError, ReplayStateError
from apps.policies.models import Replay
from apps.policies.selectors import live_snapshot
from apps.registry.models import Environment

DAYS: Final = (1, 7, 30)
DAYS_MOST: Final = 366
# A worker that was killed leaves its replay running; after this long without a part another goes on with it.
STALE: Final = timedelta(minutes=1)
KEPT: Final = 50
"""So many replays of an environment stay; older ones go when the next is asked for."""


def replay_request(
    environment: Environment,
    snapshot: Snapshot,
    *,
    days: int,
    by: By,
    at: datetime,
    purpose: Replay.Purpose = Replay.Purpose.DRAFT,
) -> Replay:
    """Ask for a replay of the calls of the last days against a snapshot; a worker counts them.

    While the same replay goes on, it is the one that was asked for.

    Args:
        purpose: what is counted: what a draft would change, or which rules match.
        by: who reads the ledger by this; None for the command line of this machine.
    Raises:
        PermissionDeniedError: the principal may not read the ledger.
        ReplayInvalidError: so many days are not replayed.
        AuditUnavailableError: the ledger refuses; nothing is replayed.
    """
    if by is not None:
        require(by, Permission.AUDIT_READ)
    if not 1 <= days <= DAYS_MOST:
        message = _("a replay is of 1 to %(most)s days") % {"most": DAYS_MOST}
        raise ReplayInvalidError(message, [{"path": "days", "code": "out_of_range", "message": message}])
    live = live_snapshot(environment)
    with transaction.atomic():
        Environment.objects.select_for_update(no_key=True).get(pk=environment.pk)
        live_digest = "" if live is None else live.digest
        kept = Replay.objects.filter(environment=environment, purpose=purpose)
        same = kept.filter(draft_digest=snapshot.digest, live_digest=live_digest, days=days)
        going = same.filter(state__in=Replay.OPEN).first()
        if going is not None:
            return going
        _forget(kept)
        replay = Replay.objects.create(
            environment=environment,
            purpose=purpose,
            requested_by=person_of(by),
            actor=actor_of(by),
            requested_at=at,
            touched_at=at,
            days=days,
            live_digest=live_digest,
            draft_digest=snapshot.digest,
            snapshot=zlib.compress(snapshot.to_bytes(), 1),
        )
        _tell(replay)
    return replay


def replay_cancel(replay: Replay, *, by: By, at: datetime) -> Replay:
    """End a replay; whoever counts notices at the next part.

    Raises:
        PermissionDeniedError: the principal may not read the ledger.
        ReplayStateError: it has ended.
    """
    if by is not None:
        require(by, Permission.AUDIT_READ)
    ended = {"state": Replay.State.CANCELLED, "finished_at": at, "snapshot": None, "place": None, "worker": None}
    changed = Replay.objects.filter(pk=replay.pk, state__in=Replay.OPEN).update(**ended)
    replay.refresh_from_db()
    if not changed:
        raise ReplayStateError(_("the replay has ended: only one that goes on is cancelled"))
    return replay


def replay_access(by: Principal, replay_id: UUID) -> Replay:
    """Give a replay to who may read the ledger of its environment.

    Raises:
        PermissionDeniedError: the principal may not read the ledger.
        ReplayNotFoundError: there is none, or it is of an environment that is not the principal's.
    """
    require(by, Permission.AUDIT_READ)
    rows = Replay.objects.defer("snapshot").select_related("environment").filter(purpose=Replay.Purpose.DRAFT)
    replay = rows.filter(pk=replay_id).first()
    if replay is None or not may_environment(by, replay.environment.slug):
        raise ReplayNotFoundError(_("no such replay"))
    return replay


def replays_of(environment: Environment) -> QuerySet[Replay]:
    """Every replay of an environment against a draft, the newest first, without what it replays against."""
    return _of(environment, Replay.Purpose.DRAFT)


def rule_count_newest(environment: Environment) -> Replay | None:
    """Give the newest count of the rules that match, whatever came of it."""
    return _of(environment, Replay.Purpose.RULES).first()


def _of(environment: Environment, purpose: Replay.Purpose) -> QuerySet[Replay]:
    rows = Replay.objects.defer("snapshot").select_related("environment", "requested_by")
    return rows.filter(environment=environment, purpose=purpose)


def replay_newest(environment: Environment, digest: str) -> Replay | None:
    """Give the newest replay against a draft, whatever came of it; of another draft where there is none."""
    return replays_of(environment).order_by(_first(draft_digest=digest), "-requested_at", "-id").first()


def replay_of(environment: Environment, *, draft_digest: str, live_digest: str) -> Replay | None:
    """Give the newest finished replay of exactly this draft against exactly what is live, else the newest."""
    rows = replays_of(environment).filter(draft_digest=draft_digest, live_digest=live_digest)
    return rows.order_by(_first(state=Replay.State.DONE), "-requested_at", "-id").first()


def _first(**wanted: str) -> Case:
    """Put the rows that have a value before all others."""
    return Case(When(**wanted, then=Value(0)), default=Value(1), output_field=IntegerField())


def replays_unfinished(at: datetime) -> list[UUID]:
    """Name the replays that no worker works on: new ones, and those whose worker was killed."""
    wanted = Q(state=Replay.State.WAITING) | Q(state=Replay.State.RUNNING, touched_at__lt=at - STALE)
    return list(Replay.objects.filter(wanted).order_by("requested_at").values_list("id", flat=True))


def _forget(kept: QuerySet[Replay]) -> None:
    ended = kept.exclude(state__in=Replay.OPEN)
    old = ended.values_list("id", flat=True)[KEPT - 1 :]
    Replay.objects.filter(pk__in=list(old)).delete()


def _tell(replay: Replay) -> None:
    """Put on record that somebody looks at what was called, in groups."""
    entry_record(
        EntryDraft(
            kind=EntryKind.REPLAY,
            actor=replay.actor,
            environment=replay.environment.slug,
            snapshot_digest=replay.draft_digest,
            changes={
                "replay": replay.shown_id,
                "days": replay.days,
                "live": replay.live_digest,
                "purpose": replay.purpose,
            },
        )
    )
