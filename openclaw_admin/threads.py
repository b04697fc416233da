"""Django in threads: a thread is handed a whole request and hands back a whole answer, so that it waits for nobody.

Bodies are gathered before a thread is taken. An answer that streams holds a thread of its own once it is longer than
what is handed over at once. A few threads are kept for requests that must be served whatever the others do.
"""

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from io import BytesIO
from typing import Any, Final, cast

from a2wsgi.wsgi import build_environ
from django.conf import settings
from django.db import DatabaseError, connections

from apps.bodies import BodyError, body_gathered, length_check
from openclaw_admin.requests import Message, Receive, Scope, Send, header, json_messages, send_json

RESERVED_THREADS: Final = 4
STREAMS: Final = 8
"""Answers that may stream at once, each in a thread of its own."""
AT_ONCE_BYTES: Final = 1024 * 1024
QUEUE_S: Final = 30.0
RESERVED_BODY_BYTES: Final = 256 * 1024
HELD_BYTES: Final = 64 * 1024 * 1024
"""Bodies that wait to be complete, all together; those of reserved requests do not count."""

TOO_BUSY: Final = {"code": "too_busy", "message": "the server is busy: try again in a moment", "details": []}


class InThreads:
    """A WSGI application as an ASGI one, for HTTP.

    Args:
        application: answers with an iterable that says in `streaming` whether it comes in parts, as Django's do.
        workers: how many requests are worked on at once, beside the reserved ones.
        is_reserved: says of a scope whether it may use the reserve.
    """

    def __init__(
        self, application: Any, *, workers: int, is_reserved: Callable[[Scope], bool] = lambda _scope: False
    ) -> None:
        self._application = application
        self._is_reserved = is_reserved
        self._slots = _Slots(workers, ThreadPoolExecutor(workers + STREAMS, thread_name_prefix="WSGI"))
        self._reserve = _Slots(
            RESERVED_THREADS,
            ThreadPoolExecutor(RESERVED_THREADS, thread_name_prefix="WSGI-reserve", initializer=_keep_connection),
        )
        self._streams = threading.BoundedSemaphore(STREAMS)
        self._held_bytes = 0

    def open_reserve(self) -> None:
        """Start the reserved threads, each with the database connection that it keeps."""
        together = threading.Barrier(RESERVED_THREADS + 1)
        for _ in range(RESERVED_THREADS):
            self._reserve.executor.submit(together.wait, 60)
        together.wait(60)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_reserved = self._is_reserved(scope)
        try:
            body = await self._body(scope, receive, is_reserved=is_reserved)
        except BodyError as exc:
            await send_json(send, exc.status, {"code": exc.code, "message": exc.message, "details": []})
            return
        except TimeoutError:
            await send_json(send, 503, TOO_BUSY)
            return
        slots = self._reserve if is_reserved and not self._reserve.is_full else self._slots
        try:
            async with slots.one() as release:
                messages = await self._answer(slots, scope, body, receive, send, release)
        except TimeoutError:
            await send_json(send, 503, TOO_BUSY)
            return
        for message in messages:
            await send(message)

    async def _body(self, scope: Scope, receive: Receive, *, is_reserved: bool) -> bytes:
        limit_bytes = RESERVED_BODY_BYTES if is_reserved else settings.BODY_LIMIT_BYTES
        length_check(header(scope, b"content-length"), limit_bytes=limit_bytes)
        counted = 0

        async def received() -> Message:
            nonlocal counted
            message = await receive()
            if message.get("more_body", False) and not is_reserved:
                counted += len(message.get("body", b""))
                self._held_bytes += len(message.get("body", b""))
                if self._held_bytes > HELD_BYTES:
                    raise _TooManyBodiesError
            return message

        try:
            return await body_gathered(received, limit_bytes=limit_bytes, patience_s=settings.SLOW_CLIENT_S)
        finally:
            self._held_bytes -= counted

    async def _answer(
        self,
        slots: "_Slots",
        scope: Scope,
        body: bytes,
        receive: Receive,
        send: Send,
        release: Callable[[], None],
    ) -> list[Message]:
        loop = asyncio.get_running_loop()
        watching: list[asyncio.Task[None]] = []

        def stream() -> None:
            release()
            watching.append(loop.create_task(work.watch(receive)))

        work = _Work(self._application, loop, send, streams=self._streams, stream=stream)
        environ = build_environ(cast("Any", scope), cast("Any", BytesIO(body)))
        environ["CONTENT_LENGTH"] = str(len(body))  # one that came in chunks states none
        context = contextvars.copy_context()
        try:
            return await loop.run_in_executor(slots.executor, context.run, work.answer, environ)
        finally:
            for each in watching:
                each.cancel()


def _keep_connection() -> None:
    """Open this thread's database connection, and have it kept for as long as others are kept for a while."""
    connection = connections["default"]
    if not connection.settings_dict["CONN_MAX_AGE"]:
        return
    connection.settings_dict = connection.settings_dict | {"CONN_MAX_AGE": None}
    with suppress(DatabaseError):  # the first request opens it, or says why not
        connection.ensure_connection()


class _TooManyBodiesError(TimeoutError):
    """Bodies that wait to be complete take too much memory."""


class _Slots:
    """How many requests a pool of threads works on at once."""

    def __init__(self, number: int, executor: ThreadPoolExecutor) -> None:
        self.executor = executor
        self._free = asyncio.Semaphore(number)

    @property
    def is_full(self) -> bool:
        return self._free.locked()

    @asynccontextmanager
    async def one(self) -> Any:
        """Hold a slot, until the block ends or it is released; what is yielded releases it.

        Raises:
            TimeoutError: none became free.
        """
        async with asyncio.timeout(QUEUE_S):
            await self._free.acquire()
        is_held = True

        def release() -> None:
            nonlocal is_held
            if is_held:
                is_held = False
                self._free.release()

        try:
            yield release
        finally:
            release()


class _Work:
    """One request in its thread."""

    def __init__(
        self,
        application: Any,
        loop: asyncio.AbstractEventLoop,
        send: Send,
        *,
        streams: threading.BoundedSemaphore,
        stream: Callable[[], None],
    ) -> None:
        self._application = application
        self._loop = loop
        self._send = send
        self._streams = streams
        self._begin_stream = stream
        self._is_reader_gone = False
        self._head: Message = {}

    async def watch(self, receive: Receive) -> None:
        """Notice that the reader of a stream goes away."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self._is_reader_gone = True

    def answer(self, environ: Any) -> list[Message]:
        """Give what is still to be sent: the whole answer, or nothing where its parts were sent as they came."""
        parts = self._application(environ, self._start)
        try:
            if not getattr(parts, "streaming", True):
                return [self._head, {"type": "http.response.body", "body": b"".join(parts)}]
            return self._stream(iter(parts))
        finally:
            parts.close()

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:  # noqa: ARG002 - PEP 3333
        named = [(name.strip().lower().encode("latin1"), value.strip().encode("latin1")) for name, value in headers]
        self._head = {"type": "http.response.start", "status": int(status.partition(" ")[0]), "headers": named}

    def _stream(self, parts: Iterator[bytes]) -> list[Message]:
        """Hand over what is short; stream the rest without the slot that others wait for."""
        first = bytearray()
        for part in parts:
            first += part
            if len(first) > AT_ONCE_BYTES:
                break
        else:
            return [self._head, {"type": "http.response.body", "body": bytes(first)}]
        if not self._streams.acquire(blocking=False):
            return json_messages(503, TOO_BUSY)
        self._loop.call_soon_threadsafe(self._begin_stream)
        try:
            self._send_all(bytes(first), parts)
        finally:
            self._streams.release()
        return []

    def _send_all(self, first: bytes, parts: Iterable[bytes]) -> None:
        self._wait(self._head)
        self._wait({"type": "http.response.body", "body": first, "more_body": True})
        for part in parts:
            if self._is_reader_gone:
                return
            self._wait({"type": "http.response.body", "body": part, "more_body": True})
        self._wait({"type": "http.response.body", "body": b""})

    def _wait(self, message: Message) -> None:
        """Send a part, no faster than its reader reads."""
        asyncio.run_coroutine_threadsafe(cast("Any", self._send(message)), self._loop).result()
