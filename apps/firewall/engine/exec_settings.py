"""The settings of command execution that hold for one agent: the agent's before the global ones, member by member."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

# mode -> security, ask
MODES: Final[dict[str, tuple[str, str]]] = {
    "deny": ("deny", "off"),
    "allowlist": ("allowlist", "off"),
    "ask": ("allowlist", "on-miss"),
    "auto": ("allowlist", "on-miss"),
    "full": ("full", "off"),
}


@dataclass(frozen=True, slots=True)
class ExecSettings:
    """What a configuration says about commands; None where it says nothing.

    Attributes:
        settings: every member of `tools.exec` as merged, plain JSON.
        approvals: the document of exec approvals, plain JSON: `defaults`, `agents` with their allowlists.
    """

    agent_id: str
    host: str | None = None
    security: str | None = None
    ask: str | None = None
    mode: str | None = None
    node: str | None = None
    ask_fallback: str | None = None
    timeout_s: int | None = None
    safe_bins: tuple[str, ...] | None = None
    safe_bin_trusted_dirs: tuple[str, ...] | None = None
    safe_bin_profiles: Mapping[str, Any] | None = None
    path_prepend: tuple[str, ...] = ()
    strict_inline_eval: bool = False
    workspace_only: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    approvals: Mapping[str, Any] = field(default_factory=dict)


def read_exec_settings(
    agent_id: str, shared: Mapping[str, Any], own: Mapping[str, Any], approvals: Mapping[str, Any], *, modes: bool
) -> ExecSettings:
    """Merge the settings of an agent.

    Args:
        shared, own: global settings and those of the agent: `exec`, `fs`.
        modes: whether the release knows `mode`, which stands for a pair of `security` and `ask`.
    """
    levels = (_object(shared.get("exec")), _object(own.get("exec")))
    merged = {**levels[0], **levels[1]}
    security, ask, mode = _security(levels, modes)
    folders = {**_object(shared.get("fs")), **_object(own.get("fs"))}
    return ExecSettings(
        agent_id=agent_id,
        host=_text(merged.get("host")),
        security=security,
        ask=ask,
        mode=mode,
        node=_text(merged.get("node")),
        ask_fallback=_ask_fallback(agent_id, approvals),
        timeout_s=_whole(merged.get("timeoutSeconds", merged.get("timeoutSec"))),
        safe_bins=_texts(merged.get("safeBins")),
        safe_bin_trusted_dirs=_texts(merged.get("safeBinTrustedDirs")),
        safe_bin_profiles=_object(merged.get("safeBinProfiles")) or None,
        path_prepend=_texts(merged.get("pathPrepend")) or (),
        strict_inline_eval=merged.get("strictInlineEval") is True,
        workspace_only=_truth(folders.get("workspaceOnly")),
        settings=merged,
        approvals=approvals,
    )


def _security(levels: tuple[Mapping[str, Any], ...], modes: bool) -> tuple[str | None, str | None, str | None]:
    """Walk from the global level to the agent's: a mode replaces the pair, one of the pair ends the mode."""
    security: str | None = None
    ask: str | None = None
    mode: str | None = None
    for level in levels:
        named = _text(level.get("mode")) if modes else None
        if named in MODES:
            mode = named
            security, ask = MODES[named]
            continue
        if _text(level.get("security")) or _text(level.get("ask")):
            mode = None
            security = _text(level.get("security")) or security
            ask = _text(level.get("ask")) or ask
    return security, ask, mode


def _ask_fallback(agent_id: str, approvals: Mapping[str, Any]) -> str | None:
    agents = _object(approvals.get("agents"))
    for entry in (agents.get(agent_id), agents.get("*"), approvals.get("defaults")):
        fallback = _text(_object(entry).get("askFallback"))
        if fallback is not None:
            return fallback
    return None


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _texts(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        return None
    return tuple(value)
