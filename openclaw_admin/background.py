"""Background work inside the server's process: one Celery worker thread and one beat thread.

The state of every task is a row and every task may run twice, so that nothing is lost with the process.
"""

import threading
from typing import Any

import structlog
from celery import beat
from celery.worker import WorkController

from apps.gateway.queue.workers import workers
from openclaw_admin.beat import SteadyScheduler
from openclaw_admin.celery import app

log = structlog.get_logger("openclaw_admin.background")
STOP_TIMEOUT_S = 5.0


class Background:
    """A worker and a beat in threads of this process."""

    def __init__(self) -> None:
        workers.belong_to_server()
        self._worker = WorkController(
            app=app,
            pool_cls="solo",
            concurrency=1,
            hostname="embedded@localhost",
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self._beat: Any = beat.Service(app, scheduler_cls=SteadyScheduler, max_interval=1)
        self._threads = [
            threading.Thread(target=self._run, args=(self._worker.start,), name="celery worker", daemon=True),
            threading.Thread(
                target=self._run,
                args=(lambda: self._beat.start(embedded_process=False),),
                name="celery beat",
                daemon=True,
            ),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End both; a task that still runs after some seconds is left to the next start."""
        self._beat.stop(wait=False)
        self._worker.stop()
        for thread in self._threads:
            thread.join(STOP_TIMEOUT_S)

    @staticmethod
    def _run(target: Any) -> None:
        try:
            target()
        except SystemExit:
            pass  # how a Celery worker says that it has ended
        except Exception:
            log.exception("background.ended")
