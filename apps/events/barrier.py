"""Whether every process holds to a change: asked after its commit, answered by each process once it does.

A process registers, keeps its lease, and answers a question when everything that it heard before is in force. The
questions are numbered after the change is committed, and notices arrive in the order of commits: whoever has answered a
number holds to every change before it. A process that died is not waited for once its lease has ended; one that does
not answer is waited for until the bound, and named.
"""

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Max
from django.db.models.functions import Greatest

from apps.events.listener import subscribe
from apps.events.models import Barrier, Process
from apps.events.notices import NOTICED, Notice, announce

ASKED: Final = "barrier.asked"
ANSWERED: Final = "barrier.answered"
BOUND_S: Final = 2.0
LEASE_S: Final = 15
LOOK_S: Final = 0.05
KEPT: Final = 1000

KINDS: Final = ("publication.", "environment.", "registry.", "source.", "limit.", "halt.", "hook.", "token.", "user.")
"""Changes that processes hold in memory: each of them is answered when the processes hold to it."""

_answered = threading.Condition()


@dataclass(frozen=True, slots=True)
class Hearer:
    """A live process, and whether it holds to the change."""

    host: str
    pid: int
    kind: str
    has_heard: bool


@dataclass(frozen=True, slots=True)
class HeardBy:
    """Who holds to a change, of those that live."""

    processes: tuple[Hearer, ...]

    @property
    def heard(self) -> int:
        return sum(each.has_heard for each in self.processes)

    @property
    def all(self) -> bool:
        return self.heard == len(self.processes)

    def to_json(self) -> dict[str, Any]:
        silent = [
            {"host": each.host, "pid": each.pid, "kind": each.kind} for each in self.processes if not each.has_heard
        ]
        return {"heard": self.heard, "of": len(self.processes), "silent": silent}


@contextmanager
def changes() -> Iterator[dict[str, set[str]]]:
    """Gather the kinds of notices that the block announces and that processes hold to, each with its environments."""
    noticed: dict[str, set[str]] = {}
    token = NOTICED.set(noticed)
    try:
        yield noticed
    finally:
        NOTICED.reset(token)
        for kind in [kind for kind in noticed if not kind.startswith(KINDS)]:
            del noticed[kind]


def barrier_wait(*, bound_s: float = BOUND_S) -> HeardBy:
    """Wait until every live process holds to all that is committed, or until the bound. After a commit, not inside."""
    until = time.monotonic() + bound_s
    number = _ask()
    while True:
        found = hearers(number)
        left = until - time.monotonic()
        if found.all or left <= 0:
            return found
        with _answered:
            _answered.wait(min(LOOK_S, left))


def _ask() -> int:
    with transaction.atomic():
        number = int(Barrier.objects.create().pk)
        announce(ASKED, id=number)
        if number % KEPT == 0:
            Barrier.objects.filter(pk__lte=number - KEPT).delete()
    return number


def hearers(number: int) -> HeardBy:
    """List the live processes, those first that have not answered a number."""
    rows = Process.objects.raw("SELECT * FROM events_process WHERE lease_until >= clock_timestamp()")
    found = [Hearer(row.host, row.pid, row.kind, row.heard >= number) for row in rows]
    return HeardBy(tuple(sorted(found, key=lambda each: (each.has_heard, each.kind, each.host, each.pid))))


def served_since() -> datetime | None:
    """Say since when some server has answered without a pause; None while none does."""
    found = Process.objects.raw(
        "SELECT * FROM events_process WHERE lease_until >= clock_timestamp() AND kind = 'server' ORDER BY started_at"
    )
    return next((row.started_at for row in found), None)


def barrier_latest() -> int:
    """Give the number of the latest question; 0 before the first."""
    return int(Barrier.objects.aggregate(latest=Max("id"))["latest"] or 0)


def process_register(process: UUID, *, kind: str, heard: int) -> None:
    """Say that a process runs calls from now on, or still, and holds to all before a number.

    Args:
        kind: `server` or `worker`.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO events_process (id, host, pid, kind, started_at, lease_until, heard) VALUES"
            " (%(id)s, %(host)s, %(pid)s, %(kind)s, clock_timestamp(),"
            " clock_timestamp() + make_interval(secs => %(lease)s), %(heard)s)"
            " ON CONFLICT (id) DO UPDATE SET lease_until = EXCLUDED.lease_until,"
            " heard = GREATEST(events_process.heard, EXCLUDED.heard)",
            {
                "id": process,
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "kind": kind,
                "lease": LEASE_S,
                "heard": heard,
            },
        )


def process_answer(process: UUID, number: int) -> None:
    """Say that a process holds to everything that was committed before a question."""
    with transaction.atomic():
        Process.objects.filter(pk=process).update(heard=Greatest("heard", number))
        announce(ANSWERED, id=process)


def process_leave(process: UUID) -> None:
    """Say that a process runs no more calls, and forget those whose lease ended long ago."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM events_process WHERE id = %s OR lease_until < clock_timestamp() - interval '1 hour'", [process]
        )


def _hear(notice: Notice) -> None:
    if notice.kind == ANSWERED:
        with _answered:
            _answered.notify_all()


subscribe(_hear)
