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
        elevated, elevated_own: `tools.elevated` of everybody and of the agent, plain JSON.
        elevated_level: `agents.defaults.elevatedDefault`.
        host_from, security_from, ask_from: which setting said so, as a path.
    """

    agent_id: str
    host: str | None = None
    security: str | None = None
    ask: str | None = None
    mode: str | None = None
    node: str | None = None
    timeout_s: int | None = None
    safe_bins: tuple[str, ...] | None = None
    safe_bin_trusted_dirs: tuple[str, ...] | None = None
    safe_bin_profiles: Mapping[str, Any] | None = None
    path_prepend: tuple[str, ...] = ()
    strict_inline_eval: bool = False
    workspace_only: bool | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    approvals: Mapping[str, Any] = field(default_factory=dict)
    elevated: Mapping[str, Any] = field(default_factory=dict)
    elevated_own: Mapping[str, Any] = field(default_factory=dict)
    elevated_level: str | None = None
    host_from: str = "tools.exec.host"
    security_from: str = "tools.exec.security"
    ask_from: str = "tools.exec.ask"


def read_exec_settings(
    agent_id: str, shared: Mapping[str, Any], own: Mapping[str, Any], approvals: Mapping[str, Any], *, modes: bool
) -> ExecSettings:
    """Merge the settings of an agent.

    Args:
        shared, own: global settings and those of the agent: `exec`, `fs`, `elevated`.
        modes: whether the release knows `mode`, which stands for a pair of `security` and `ask`.
    """
    levels = (_object(shared.get("exec")), _object(own.get("exec")))
    merged = {**levels[0], **{name: value for name, value in levels[1].items() if value is not None}}
    places = ("tools.exec", f"agents.entries.{agent_id}.tools.exec")
    words = _words(levels, places, modes)
    folders = {**_object(shared.get("fs")), **_object(own.get("fs"))}
    return ExecSettings(
        agent_id=agent_id,
        host=_text(merged.get("host")),
        security=words["security"][0],
        ask=words["ask"][0],
        mode=words["mode"][0],
        node=_text(merged.get("node")),
        timeout_s=_whole(merged.get("timeoutSeconds", merged.get("timeoutSec"))),
        safe_bins=_texts(merged.get("safeBins")),
        safe_bin_trusted_dirs=_texts(merged.get("safeBinTrustedDirs")),
        safe_bin_profiles=_object(merged.get("safeBinProfiles")) or None,
        path_prepend=_texts(merged.get("pathPrepend")) or (),
        strict_inline_eval=merged.get("strictInlineEval") is True,
        workspace_only=_truth(folders.get("workspaceOnly")),
        settings=merged,
        approvals=approvals,
        elevated=_object(shared.get("elevated")),
        elevated_own=_object(own.get("elevated")),
        elevated_level=_text(shared.get("elevatedDefault")),
        host_from=f"{places[1] if levels[1].get('host') is not None else places[0]}.host",
        security_from=words["security"][1],
        ask_from=words["ask"][1],
    )


def _words(
    levels: tuple[Mapping[str, Any], ...], places: tuple[str, ...], modes: bool
) -> dict[str, tuple[str | None, str]]:
    """Walk from the global level to the agent's: a mode replaces the pair, one of the pair ends the mode.

    A mode that means nothing denies.

    Returns:
        Word and path of `security`, `ask` and `mode`.
    """
    found: dict[str, tuple[str | None, str]] = {name: (None, f"{places[0]}.{name}") for name in ("security", "ask")}
    found["mode"] = (None, "")
    for level, place in zip(levels, places, strict=True):
        mode = _text(level.get("mode")) if modes else None
        if mode:
            security, ask = MODES.get(mode, MODES["deny"])
            path = f"{place}.mode"
            found = {"security": (security, path), "ask": (ask, path), "mode": (mode, path)}
            continue
        for name in ("security", "ask"):
            word = _text(level.get(name))
            if word:
                found |= {name: (word, f"{place}.{name}"), "mode": (None, "")}
    return found


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
