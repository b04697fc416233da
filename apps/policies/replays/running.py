"""Counting a replay: a part, then the row that says so, then the next part; whoever comes later goes on."""

import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Final
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, transaction

from apps.audit.past_calls import PART_CALLS, AlikeCalls, Stretch, past_calls_count, past_calls_part
from apps.audit.walking import Place
from apps.firewall.engine.snapshot import load_snapshot
from apps.firewall.identifiers import new_id
from apps.policies.models import Replay
from apps.policies.replays.asking import STALE
from apps.policies.replays.matching import AlikeMatcher, RuleTally
from apps.policies.replays.reading import AlikeReplayer
from apps.policies.replays.tallying import Tally
from apps.policies.snapshots import snapshot_loaded

log = structlog.get_logger(__name__)

# The embedded worker has one thread: a replay goes on in turns, so that what is due meanwhile is not late.
TURN_S: Final = 2.0

_kept: dict[UUID, AlikeReplayer | AlikeMatcher] = {}
_lock = Lock()


class _TakenAwayError(Exception):
    """The replay was cancelled, or another worker goes on with it."""


def replay_run(replay_id: UUID, *, at: datetime, limit_s: float | None = None, part_calls: int = PART_CALLS) -> bool:
    """Count the calls of a replay, or some seconds' worth of them. Harmless to repeat: what has ended or runs elsewhere
    is left alone.

    Args:
        limit_s: where to pause, after the part of that moment; to the end when None.
        part_calls: how many calls are one part, at most.
    Returns:
        Whether there is something left that can go on at once.
    """
    replay = _taken(replay_id, at)
    if replay is None:
        return False
    try:
        return _count(replay, limit_s, part_calls)
    except _TakenAwayError:
        _let_go(replay_id)
        return False
    except (OperationalError, InterfaceError):
        raise  # the database is away: what is counted stays, and the replay goes on when it is back
    except Exception as exc:
        _let_go(replay_id)
        with suppress(_TakenAwayError):
            _save(replay, state=Replay.State.FAILED, error=type(exc).__name__, **_ended())
        log.exception("policies.replay_failed", replay=str(replay_id))
        raise


def _count(replay: Replay, limit_s: float | None, part_calls: int) -> bool:
    pause_at = None if limit_s is None else time.monotonic() + limit_s
    stretch = Stretch(replay.environment.slug, replay.since, replay.requested_at)
    replayer = _replayer(replay)
    if replay.calls_total is None:
        _save(replay, calls_total=past_calls_count(stretch))
    while True:
        is_last = _part(replay, stretch, replayer, part_calls)
        if is_last:
            _save(replay, state=Replay.State.DONE, **_ended())
            _let_go(replay.pk)
            return False
        if pause_at is not None and time.monotonic() >= pause_at:
            _save(replay, worker=None)
            return True


def _part(replay: Replay, stretch: Stretch, replayer: AlikeReplayer | AlikeMatcher, size: int) -> bool:
    """Count one part; say whether it was the last one."""
    after = Place.read(replay.place)
    found, end = past_calls_part(stretch, after, with_params_of=replayer.with_params_of, size=size)
    tally: Tally | RuleTally
    if isinstance(replayer, AlikeMatcher):
        tally, counted = _matched(replayer, replay.tally, found)
    else:
        tally, counted = _replayed(replayer, replay.tally, found)
    done = replay.calls_done + counted
    _save(
        replay,
        tally=tally.to_json(),
        place=None if end is None else end.to_json(),
        calls_done=done,
        calls_total=max(done, replay.calls_total or 0),
    )
    return end is None


def _replayed(replayer: AlikeReplayer, written: dict[str, Any], found: Iterable[AlikeCalls]) -> tuple[Tally, int]:
    tally, counted = Tally.read(written), 0
    for alike in found:
        tally.add(alike.agent, alike.tool, replayer.replay(alike), alike.count, alike.newest)
        counted += alike.count
    return tally, counted


def _matched(matcher: AlikeMatcher, written: dict[str, Any], found: Iterable[AlikeCalls]) -> tuple[RuleTally, int]:
    tally, counted = RuleTally.read(written), 0
    for alike in found:
        tally.add(matcher.match(alike), alike.count)
        counted += alike.count
    return tally, counted


def _ended() -> dict[str, object]:
    return {"finished_at": datetime.now(UTC), "worker": None, "snapshot": None, "place": None}


def _replayer(replay: Replay) -> AlikeReplayer | AlikeMatcher:
    """Make the engine of a replay, or give the one that counted its last part here."""
    with _lock:
        known = _kept.get(replay.pk)
    if known is not None:
        return known
    live = snapshot_loaded(replay.live_digest) if replay.live_digest else None
    content = zlib.decompress(bytes(replay.snapshot or b""))
    snapshot = load_snapshot(content, expected_digest=replay.draft_digest)
    is_of_rules = replay.purpose == Replay.Purpose.RULES
    made = AlikeMatcher(snapshot) if is_of_rules else AlikeReplayer(live, snapshot)
    with _lock:
        _kept.clear()  # one at a time: each holds two compiled snapshots
        _kept[replay.pk] = made
    return made


def _let_go(replay_id: UUID) -> None:
    with _lock:
        _kept.pop(replay_id, None)


def _taken(replay_id: UUID, at: datetime) -> Replay | None:
    with transaction.atomic():
        rows = Replay.objects.select_related("environment").select_for_update(of=("self",))
        replay = rows.filter(pk=replay_id).first()
        if replay is None or not replay.is_open:
            return None
        is_worked_on = replay.state == Replay.State.RUNNING and replay.worker is not None
        if is_worked_on and replay.touched_at >= at - STALE:
            return None
        replay.state, replay.worker, replay.touched_at = Replay.State.RUNNING, new_id(), at
        replay.save(update_fields=["state", "worker", "touched_at"])
    return replay


def _save(replay: Replay, **changed: object) -> None:
    """Keep how far it is, as long as it is ours.

    Raises:
        _TakenAwayError: it no longer is.
    """
    changed["touched_at"] = datetime.now(UTC)
    ours = Replay.objects.filter(pk=replay.pk, worker=replay.worker, state=Replay.State.RUNNING)
    if not ours.update(**changed):
        raise _TakenAwayError
    for name, value in changed.items():
        setattr(replay, name, value)
