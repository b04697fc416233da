"""What a server process starts before its first request and ends after its last."""

import asyncio

import structlog

from apps.audit.writer import close_writer
from apps.console.tabs import tabs
from apps.events.listener import Listener, subscribe
from apps.firewall.sandbox.privacy import hide_process
from apps.gateway import lifecycle as gateway
from openclaw_admin import interpreter
from openclaw_admin.database import check_version
from openclaw_admin.disk import Disk
from openclaw_admin.requests import Receive, Send

log = structlog.get_logger("openclaw_admin.lifespan")


class Process:
    """The long-lived parts of one server process, in the order in which they start."""

    def __init__(self) -> None:
        self.listener = Listener()
        self.disk = Disk()

    async def start(self) -> None:
        hide_process()  # whatever server runs us: `manage.py serve` did it before
        await asyncio.to_thread(check_version)
        subscribe(tabs.hear)
        await self.listener.start()
        await gateway.start()
        await self.disk.start()
        interpreter.settle()

    async def stop(self) -> None:
        """End the gateway, then what it writes to and hears from; one that fails does not keep the others."""
        for part in (self.disk.stop, gateway.stop, close_ledger, self.listener.stop):
            try:
                await part()
            except Exception:
                log.exception("lifespan.stop_failed", part=part.__qualname__)


async def close_ledger() -> None:
    await asyncio.to_thread(close_writer)


process = Process()


async def application(receive: Receive, send: Send) -> None:
    """Speak the ASGI lifespan protocol: a start that fails stops the server and says why."""
    await receive()
    try:
        await process.start()
    except Exception as exc:
        log.exception("lifespan.start_failed")
        await send({"type": "lifespan.startup.failed", "message": str(exc)})
        return
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await process.stop()
    await send({"type": "lifespan.shutdown.complete"})
