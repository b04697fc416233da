"""Telling the workers that there is work. A message that is lost costs seconds: the sweeper rings again."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import structlog
from celery import current_app
from kombu.exceptions import OperationalError

log = structlog.get_logger(__name__)

TAKE = "gateway.calls_take"
PAUSE_S = 0.05


class Bell:
    """Rings from a thread of its own, so that a broker that does not answer keeps nobody waiting.

    Rings that come shortly after another are one more ring, not many: whoever hears it takes all there is.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_wanted = False
        self._thread: ThreadPoolExecutor | None = None

    def ring(self) -> None:
        """Have a worker look for calls. Call it after the row is committed."""
        with self._lock:
            if self._is_wanted:
                return
            self._is_wanted = True
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix="bell")
            self._thread.submit(self._send)

    def _send(self) -> None:
        with self._lock:
            self._is_wanted = False
        try:
            current_app.send_task(TAKE, retry=False, ignore_result=True, expires=60)
        except (OperationalError, OSError) as exc:
            log.warning("bell.not_heard", error=type(exc).__name__)
        time.sleep(PAUSE_S)


bell = Bell()
