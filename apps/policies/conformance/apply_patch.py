"""Adapter of the area `apply_patch`: the gate by itself, and the way from a configuration to the list of tools."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.apply_patch import gate_refusal, read_apply_patch
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.policy import APPLY_PATCH
from apps.firewall.engine.resolve import resolve
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import ToolEntry
from apps.policies.conformance.shapes import inside


def run(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, bool]:
    """Answer whether the tool is offered for a run, by gate, sandbox and policy."""
    tools = [ToolEntry(tool.name, section=tool.section) for tool in dialect.catalogue]
    document = _with_sandbox(given["config"], given.get("sandbox"))
    engine = build_snapshot(parse_document(document, dialect=dialect.release, tools=tools)).engine
    context = CallContext(
        agent_id=given.get("agentId"),
        provider=given["provider"],
        model_id=given["modelId"],
        sender_is_owner=True,
        sandboxed=given.get("sandbox") is not None,
    )
    resolution = resolve(engine, context)
    agent = resolution.opening.agent
    settings = read_apply_patch(engine.settings, agent.settings if agent else {})
    refusal = gate_refusal(dialect, settings, provider=context.provider, model_id=context.model_id)
    return {
        "gate": refusal is None,
        "offered": APPLY_PATCH in engine.universe.names_of(resolution.mask),
        "workspaceOnly": settings.workspace_only,
    }


def _with_sandbox(config: Mapping[str, Any], sandbox: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the configuration with the sandbox of the run as every agent's default."""
    if sandbox is None:
        return config
    agents = inside(config, "agents") or {}
    defaults = {**(inside(agents, "defaults") or {}), "sandbox": sandbox}
    return {**config, "agents": {**agents, "defaults": defaults}}
