"""Counting calls against rates: one statement a rate, exact among processes.

A rate is a sliding window made of two counters: the calls of the running minute, and those of the one before by the
part of it that still counts. No clock minute ever holds more calls than the rate.

A step of the clock moves the counters along with it (`apps.limits.clock_steps`), so that the calls that they have count
on. A counter of the next minute is of a process whose clock is a little ahead, and is counted on. One further ahead is
of a clock that was set back: it becomes the counter of now, with the calls that it has. So a step of the clock lets
through no call that the rate would refuse, and refuses none for longer than the rate would.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F

from apps.events.clock import clock_check
from apps.firewall.runtime.limits.rates import Share
from apps.limits.models import RateCounter
from apps.registry.models import Environment

KEPT: Final = timedelta(days=7)
SUBJECT_CHARACTERS: Final = 200

_TAKE: Final = """
INSERT INTO limits_ratecounter AS held (key, environment_id, rate, subject, minute, current, previous, refused)
VALUES (%(key)s, %(environment)s, %(rate)s, %(subject)s, %(minute)s, 1, 0, 0)
ON CONFLICT (key) DO UPDATE SET
    previous = CASE WHEN held.minute >= EXCLUDED.minute THEN held.previous
                    WHEN held.minute = EXCLUDED.minute - 1 THEN held.current ELSE 0 END,
    current = CASE WHEN held.minute >= EXCLUDED.minute THEN held.current + 1 ELSE 1 END,
    minute = CASE WHEN held.minute = EXCLUDED.minute + 1 THEN held.minute ELSE EXCLUDED.minute END
WHERE %(limit)s >= 1
    + CASE WHEN held.minute >= EXCLUDED.minute THEN held.current ELSE 0 END
    + CASE WHEN held.minute > EXCLUDED.minute THEN held.previous
           WHEN held.minute = EXCLUDED.minute THEN held.previous * %(weight)s
           WHEN held.minute = EXCLUDED.minute - 1 THEN held.current * %(weight)s ELSE 0 END
RETURNING 1
"""


@dataclass(frozen=True, slots=True)
class Refused:
    """The rate that a call met, and how many seconds to wait."""

    share: Share
    wait_s: int


class _FullError(Exception):
    def __init__(self, share: Share) -> None:
        super().__init__(share.name)
        self.share = share


def shares_take(environment: Environment, shares: Sequence[Share], *, at: datetime) -> Refused | None:
    """Count a call against all its rates, or against none.

    Returns:
        The first rate that is used up; None when the call was counted.
    """
    clock_check()
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for key, share in sorted((counter_key(environment, share), share) for share in shares):
                cursor.execute(_TAKE, _values(environment, share, key, at))
                if cursor.fetchone() is None:
                    raise _FullError(share)
    except _FullError as exc:
        return _refused(environment, exc.share, at)
    return None


def shares_look(environment: Environment, shares: Sequence[Share], *, at: datetime) -> Refused | None:
    """Tell what a call would meet, without counting it."""
    held = {each.key: each for each in RateCounter.objects.filter(key__in=_keys(environment, shares))}
    for share in shares:
        counter = held.get(counter_key(environment, share))
        if counter is not None and used_of(counter, at) + 1 > share.per_minute:
            return Refused(share, wait_s_of(counter, share.per_minute, at))
    return None


def counters_forget(at: datetime) -> int:
    """Remove counters nobody used for a week."""
    return RateCounter.objects.filter(minute__lt=_minute(at - KEPT)).delete()[0]


def counter_key(environment: Environment, share: Share) -> str:
    parts = (str(environment.pk), share.rule, share.subject)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def used_of(counter: RateCounter, at: datetime) -> float:
    """Tell how many calls of the last minute count at an instant."""
    minute, weight = _minute(at), _weight(at)
    if counter.minute > minute:
        return counter.current + counter.previous
    if counter.minute == minute:
        return counter.current + counter.previous * weight
    return counter.current * weight if counter.minute == minute - 1 else 0


def wait_s_of(counter: RateCounter, per_minute: int, at: datetime) -> int:
    """Tell after how many seconds, at least one, the next call fits."""
    into, room = at.timestamp() % 60, per_minute - 1
    is_now = counter.minute >= _minute(at)
    current, previous = (counter.current, counter.previous) if is_now else (0, counter.current)
    if current <= room:
        wait = 60 * (1 - (room - current) / previous) - into if previous else 0.0
    else:  # in the next minute, when enough of this one is past
        wait = 60 - into + 60 * (1 - room / current)
    return max(1, math.ceil(wait))


def _keys(environment: Environment, shares: Sequence[Share]) -> list[str]:
    return [counter_key(environment, share) for share in shares]


def _values(environment: Environment, share: Share, key: str, at: datetime) -> dict[str, str | int | float | UUID]:
    return {
        "key": key,
        "environment": environment.pk,
        "rate": share.rule,
        "subject": share.subject[:SUBJECT_CHARACTERS],
        "minute": _minute(at),
        "weight": _weight(at),
        "limit": share.per_minute,
    }


def _refused(environment: Environment, share: Share, at: datetime) -> Refused:
    rows = RateCounter.objects.filter(key=counter_key(environment, share))
    rows.filter(minute__gt=_minute(at) + 1).update(minute=_minute(at))  # the clock was set back
    rows.update(refused=F("refused") + 1, refused_at=at)
    return Refused(share, wait_s_of(rows.get(), share.per_minute, at))


def _minute(at: datetime) -> int:
    return int(at.timestamp() // 60)


def _weight(at: datetime) -> float:
    """Tell which part of the minute before still counts."""
    return 1 - (at.timestamp() % 60) / 60
