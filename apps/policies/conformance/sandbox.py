"""Adapters of the area `sandbox_policy`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.policy import read_policy
from apps.firewall.engine.sandbox_policy import Source, left_by_transport, resolve_sandbox_policy
from apps.policies.conformance.shapes import agent_tools, inside


def resolve(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `resolve`."""
    config = given["config"]
    own = inside(agent_tools(dialect, config, given["agentId"]), "sandbox", "tools")
    common = inside(config, "tools", "sandbox", "tools")
    found = resolve_sandbox_policy(dialect, read_policy(own), read_policy(common))
    return {
        "allow": list(found.allow),
        "deny": list(found.deny),
        "sources": {"allow": _source(dialect, found.allow_source), "deny": _source(dialect, found.deny_source)},
    }


def _source(dialect: Dialect, source: Source) -> dict[str, str]:
    agents = "agents.entries.*." if dialect.agent_entries else "agents.list[]."
    return {
        "source": source.level,
        "key": f"{agents if source.level == 'agent' else ''}tools.sandbox.tools.{source.member}",
    }


def message_provider(dialect: Dialect, given: Mapping[str, Any]) -> list[str]:
    """Answer `message_provider`."""
    return left_by_transport(dialect, given["tools"], given["messageProvider"])
