"""The example registry of the documentation, as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection, read_connection

EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "remote_registry"
TOKEN = "token-of-the-example"
KEY = "a-key-that-both-sides-know"


@dataclass
class Registry:
    """The running example; `tools` is the file that it lists, which a test may rewrite."""

    port: int
    tools: Path
    settings: dict[str, Any] = field(default_factory=dict)

    def url(self, path: str = "/registry") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def connection(self, **changes: Any) -> Connection:
        settings = {
            "url": self.url(),
            "auth_token": {"$secret": "token"},
            "signing": {"algorithm": "hmac-sha256", "key": {"$secret": "key"}, "key_id": "example"},
            "allow_networks": ["127.0.0.0/8"],
        }
        secrets = {"token": TOKEN, "key": KEY}
        return read_connection(source="example", kind="remote", settings=settings | changes, secrets=secrets)

    def listing(self) -> dict[str, Any]:
        listed: dict[str, Any] = json.loads(self.tools.read_text())
        return listed

    def list_also(self, *entries: Any) -> None:
        """Add entries to what the registry lists."""
        listed = self.listing()
        listed["tools"] += entries
        self.tools.write_text(json.dumps(listed))


@contextmanager
def running(tools: Path, **environment: str) -> Iterator[Registry]:
    """Run the example until the block ends."""
    variables = {"PATH": os.environ["PATH"], "TOOL_REGISTRY_TOKEN": TOKEN, "TOOL_SIGNING_KEY": KEY} | environment
    command = [sys.executable, str(EXAMPLE / "server.py"), "--port", "0", "--tools", str(tools)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=variables) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            yield Registry(port=int(line.rpartition(":")[2]), tools=tools)
        finally:
            process.kill()


@pytest.fixture(scope="session")
def started() -> Iterator[Callable[..., Registry]]:
    """Start the example with other variables; each set of them once."""
    with ExitStack() as stack:
        kept: dict[tuple[tuple[str, str], ...], Registry] = {}

        def start(tools: Path, **environment: str) -> Registry:
            key = tuple(sorted(environment.items()))
            if key not in kept:
                kept[key] = stack.enter_context(running(tools, **environment))
            return kept[key]

        yield start


@pytest.fixture
def registry(started: Callable[..., Registry], tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """The example as it is written, listing its own file again for each test."""
    shared = tmp_path_factory.getbasetemp() / "tools.json"
    shared.write_text((EXAMPLE / "tools.json").read_text())
    return started(shared)
