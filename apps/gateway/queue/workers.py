"""The gateway inside a worker of Celery: a thread with a loop of its own, made at the first call of a process."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from celery.signals import worker_process_shutdown, worker_shutdown

from apps.audit.writer import close_writer
from apps.events.listener import Listener
from apps.firewall.sandbox.privacy import hide_process
from apps.gateway import lifecycle

START_S = 30.0
STOP_S = 20.0
T = TypeVar("T")


class WorkerGateway:
    """A gateway that runs queued calls and answers nobody."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._listener = Listener()
        self._thread = threading.Thread(target=self._loop.run_forever, name="async calls", daemon=True)

    def start(self) -> None:
        hide_process()
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(START_S)

    async def _start(self) -> None:
        await self._listener.start()
        await lifecycle.start(is_worker=True)

    def stop(self) -> None:
        """End what runs, each call with its outcome on record, then the chain of this process."""
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(STOP_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        close_writer()

    async def _stop(self) -> None:
        await lifecycle.stop()
        await self._listener.stop()


class Workers:
    """Where tasks of Celery find the gateway of their process.

    Inside a server the gateway is the server's, and a task that comes before it stands does nothing: the sweeper's
    next one finds it. A worker process makes its own.
    """

    def __init__(self) -> None:
        self._is_server = False
        self._own: WorkerGateway | None = None
        self._lock = threading.Lock()

    def belong_to_server(self) -> None:
        """Say that tasks run inside a server process."""
        self._is_server = True

    def run(self, work: Callable[[lifecycle.Gateway], Coroutine[Any, Any, T]]) -> T | None:
        """Do something on the loop of this process's gateway; None when there is none yet."""
        current = self._gateway()
        if current is None:
            return None
        done: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(work(current), current.loop)
        return done.result(START_S)

    def _gateway(self) -> lifecycle.Gateway | None:
        with self._lock:
            if not self._is_server and self._own is None:
                own = WorkerGateway()
                own.start()
                self._own = own
        try:
            return lifecycle.gateway()
        except RuntimeError:
            return None

    def stop(self) -> None:
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.stop()


workers = Workers()


@worker_process_shutdown.connect
@worker_shutdown.connect
def _stop(**_: object) -> None:
    workers.stop()
