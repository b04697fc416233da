"""Adapters of the area `subagent`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.policy import permits, read_policy
from apps.firewall.engine.subagents import is_leaf, role_deny, subagent_policy
from apps.policies.conformance.shapes import inside, lists_of


def policy(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer `policy`."""
    config = given["config"]
    deepest = inside(config, "agents", "defaults", "subagents", "maxSpawnDepth")
    configured = read_policy(inside(config, "tools", "subagents", "tools"))
    found = subagent_policy(dialect, configured, leaf=is_leaf(dialect, given["depth"], deepest))
    allowed = [tool for tool in given["tools"] if permits(dialect, found, tool)]
    return {"policy": lists_of(found), "allowed": allowed}


def role(dialect: Dialect, given: Mapping[str, Any]) -> list[str]:
    """Answer `role_deny`."""
    return list(role_deny(dialect, given["role"]))
