"""The gateway's own protocol, as far as a test speaks it: one connection, requests, answers."""

import contextlib
import itertools
import json
from typing import Any

from websockets.sync.client import ClientConnection, unix_connect

SCOPES = ["operator.read", "operator.write", "operator.admin", "operator.approvals"]


class Rpc:
    """A connection of a program on the gateway's own machine."""

    def __init__(self, socket_path: str, token: str) -> None:
        self._ids = itertools.count(1)
        self._open = contextlib.ExitStack()
        self._connection: ClientConnection = self._open.enter_context(
            unix_connect(socket_path, "ws://127.0.0.1/", open_timeout=20, max_size=32 * 1024 * 1024, compression=None)
        )
        self._event("connect.challenge")
        client: dict[str, Any] = {"id": "gateway-client", "version": "1.0.0", "platform": "linux", "mode": "backend"}
        asked: dict[str, Any] = {
            "minProtocol": 4,
            "maxProtocol": 4,
            "client": client,
            "role": "operator",
            "scopes": SCOPES,
        }
        hello = self.ask("connect", **asked, caps=[], auth={"token": token}, locale="en-US", userAgent="test/1")
        assert hello["type"] == "hello-ok", hello

    def ask(self, method: str, *, within_s: float = 60, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        name = f"r{next(self._ids)}"
        self._connection.send(json.dumps({"type": "req", "id": name, "method": method, "params": params}))
        while True:
            frame = json.loads(self._connection.recv(timeout=within_s))
            if frame.get("type") == "res" and frame.get("id") == name:
                assert frame["ok"], frame
                payload: dict[str, Any] = frame["payload"]
                return payload

    def _event(self, name: str) -> None:
        while True:
            frame = json.loads(self._connection.recv(timeout=60))
            if frame.get("event") == name:
                return

    def close(self) -> None:
        self._open.close()
