"""The agents' door on a real socket, with its listener, in a thread of the test."""

import asyncio
import threading
import time
from typing import Any

import httpx
import uvicorn

from apps.events.listener import Listener
from apps.firewall.engine.snapshot import Snapshot
from apps.gateway import lifecycle
from apps.gateway.live import LiveSnapshots
from apps.gateway.rpc import socket
from apps.gateway.runtime_api import events
from apps.gateway.runtime_api.app import application
from openclaw_admin import celery  # noqa: F401 - without it the bell would ring at Celery's default broker


class Server:
    """One process's worth of the door. `live` is what its environments have published."""

    def __init__(self, snapshots: LiveSnapshots | None = None) -> None:
        self._snapshots = snapshots
        self._uvicorn = uvicorn.Server(
            uvicorn.Config(
                self._application, interface="asgi3", port=0, loop="asyncio", lifespan="on", log_level="warning"
            )
        )
        self._thread = threading.Thread(target=self._uvicorn.run, daemon=True)
        self.loop: asyncio.AbstractEventLoop | None = None
        self.listener = Listener()

    async def _application(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket" and scope["path"] == socket.PATH:
            await socket.application(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await events.application(scope, receive, send)
            return
        if scope["type"] != "lifespan":
            await application(scope, receive, send)
            return
        await receive()
        self.loop = asyncio.get_running_loop()
        await self.listener.start()
        await self.listener.wait_connected(timeout_s=10)
        await lifecycle.start(self._snapshots)
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await lifecycle.stop()
        await self.listener.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def start(self) -> "Server":
        self._thread.start()
        until = time.monotonic() + 60
        while not self._uvicorn.started:
            assert time.monotonic() < until and self._thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        return self

    @property
    def url(self) -> str:
        port = self._uvicorn.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    def run(self, work: Any) -> Any:
        """Run a coroutine on the server's loop."""
        assert self.loop is not None
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)

    def stop(self) -> None:
        self._uvicorn.should_exit = True
        self._thread.join(timeout=30)
        assert not self._thread.is_alive()

    def client(self, secret: str = "", **headers: str) -> httpx.Client:
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        return httpx.Client(base_url=self.url, headers=headers, timeout=40)


class Holder:
    """What is live in `production`, for tests that publish nothing."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot

    def snapshots(self) -> LiveSnapshots:
        return LiveSnapshots(lambda slug: self.snapshot if slug == "production" else None, lambda: ["production"])
