"""Adapter of `resolve_file` in the area `exec_approval`."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.exec_policy.approvals_file import ApprovalSettings, resolve_approvals


def resolve_file(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a row."""
    found = resolve_approvals(dialect, given["file"], given["agentId"], fallbacks=given["overrides"])
    return {
        "defaults": _shown(found.defaults),
        "agent": _shown(found.agent),
        "allowlist": [dict(entry) for entry in found.allowlist],
    }


def _shown(settings: ApprovalSettings) -> dict[str, Any]:
    return {
        "security": settings.security,
        "ask": settings.ask,
        "askFallback": settings.ask_fallback,
        "autoAllowSkills": settings.auto_allow_skills,
    }
