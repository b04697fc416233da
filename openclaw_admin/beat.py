"""The beat of background work: intervals pass by the monotonic clock, whatever is done to the clock of the day."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any

from celery import beat


class SteadyClock:
    """Tells a time that never steps: it begins with the clock of the day, and goes on with the monotonic one."""

    def __init__(self) -> None:
        self._began_at = datetime.now(UTC)
        self._began = time.monotonic()

    def now(self) -> datetime:
        return self._began_at + timedelta(seconds=time.monotonic() - self._began)


class SteadyScheduler(beat.Scheduler):
    """Celery's scheduler, which would rest for an hour when the clock of the day is set back by one."""

    def __init__(self, *args: Any, clock: SteadyClock | None = None, **kwargs: Any) -> None:
        self._clock = clock or SteadyClock()
        super().__init__(*args, **kwargs)

    def setup_schedule(self) -> None:
        super().setup_schedule()
        for entry in self.schedule.values():
            schedule: Any = entry.schedule  # of an interval or a crontab: each asks `nowfun` for the time
            schedule.nowfun = self._clock.now
            entry.last_run_at = self._clock.now()
