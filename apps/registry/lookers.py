"""Where looks are done. Without a broker of its own one thread does all background work; looks get another one.

A look may take minutes and would hold up what is due every few seconds. The thread ends with its process: what it had
not finished is closed by `runs_close_orphaned`.
"""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread

import structlog
from django.conf import settings
from django.db import close_old_connections

log = structlog.get_logger(__name__)

_waiting: SimpleQueue[Callable[[], object]] = SimpleQueue()
_started: list[Thread] = []
_starting = Lock()


def look_apart(work: Callable[[], object]) -> None:
    """Do a look here and now in a worker process; in the thread for looks where workers are threads of the server."""
    if not settings.CELERY_BROKER_URL.startswith("memory:"):
        work()
        return
    with _starting:
        if not _started:
            _started.append(Thread(target=_look_on, name="looks", daemon=True))
            _started[0].start()
    _waiting.put(work)


def _look_on() -> None:
    while True:
        work = _waiting.get()
        close_old_connections()
        try:
            work()
        except Exception as exc:  # noqa: BLE001 - the run has its failure; the next look is another one
            log.error("look.failed", error=type(exc).__name__)
        finally:
            close_old_connections()
