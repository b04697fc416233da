"""The event loop that the server runs, which tells tests where it connects to: it makes no events of `sys.audit`."""

from collections.abc import Callable
from typing import Any

import uvloop

Watch = Callable[[str, Any], None]
watches: list[Watch] = []


class WatchedLoop(uvloop.Loop):
    """uvloop as it is, but for telling of connections and look-ups before they are made."""

    async def create_connection(self, protocol_factory: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        if host is not None:
            _tell("socket.connect", (host, port))
        return await super().create_connection(protocol_factory, host, port, **options)

    async def getaddrinfo(self, host: Any, port: Any, **options: Any) -> Any:
        _tell("socket.getaddrinfo", host)
        return await super().getaddrinfo(host, port, **options)


def _tell(event: str, place: Any) -> None:
    for watch in watches:
        watch(event, place)
