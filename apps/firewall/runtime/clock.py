"""The machine's own time."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Fills the port `Clock`."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
