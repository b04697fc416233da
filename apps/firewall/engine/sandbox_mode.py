"""Whether a session is sandboxed by what is configured, where a call does not say.

Source: the shipped release 2026.9.6, `resolveSandboxRuntimeStatus`; 2026.2.25 reads the mode alike.
"""

from collections.abc import Mapping
from typing import Any, Final

from apps.firewall.engine.session_key import DEFAULT_AGENT, MAIN_KEY, normalize_agent_id

GLOBAL: Final = "global"


def is_sandboxed(shared: Mapping[str, Any], own: Mapping[str, Any], agent: str | None, session_key: str | None) -> bool:
    """Say whether the configured mode sandboxes a session: all of them, or each but the agent's main one.

    Args:
        shared, own: the settings of everybody and of the agent; the agent's mode counts first.
        session_key: of a call without one only mode `all` says that it is sandboxed.
    """
    mode = _mode(own) or _mode(shared) or "off"
    if mode in {"off", "all"}:
        return mode == "all"
    key = (session_key or "").strip()
    return bool(key) and not _is_main(shared.get("session") or {}, agent or DEFAULT_AGENT, key)


def depends_on_session(*levels: Mapping[str, Any]) -> bool:
    """Say whether a configured mode tells main sessions from others."""
    return any((_mode(level) or "off") not in {"off", "all"} for level in levels)


def is_configured(*levels: Mapping[str, Any]) -> bool:
    """Say whether some mode sandboxes sessions."""
    return any((_mode(level) or "off") != "off" for level in levels)


def _mode(settings: Mapping[str, Any]) -> str | None:
    sandbox = settings.get("sandbox")
    mode = sandbox.get("mode") if isinstance(sandbox, Mapping) else None
    return mode if isinstance(mode, str) else None


def _is_main(session: Mapping[str, Any], agent: str, key: str) -> bool:
    named = session.get("mainKey")
    main = (named.strip().lower() if isinstance(named, str) else "") or MAIN_KEY
    agents = (normalize_agent_id(agent), DEFAULT_AGENT)
    aliases = {MAIN_KEY, main, *(f"agent:{each}:{word}" for each in agents for word in (MAIN_KEY, main))}
    return key in aliases or (session.get("scope") == GLOBAL and key == GLOBAL)
