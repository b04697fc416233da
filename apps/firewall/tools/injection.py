"""Params that the caller's facts fill: what a model sends for them never counts."""

from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.tools.aliases import aliased_schema
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.mistakes import Problem

FACTS: Final = (
    "environment",
    "agent.id",
    "session.key",
    "channel",
    "account.id",
    "group.id",
    "sender.id",
    "sender.username",
    "sender.name",
    "sender.phone",
    "sender.is_owner",
    "provider",
    "model",
    "subagent.depth",
    "call.id",
    "trace.id",
)
"""What context mappings may name. A fact that a call does not have leaves its param out."""


def inject(
    mappings: Mapping[str, str], params: dict[str, Any], facts: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Problem]]:
    """Fill the mapped params.

    Returns:
        New params, and a warning for each that was sent and did not count.
    """
    filled = {name: value for name, value in params.items() if name not in mappings}
    warnings: list[Problem] = []
    for name, fact in mappings.items():
        value = facts.get(fact)
        if value is not None:
            filled[name] = value
        if name in params and params[name] != value:
            message = f"`{name}` is filled from what is known of the caller; what was sent does not count"
            warnings.append({"path": name, "code": "context_field_replaced", "message": message})
    return filled, warnings


def without_facts(problem: Problem, mappings: Mapping[str, str]) -> Problem:
    """Say of a missing param that no model can give why it is missing."""
    fact = mappings.get(problem["path"])
    if fact is None:
        return problem
    name = problem["path"]
    return {**problem, "message": f"`{name}` is filled from `{fact}` of the caller: {problem['message']}"}


def offered_schema(definition: Definition, *, release: str = "2026.9") -> JsonObject:
    """Give the schema that a model is shown: without the params that the caller's facts fill, and with the names that
    a release takes beside the tool's own."""
    mapped = definition.context_mappings
    schema = aliased_schema(definition.name, definition.parameters, release=release)
    if not mapped:
        return schema
    offered = dict(schema)
    if isinstance(offered.get("properties"), Mapping):
        offered["properties"] = {name: each for name, each in offered["properties"].items() if name not in mapped}
    if isinstance(offered.get("required"), list):
        offered["required"] = [name for name in offered["required"] if name not in mapped]
    return offered
