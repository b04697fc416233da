"""What the page of a session shows of its background commands."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils import timezone

from apps.console.calls import STATUSES, StatusKind

if TYPE_CHECKING:
    from apps.gateway.models import BackgroundCommand

LINES_SHOWN = 12


@dataclass(frozen=True, slots=True)
class ShownCommand:
    """A command that ran on when its call had ended; `row.tail` is the last it said."""

    row: "BackgroundCommand"

    @property
    def status(self) -> StatusKind:
        return STATUSES["running" if self.row.is_open else self.row.outcome]

    @property
    def is_ending(self) -> bool:
        return self.row.is_open and bool(self.row.end_asked_code)

    @property
    def runtime_ms(self) -> int:
        return ((self.row.ended_at or timezone.now()) - self.row.started_at) // timedelta(milliseconds=1)

    @property
    def limit_ms(self) -> int:
        return self.row.time_limit_s * 1000

    @property
    def tail(self) -> str:
        """The last lines that it said."""
        tail: str = self.row.tail  # type: ignore[attr-defined]
        return "\n".join(tail.rstrip("\n").split("\n")[-LINES_SHOWN:])
