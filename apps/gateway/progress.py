"""The latest news of running calls, each in a row while the call runs: whoever waits may wait in another process."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.events.notices import announce
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.results import ResultRules
from apps.firewall.runtime.results.news import shown_news
from apps.firewall.tools.progress import Progress
from apps.gateway.database import in_database
from apps.gateway.models import CallProgress

log = structlog.get_logger(__name__)

NOTICE = "call.progressed"
EVERY_S = 0.3
LEFT_BEHIND = timedelta(hours=1)
FORGET_EVERY_S = 600.0


@dataclass(slots=True)
class _Told:
    """What is known of one call: `number` counts what was shown, `news` is what was not shown yet."""

    call: Call
    number: int = 0
    news: Progress | None = None
    shown: dict[str, Any] = field(default_factory=dict)
    is_over: bool = False


class LiveProgress:
    """Fills the port `ProgressBoard`. News are gathered, and shown a few times a second: only the last ones count.

    Everything here happens on the server's loop, but for the rows.
    """

    def __init__(self, rules: ResultRules) -> None:
        self._rules = rules
        self._calls: dict[UUID, _Told] = {}
        self._showing: asyncio.Task[None] | None = None
        self._forgot_at = 0.0

    def report(self, call: Call, news: Progress) -> None:
        told = self._calls.setdefault(call.id, _Told(call))
        told.news = news
        self._wake()

    def ended(self, call: Call) -> None:
        told = self._calls.get(call.id)
        if told is not None:
            told.is_over = True
            self._wake()

    def _wake(self) -> None:
        if self._showing is None or self._showing.done():
            self._showing = asyncio.get_running_loop().create_task(self._show())

    async def _show(self) -> None:
        while any(told.news is not None or told.is_over for told in self._calls.values()):
            over = [told.call.id for told in self._calls.values() if told.is_over]
            fresh = [told for told in self._calls.values() if told.news is not None and not told.is_over]
            for call_id in over:
                del self._calls[call_id]
            for told in fresh:
                self._take(told)
            try:
                await in_database(_save, [(told.call, told.shown) for told in fresh], over, self._old())
            except Exception as exc:  # noqa: BLE001 - news that others do not hear must end no call
                log.warning("progress.not_saved", error=type(exc).__name__)
            await asyncio.sleep(EVERY_S)

    def _take(self, told: _Told) -> None:
        assert told.news is not None  # noqa: S101 - the caller looked
        told.number += 1
        told.shown = {"number": told.number, **shown_news(told.news, self._rules)}
        told.news = None

    def _old(self) -> datetime | None:
        """Say, now and then, before which instant a row must have been left behind by a process that died."""
        if time.monotonic() - self._forgot_at < FORGET_EVERY_S:
            return None
        self._forgot_at = time.monotonic()
        return timezone.now() - LEFT_BEHIND


@transaction.atomic
def _save(fresh: Sequence[tuple[Call, dict[str, Any]]], over: Sequence[UUID], old: datetime | None) -> None:
    at = timezone.now()
    for call, shown in fresh:
        values = {"environment": call.environment, "shown": shown, "at": at}
        CallProgress.objects.update_or_create(call_id=call.id, defaults=values)
        announce(NOTICE, id=call.id, environment=call.environment)
    if over:
        CallProgress.objects.filter(call_id__in=over).delete()
    if old is not None:
        CallProgress.objects.filter(at__lt=old).delete()


def call_progress(call_id: UUID) -> dict[str, Any] | None:
    """Give the latest news of a call that runs in any process."""
    row = CallProgress.objects.filter(call_id=call_id).first()
    return None if row is None else row.shown
