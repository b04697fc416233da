"""What holds in the environment of probes: one agent, two tools that change nothing, one command that says again."""

import sys
from functools import cache
from pathlib import Path
from typing import Final

from apps.firewall.engine.dialect import DEFAULT_RELEASE
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.connections import Connection, SourceUnknownError
from apps.limits.selectors import InForce
from apps.registry.probing import PROBES

NO_LIMITS: Final = InForce(release=DEFAULT_RELEASE, rates=(), rule=None, breakers={})
AGENT: Final = "probe"
TOOL: Final = "read"
"""It reads one file of the agent's own folder, which nothing writes to: the call ends, and changes nothing."""

COMMAND_TOOL: Final = "exec"
COMMAND: Final = "cat"
"""The one command that may run: it says again what it is told, and ends with its input."""
EXEC: Final = {"security": "allowlist", "ask": "off"}
APPROVALS: Final = {"agents": {AGENT: {"allowlist": [{"pattern": f"/**/{COMMAND}"}]}}}

SOURCE: Final = "probe"
MCP_TOOL: Final = f"{SOURCE}__echo"
SERVER: Final = str(Path(__file__).with_name("probe_server.py"))
TEXT: Final = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}


@cache
def probe_snapshot() -> Snapshot:
    """Build it; it is the same in every process, so that a call may be queued in one and run in another."""
    builtin = [ToolEntry(name, params=BUILTINS[name].definition.parameters) for name in (TOOL, COMMAND_TOOL, "process")]
    tools = [
        *builtin,
        ToolEntry(MCP_TOOL, params=TEXT, executor={"kind": "mcp", "source": SOURCE, "tool": "echo"}),
    ]
    return build_snapshot(
        SnapshotSource(
            environment=PROBES,
            tools=tools,
            agents=[AgentSource(AGENT)],
            settings={"exec": EXEC},
            exec_approvals=APPROVALS,
        )
    )


def probe_connection(source: str) -> Connection:
    """Give the connection of the MCP server that probes call; it is started like any other, and confined.

    Raises:
        SourceUnknownError: any other source.
    """
    if source != SOURCE:
        raise SourceUnknownError(f"no source named `{source}` is switched on")
    return Connection(source=SOURCE, kind="mcp_stdio", command=(sys.executable, "-I", "-S", SERVER))
