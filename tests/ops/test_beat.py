"""The beat while the clock of the day is set back and forth: its intervals stay what they are."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from openclaw_admin.beat import SteadyClock, SteadyScheduler
from openclaw_admin.celery import app

TASK = "approvals.expire"
EVERY_S = 2.0


class HandClock(SteadyClock):
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 28, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at


@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(hours=1)], ids=["back", "forth"])
def test_a_task_is_due_after_its_interval_whatever_the_clock_of_the_day_says(
    step: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = HandClock()
    entry = SteadyScheduler(app, clock=clock).schedule[TASK]
    monkeypatch.setattr(app, "now", lambda: datetime.now(UTC) + step)

    early, wait_s = entry.is_due()
    clock.at += timedelta(seconds=EVERY_S)
    late, _ = entry.is_due()
    again, _ = next(entry).is_due()

    assert (early, late, again) == (False, True, False)
    assert wait_s == pytest.approx(EVERY_S)


def test_the_steady_clock_begins_with_the_clock_of_the_day_and_goes_by_the_monotonic_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, began = SteadyClock(), time.monotonic()

    monkeypatch.setattr(time, "monotonic", lambda: began + 90)

    assert clock.now() - datetime.now(UTC) == pytest.approx(timedelta(seconds=90), abs=timedelta(seconds=30))
