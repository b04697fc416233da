"""What holds in the environment of probes: one agent, and one tool that changes nothing."""

from functools import cache
from typing import Final

from apps.firewall.engine.dialect import DEFAULT_RELEASE
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.tools.catalog import BUILTINS
from apps.limits.selectors import InForce
from apps.registry.probing import PROBES

NO_LIMITS: Final = InForce(release=DEFAULT_RELEASE, rates=(), rule=None, breakers={})
AGENT: Final = "probe"
TOOL: Final = "read"
"""It reads one file of the agent's own folder, which nothing writes to: the call ends, and changes nothing."""


@cache
def probe_snapshot() -> Snapshot:
    """Build it; it is the same in every process, so that a call may be queued in one and run in another."""
    tool = ToolEntry(TOOL, params=BUILTINS[TOOL].definition.parameters)
    return build_snapshot(SnapshotSource(environment=PROBES, tools=[tool], agents=[AgentSource(AGENT)]))
