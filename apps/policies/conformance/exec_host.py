"""Adapters of the area `exec_host`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.exec_policy.elevated import Elevation, Speaker, elevation, is_approved
from apps.firewall.engine.exec_policy.hosts import HostRequest, HostSettings
from apps.firewall.engine.exec_policy.placing import place_command
from apps.firewall.engine.exec_settings import read_exec_settings
from apps.policies.conformance.shapes import agent_tools, inside

Given = Mapping[str, Any]
EMPTY_FILE = {"version": 1, "agents": {}}


def call(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer `call`."""
    defaults, params = given["defaults"], given["params"]
    settings = HostSettings(
        host=defaults.get("host"),
        security=defaults.get("security"),
        ask=defaults.get("ask"),
        mode=defaults.get("mode"),
        has_sandbox=bool(defaults.get("sandbox")),
        sandbox_required=bool(defaults.get("sandboxRequired")),
        elevation=_elevation(defaults.get("elevated")),
        elevated_level=inside(defaults, "elevated", "defaultLevel"),
        is_from_chat=bool(defaults.get("messageProvider")),
        skips_approvals=defaults.get("bypassHostApprovalFloors") is True,
        agent=given.get("agentId") or "main",
    )
    request = HostRequest(**{name: params.get(name) for name in ("host", "security", "ask", "elevated")})
    placed = place_command(dialect, settings, request, given.get("approvals", EMPTY_FILE))
    return {
        "host": placed.host,
        "sandboxed": placed.is_sandboxed,
        "security": placed.security,
        "ask": placed.ask,
        "bypassApprovals": placed.bypasses_approvals,
    }


def _elevation(block: Any) -> Elevation | None:
    if block is None:
        return None
    return Elevation(is_enabled=bool(block.get("enabled")), is_allowed=bool(block.get("allowed")))


def config(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer `config`."""
    agent = given["agentId"]
    shared, own = inside(given["config"], "tools") or {}, agent_tools(dialect, given["config"], agent) or {}
    found = read_exec_settings(agent, shared, own, {}, modes=dialect.exec_modes)
    return {"host": found.host, "security": found.security, "ask": found.ask, "node": found.node}


def elevated_sender(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer `elevated_sender`."""
    approved = is_approved(
        dialect,
        given["allowFrom"],
        provider=given["provider"],
        speaker=_speaker(given["ctx"]),
        fallback=given.get("fallbackAllowFrom"),
    )
    return {"approved": approved}


def elevated_permissions(dialect: Dialect, given: Given) -> dict[str, Any]:
    """Answer `elevated_permissions`."""
    found = elevation(
        dialect,
        inside(given["config"], "tools", "elevated"),
        inside(agent_tools(dialect, given["config"], given["agentId"]), "elevated"),
        provider=given["provider"],
        speaker=_speaker(given["ctx"]),
    )
    return {
        "enabled": found.is_enabled,
        "allowed": found.is_allowed,
        "failures": [{"gate": each.gate, "level": each.level} for each in found.shut],
    }


def _speaker(context: Given) -> Speaker:
    members = {
        "id": "SenderId",
        "username": "SenderUsername",
        "name": "SenderName",
        "tag": "SenderTag",
        "e164": "SenderE164",
        "origin": "From",
        "chat_type": "ChatType",
    }
    told = {field: context.get(member) for field, member in members.items()}
    return Speaker(**{field: value for field, value in told.items() if isinstance(value, str)})
