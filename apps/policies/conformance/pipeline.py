"""Adapter of the area `pipeline`: an `openclaw.json` becomes a snapshot, whose explanation is the answer."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.answers import Explanation
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import explain_with
from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.openclaw_json import parse_document
from apps.firewall.engine.policy import read_policy
from apps.firewall.engine.resolution import Given
from apps.firewall.engine.resolve import ResolutionError
from apps.firewall.engine.session_key import normalize_agent_id
from apps.firewall.engine.snapshot import build_snapshot
from apps.firewall.engine.source import ToolEntry
from apps.firewall.engine.warn import Declared
from apps.policies.conformance.shapes import given_lists_of, inside


def run(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a vector; the group's and the sandbox's policy come selected with it.

    Raises:
        ResolutionError: the engine decides nothing for this context.
    """
    context = given["context"]
    source = parse_document(given["config"], dialect=dialect.release, tools=map(_tool, given["tools"]))
    explanation = explain_with(
        build_snapshot(source).engine,
        _context(context),
        given=Given(read_policy(context.get("groupPolicy")), read_policy(context.get("sandboxPolicy"))),
        declared=_declared(context),
    )
    if explanation.error is not None:
        raise ResolutionError(explanation.error)
    return _answer(explanation)


def _tool(members: Mapping[str, Any]) -> ToolEntry:
    return ToolEntry(members["name"], plugin=members.get("pluginId"), owner_only=members.get("ownerOnly") is True)


def _context(context: Mapping[str, Any]) -> CallContext:
    runtime = context.get("runtimeTools")
    return CallContext(
        agent_id=context.get("agentId"),
        session_key=_session_key(context),
        provider=context.get("provider"),
        model_id=context.get("modelId"),
        channel=context.get("messageProvider"),
        sender_id=context.get("senderId"),
        sender_username=context.get("senderUsername"),
        sender_name=context.get("senderName"),
        sender_e164=context.get("senderE164"),
        sender_is_owner=context.get("senderIsOwner"),
        runtime_tools=None if runtime is None else tuple(runtime),
        inherit_runtime_tools=context.get("inheritRuntimeTools") is True,
        stored_session=context.get("storedSession"),
    )


def _session_key(context: Mapping[str, Any]) -> str | None:
    depth = context.get("subagentDepth") or 0
    if depth == 0:
        return None
    agent = normalize_agent_id(context.get("agentId"))  # a blank one is `main`
    return ":".join((f"agent:{agent}", *(f"subagent:s{level}" for level in range(depth))))


def _declared(context: Mapping[str, Any]) -> Declared:
    return Declared(
        plugin_ids=tuple(inside(context, "declaredTools", "pluginIds") or ()),
        plugin_tools=tuple(inside(context, "declaredTools", "pluginToolNames") or ()),
        mcp_servers=tuple(inside(context, "declaredTools", "mcpServerNames") or ()),
    )


def _answer(explanation: Explanation) -> dict[str, Any]:
    resolution = explanation.resolution
    return {
        "allowed": list(explanation.allowed),
        "steps": [
            {
                "label": layer.label,
                "policy": None if layer.policy is None else given_lists_of(layer.policy),
                "remaining": list(layer.remaining),
            }
            for layer in explanation.layers
            if layer.applied
        ],
        "warnings": [
            {
                "layer": warning.label,
                "entries": list(warning.entries),
                "kinds": list(warning.kinds),
                "allowlist_ignored": warning.allowlist_ignored,
            }
            for warning in explanation.warnings
        ],
        "effective": {
            "profile": resolution and resolution.profile,
            "providerProfile": resolution and resolution.provider_profile,
        },
    }
