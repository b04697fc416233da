"""Django in threads: a thread is handed a whole request and hands back a whole answer, so that it waits for nobody.

`a2wsgi` hands over each part of both by itself, and the thread waits for the loop every time. That is kept for what is
long: bodies that come in parts, and answers that are streamed.
"""

import asyncio
import contextvars
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

from a2wsgi.wsgi import Body, build_environ

from openclaw_admin.requests import Message, Receive, Scope, Send


class InThreads:
    """A WSGI application as an ASGI one, for HTTP.

    Args:
        application: answers with an iterable that says in `streaming` whether it comes in parts, as Django's do.
        workers: how many requests are worked on at once.
    """

    def __init__(self, application: Any, *, workers: int) -> None:
        self._application = application
        self._executor = ThreadPoolExecutor(workers, thread_name_prefix="WSGI")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        loop = asyncio.get_running_loop()
        body = Body(loop, cast("Any", receive))
        first = await receive()
        body.buffer.extend(first.get("body", b""))
        body._has_more = first.get("more_body", False)
        work = _Work(self._application, loop, send)
        context = contextvars.copy_context()
        environ = build_environ(cast("Any", scope), body)
        for message in await loop.run_in_executor(self._executor, context.run, work.answer, environ):
            await send(message)


class _Work:
    """One request in its thread."""

    def __init__(self, application: Any, loop: asyncio.AbstractEventLoop, send: Send) -> None:
        self._application = application
        self._loop = loop
        self._send = send
        self._head: Message = {}

    def answer(self, environ: Any) -> list[Message]:
        """Give what is still to be sent: the whole answer, or nothing where its parts were sent as they came."""
        parts = self._application(environ, self._start)
        try:
            if getattr(parts, "streaming", True):
                self._stream(parts)
                return []
            return [self._head, {"type": "http.response.body", "body": b"".join(parts)}]
        finally:
            parts.close()

    def _start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:  # noqa: ARG002 - PEP 3333
        named = [(name.strip().lower().encode("latin1"), value.strip().encode("latin1")) for name, value in headers]
        self._head = {"type": "http.response.start", "status": int(status.partition(" ")[0]), "headers": named}

    def _stream(self, parts: Iterable[bytes]) -> None:
        self._wait(self._head)
        for part in parts:
            self._wait({"type": "http.response.body", "body": part, "more_body": True})
        self._wait({"type": "http.response.body", "body": b""})

    def _wait(self, message: Message) -> None:
        """Send a part, no faster than its reader reads."""
        asyncio.run_coroutine_threadsafe(cast("Any", self._send(message)), self._loop).result()
