"""Counting for shadow rules: new calls of the ledger held against what is live with one change.

A round takes the entries that came into the ledger since, and one UPDATE writes the figures and up to where they go:
whatever ends a worker, no call is counted twice or left out. Two workers at one rule count from the same row, and only
the first of them keeps what it counted.
"""

import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Final
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, transaction

from apps.audit.past_calls import AlikeCalls, new_calls
from apps.firewall.engine.rule_changes import RuleChangedError, RuleEdit, RuleGoneError, snapshot_with
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.errors import FirewallError
from apps.policies.models import ShadowRule
from apps.policies.replays.reading import AlikeReplayer
from apps.policies.replays.tallying import Tally
from apps.policies.selectors import live_snapshot
from apps.policies.shadows.starting import shadow_tell
from apps.policies.snapshots import snapshot_loaded

log = structlog.get_logger(__name__)

ROUND_ENTRIES: Final = 20_000
REPLAYERS_KEPT: Final = 4  # each holds a compiled snapshot

_kept: OrderedDict[tuple[UUID, str], AlikeReplayer | None] = OrderedDict()
_lock = Lock()


@dataclass(frozen=True, slots=True)
class _Ending:
    state: str
    error: str = ""


def shadows_count(*, at: datetime, limit_s: float) -> int:
    """Hold new calls against every shadow rule that is watched, whoever waited longest first, for so many seconds.

    Returns:
        How many rules got a round.
    """
    pause_at = time.monotonic() + limit_s
    watching = ShadowRule.objects.filter(state=ShadowRule.State.WATCHING).order_by("counted_at", "id")
    counted = 0
    for shadow_id in list(watching.values_list("id", flat=True)):
        shadow_count(shadow_id, at=at)
        counted += 1
        if time.monotonic() >= pause_at:
            break
    return counted


def shadow_count(shadow_id: UUID, *, at: datetime, entries: int = ROUND_ENTRIES) -> bool:
    """Hold the next calls against one shadow rule. Harmless to repeat.

    Args:
        entries: so many entries of the ledger are one round, at most.
    Returns:
        Whether there are more.
    """
    shadow = ShadowRule.objects.select_related("environment").filter(pk=shadow_id).first()
    if shadow is None or not shadow.is_watching:
        return False
    try:
        return _round(shadow, at, entries)
    except (OperationalError, InterfaceError):
        raise  # the database is away: what is counted stays, and the next round goes on
    except FirewallError as exc:
        log.warning("policies.shadow_failed", shadow=str(shadow_id), reason=exc.code)
        _end(shadow, _Ending(ShadowRule.State.FAILED, exc.message), at)
    except Exception as exc:
        log.exception("policies.shadow_failed", shadow=str(shadow_id))
        _end(shadow, _Ending(ShadowRule.State.FAILED, type(exc).__name__), at)
    return False


def _round(shadow: ShadowRule, at: datetime, entries: int) -> bool:
    base = _replayer(shadow, snapshot_loaded(shadow.live_digest))
    params_of = base.with_params_of if base is not None else frozenset()
    new = new_calls(shadow.environment.slug, shadow.started_at, shadow.heads, with_params_of=params_of, size=entries)
    # After the calls: what decided one of them was live by then.
    live = live_snapshot(shadow.environment)
    later, ending = (base, None) if live is None else _rebased(shadow, live)
    changed: dict[str, object] = {"heads": new.heads, "counted_at": at}
    if new.found:
        told = _with_replayers(new.found, base, later, "" if live is None else live.digest)
        changed |= _counted(shadow, told)
    if new.is_all and ending is None and live is not None:
        changed["live_digest"] = live.digest
    if not _keep(shadow, changed):
        return False
    if new.is_all and ending is not None:
        _end(shadow, ending, at)
        return False
    return not new.is_all


def _counted(shadow: ShadowRule, calls: Iterable[tuple[AlikeCalls, AlikeReplayer]]) -> dict[str, object]:
    tally, seen = Tally.read(shadow.tally), shadow.calls_seen
    for alike, replayer in calls:
        tally.add(alike.agent, alike.tool, replayer.replay(alike), alike.count, alike.newest)
        seen += alike.count
    return {"tally": tally.to_json(), "calls_seen": seen}


def _with_replayers(
    found: Iterable[AlikeCalls], base: AlikeReplayer | None, later: AlikeReplayer | None, live: str
) -> Iterable[tuple[AlikeCalls, AlikeReplayer]]:
    """Give each call to what was live when it was decided; those behind the end of a rule to nobody."""
    for alike in found:
        replayer = later if alike.digest == live else base
        if replayer is not None:
            yield alike, replayer


def _rebased(shadow: ShadowRule, live: Snapshot) -> tuple[AlikeReplayer | None, _Ending | None]:
    """Lay the change over what is live now, or say why it is watched no longer."""
    try:
        replayer = _replayer(shadow, live)
    except RuleGoneError as exc:
        return None, _Ending(ShadowRule.State.GONE, exc.message)
    except RuleChangedError as exc:
        return None, _Ending(ShadowRule.State.CHANGED, exc.message)
    return replayer, None if replayer is not None else _Ending(ShadowRule.State.LIVE)


def _replayer(shadow: ShadowRule, live: Snapshot) -> AlikeReplayer | None:
    """Make the engine of a rule over a snapshot, or give the one of its last round; None where it is live itself."""
    key = (shadow.pk, live.digest)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    changed = snapshot_with(live, map(RuleEdit.read, shadow.edits))
    made = None if changed == live else AlikeReplayer(live, changed)
    with _lock:
        _kept[key] = made
        while len(_kept) > REPLAYERS_KEPT:
            _kept.popitem(last=False)
    return made


def _keep(shadow: ShadowRule, changed: dict[str, object]) -> bool:
    """Write figures and place at once, as long as nobody else counted meanwhile or stopped it."""
    ours = ShadowRule.objects.filter(pk=shadow.pk, state=ShadowRule.State.WATCHING, rounds=shadow.rounds)
    if not ours.update(rounds=shadow.rounds + 1, **changed):
        return False
    shadow.refresh_from_db()
    return True


def _end(shadow: ShadowRule, ending: _Ending, at: datetime) -> None:
    with transaction.atomic():
        watching = ShadowRule.objects.filter(pk=shadow.pk, state=ShadowRule.State.WATCHING)
        if watching.update(state=ending.state, error=ending.error, ended_at=at):
            shadow.refresh_from_db()
            shadow_tell(shadow, "end", by=None, why=ending.state)
