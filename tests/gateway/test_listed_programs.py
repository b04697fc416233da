"""Programs that a list names, through the agents' door: what only reads runs, what runs or writes more waits."""

from collections.abc import Mapping
from typing import Any, Final

import httpx
import pytest

from apps.gateway import lifecycle
from tests.gateway.conftest import call, snapshot_with
from tests.gateway.server import Holder, Server

LISTED: Final[Mapping[str, Any]] = {"agents": {"*": {"allowlist": [{"pattern": "/usr/bin/*"}, {"pattern": "/bin/*"}]}}}
WAITS: Final = {
    "sort -o out.txt /etc/hostname": "not_known_safe",
    "perl e": "runs_by_nature",
    "git config alias.z '!./e'": "not_known_safe",
    "tar cfF o.tar ./e -L 20 -M big": "not_known_safe",
    "run-parts --regex=e .": "runs_by_nature",
}
"""Lines, and the reason for which they wait."""


@pytest.mark.parametrize("ask", ["on-miss", "off"])
def test_a_listed_program_runs_what_only_reads_and_asks_or_refuses_the_rest(
    server: Server, holder: Holder, agent: httpx.Client, ask: str
) -> None:
    holder.snapshot = snapshot_with(approvals=LISTED, settings={"security": "allowlist", "ask": ask})
    server.run(lifecycle.gateway().snapshots.reload())

    ran = call(agent, "exec", {"command": "sort -u /etc/hostname | head -n 1"}).json()
    held = {line: call(agent, "exec", {"command": line}, wait_ms=0).json() for line in WAITS}

    assert ran["status"] == "completed", ran
    for line, answer in held.items():
        if ask == "off":
            assert (answer["status"], "stricter than OpenClaw" in answer["error"]["message"]) == ("denied", True), line
        else:
            assert answer["status"] == "awaiting_approval", (line, answer)
