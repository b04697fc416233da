"""Adapters of the areas `tool_names` and `profiles`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.names import expand_groups, normalize_name
from apps.firewall.engine.policy import permits, profile_policy, read_policy
from apps.policies.conformance.shapes import lists_of


def normalize(dialect: Dialect, given: Mapping[str, Any]) -> str:
    """Answer `normalize`."""
    return normalize_name(dialect, given["name"])


def expand(dialect: Dialect, given: Mapping[str, Any]) -> list[str]:
    """Answer `expand_groups`."""
    return expand_groups(dialect, given["list"] or ())


def match(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, bool]:
    """Answer `match`."""
    policy = read_policy(given["policy"])
    return {tool: permits(dialect, policy, tool) for tool in given["tools"]}


def profile(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Answer `resolve`."""
    policy = profile_policy(dialect, given["profile"])
    return None if policy is None else lists_of(policy)
