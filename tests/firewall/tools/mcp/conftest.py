"""Connections to the test server, each a real process."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection, Secrets
from tests.ports import free_port

UNITS = Path(__file__).parents[4] / "docs/examples/mcp/units_server.py"
SERVER = str(Path(__file__).with_name("server.py"))

Connect = Callable[..., Connection]


@pytest.fixture
def connect(tmp_path: Path) -> Connect:
    def make(mode: str = "normal", *, tools: list[Any] | None = None, **changes: Any) -> Connection:
        command = [sys.executable, "-I", "-S", SERVER, mode]
        if tools is not None:
            offered = tmp_path / "tools.json"
            offered.write_text(json.dumps(tools))
            command.append(str(offered))
        given: dict[str, Any] = {"source": "tester", "kind": "mcp_stdio", "command": tuple(command)}
        return Connection(**{**given, "env": Secrets({"ONE": "1"}), **changes})

    return make


@contextlib.contextmanager
def units_server(token: str) -> Iterator[int]:
    """Run the living example of a server behind an address; gives its port."""
    port = free_port()
    environment = {"PATH": os.environ["PATH"], "UNITS_TOKEN": token}
    with subprocess.Popen([sys.executable, str(UNITS), str(port)], env=environment) as server:
        try:
            for _ in range(400):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.05)
            yield port
        finally:
            server.terminate()
