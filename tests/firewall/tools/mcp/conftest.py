"""Connections to the test server, each a real process."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection, Secrets

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
