"""The clock of the day may be set; what lasts so long must not end sooner or later by it.

A step is what the clock of the day does that the machine's steady clock does not. Whoever ends, runs or deletes
something because time has passed asks `clock_check` first: a step is noticed there and then, once for all processes of
the machine, what lasts so long moves along with the clock, and the step is on record. So nothing is judged by a clock
that has just been set.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final

from django.db import connection, transaction

from apps.events.models import ClockStep
from apps.events.notices import announce

STEP_S: Final = 5.0
"""What the clock gains or loses at once and more than this is a step; less is what clocks are corrected by."""
AT_START_S: Final = 60.0
"""The same over the time in which no process of ours ran: clocks drift meanwhile."""
REST_LIMIT: Final = timedelta(days=7)

Handler = Callable[[timedelta, datetime], None]
_handlers: list[tuple[int, Handler]] = []


class MachineClock:
    """The clocks of this machine: that of the day, and one that nobody sets, which also counts while it sleeps."""

    def wall(self) -> float:
        return time.time()

    def steady(self) -> float:
        return time.clock_gettime(time.CLOCK_BOOTTIME)

    @staticmethod
    @cache
    def machine() -> str:
        """Name the machine since its start: its steady clock begins anew with each."""
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


@dataclass(slots=True)
class _Known:
    """How far the clock of the day was ahead of the steady one when this process last looked."""

    offset_s: float | None = None


clock = MachineClock()
_known = _Known()


def step_register(handler: Handler, *, order: int) -> None:
    """Have something moved along with the clock, inside the transaction that notes the step.

    Args:
        order: handlers of lower numbers go first; whoever writes to the ledger is the last.
    """
    _handlers.append((order, handler))
    _handlers.sort(key=lambda each: each[0])


def clock_check() -> None:
    """Notice a step of the clock, and have what lasts moved along with it. Costs nothing while there is none."""
    offset_s = clock.wall() - clock.steady()
    if _known.offset_s is None or abs(offset_s - _known.offset_s) >= STEP_S:
        _settle(offset_s)
    _known.offset_s = offset_s


def clock_rests(at: datetime, *, limit: timedelta = REST_LIMIT) -> bool:
    """Say whether the clock was set forward lately: by so much, what is old may only seem to be.

    It rests for as long as the clock was set forward, at most the limit.
    """
    clock_check()
    steps = ClockStep.objects.filter(step_s__gt=0, at__gt=at - limit).values_list("at", "step_s")
    return any(at - stepped_at < min(timedelta(seconds=step_s), limit) for stepped_at, step_s in steps)


def clock_step_last(at: datetime, *, within: timedelta) -> ClockStep | None:
    """Give the latest step of a machine's clock, for people."""
    return ClockStep.objects.filter(at__gt=at - within).exclude(step_s=0).order_by("-id").first()


def _settle(offset_s: float) -> None:
    """Note a step once, whichever process sees it first."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('clock step', 0))")
        last = ClockStep.objects.filter(machine=clock.machine()).order_by("-id").first()
        known_s, allowed_s = _known.offset_s, STEP_S
        if known_s is None:
            known_s, allowed_s = (offset_s if last is None else last.offset_s), AT_START_S
        is_settled = last is not None and abs(last.offset_s - offset_s) < allowed_s
        step_s = 0.0 if is_settled or abs(offset_s - known_s) < allowed_s else offset_s - known_s
        if is_settled or (last is not None and not step_s):
            return
        at = datetime.fromtimestamp(clock.wall(), UTC)
        made = ClockStep.objects.create(machine=clock.machine(), offset_s=offset_s, step_s=step_s, at=at)
        if step_s:
            for _, handler in _handlers:
                handler(timedelta(seconds=step_s), at)
            announce("clock.stepped", id=made.pk)
