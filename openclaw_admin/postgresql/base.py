"""Named as Django's settings want it: `ENGINE` is this package, `DatabaseWrapper` its connection."""

import select
import time

import psycopg
from django.db.backends.postgresql import base

ASKED_EVERY_S = 5.0
SHORT_READS = "SET jit = off; SET max_parallel_workers_per_gather = 0"


class DatabaseWrapper(base.DatabaseWrapper):
    """Looks at the socket of a kept connection before its first use, and asks the server only now and then.

    A server that went away has closed its end, which the socket tells at no cost; the question would be one more round
    trip in each of the short uses that a request makes. What the socket cannot tell is asked every few seconds.
    """

    asked_at = 0.0
    health_check_enabled: bool
    health_check_done: bool

    def init_connection_state(self) -> None:
        """Plan for short reads: helpers and compiled plans take longer to start than our statements take to end."""
        super().init_connection_state()
        with self.connection.cursor() as cursor:  # the driver's: no statement of a request's own
            cursor.execute(SHORT_READS)

    def close_if_health_check_failed(self) -> None:
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        now = time.monotonic()
        if now - self.asked_at < ASKED_EVERY_S and _is_quiet(self.connection):
            self.health_check_done = True
            return
        super().close_if_health_check_failed()
        self.asked_at = now


def _is_quiet(connection: "psycopg.Connection[object]") -> bool:
    """Say whether nothing is to be read: between two uses a server says nothing but good-bye."""
    try:
        poll = select.poll()
        poll.register(connection.fileno(), select.POLLIN | select.POLLPRI)
        return not poll.poll(0)
    except (psycopg.Error, OSError, ValueError):
        return False
