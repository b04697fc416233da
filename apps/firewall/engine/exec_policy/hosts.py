"""Where a command runs: on which host, and whether a call may have it elevated.

Source: conformance README, `exec_host.jsonl`, kind `call`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.exec_policy.elevated import Elevation, ShutGate
from apps.firewall.engine.names import fold
from apps.firewall.errors import FirewallError

AUTO: Final = "auto"
SANDBOX: Final = "sandbox"
GATEWAY: Final = "gateway"
NODE: Final = "node"
HOSTS: Final = (SANDBOX, GATEWAY, NODE)
LEVELS: Final[Mapping[str | None, str]] = {"full": "full", "ask": "ask", "on": "ask"}
"""How elevated, by the level that is configured; any other word is off."""
OFF: Final = "off"
PATHS_OF_GATES: Final = {
    ("enabled", "global"): "tools.elevated.enabled",
    ("enabled", "agent"): "agents.entries.{agent}.tools.elevated.enabled",
    ("allowFrom", "global"): "tools.elevated.allowFrom.{provider}",
    ("allowFrom", "agent"): "agents.entries.{agent}.tools.elevated.allowFrom.{provider}",
}


class ExecHostError(FirewallError):
    """A command that cannot run where, or as, it was asked for; `rule` names the setting that says so."""

    def __init__(self, code: str, message: str, *, rule: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.rule = rule


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What holds before the call is looked at.

    Args:
        mode: stands for security and ask where the release knows it.
        has_sandbox: a sandbox exists for this session; `sandbox_required`: the session insists on it.
        elevation: what the gates say of this call's sender; None where nothing is set up.
        elevated_level: `off`, `on`, `ask` or `full`: how elevated a call is that asks for it, or says nothing.
        is_from_chat: the call comes from a conversation on a channel.
        skips_approvals: the session has full permission, and the document of approvals is not asked.
        agent, provider: for messages.
    """

    host: str | None = None
    security: str | None = None
    ask: str | None = None
    mode: str | None = None
    has_sandbox: bool = False
    sandbox_required: bool = False
    elevation: Elevation | None = None
    elevated_level: str | None = None
    is_from_chat: bool = False
    skips_approvals: bool = False
    agent: str = "main"
    provider: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest:
    """What a call asks for, as it came: each member may be anything, None where nothing was asked."""

    host: Any = None
    security: Any = None
    ask: Any = None
    elevated: Any = None


def elevated_how(settings: HostSettings, asked: Any) -> str:
    """Tell how elevated a call is: what it asks for, else the level of a sender who may."""
    level = LEVELS.get(settings.elevated_level, OFF)
    if isinstance(asked, bool):
        return ("full" if level == "full" else "ask") if asked else OFF
    gates = settings.elevation
    is_open = gates is not None and gates.is_enabled and gates.is_allowed and not settings.sandbox_required
    return level if is_open else OFF


def check_gates(settings: HostSettings) -> None:
    """Refuse a call that may not be elevated.

    Raises:
        ExecHostError: a gate is shut; the message names it.
    """
    gates = settings.elevation
    if gates is None or not gates.is_enabled:
        raise _refused_by(settings, "elevated_disabled", gates.shut if gates else (ShutGate("enabled", "global"),))
    if not gates.is_allowed:
        raise _refused_by(settings, "elevated_not_allowed", gates.shut)


def path_of_gate(gate: ShutGate, agent: str, provider: str) -> str:
    """Name the setting that shuts a gate; of a call without a channel, that."""
    path = PATHS_OF_GATES.get((gate.gate, gate.level), "channel")
    return path.format(agent=agent, provider=provider)


def _refused_by(settings: HostSettings, code: str, shut: tuple[ShutGate, ...]) -> ExecHostError:
    if any(each.gate == "provider" for each in shut):
        return ExecHostError(code, "elevated is for senders of a channel, and this call names none", rule="channel")
    paths = [path_of_gate(each, settings.agent, settings.provider) for each in shut]
    said = "is switched off" if code == "elevated_disabled" else "does not name this sender"
    message = f"elevated is not available: {', '.join(f'`{path}`' for path in paths)} {said}"
    return ExecHostError(code, message, rule=paths[0] if paths else "")


def wanted_host(dialect: Dialect, value: Any) -> str | None:
    """Read the host of a call; None for nothing, and for what stands for nothing."""
    if value is None:
        return None
    if not isinstance(value, str):
        code = "host_invalid" if dialect.exec_host_strict else "bad_type"
        raise ExecHostError(code, "`host` is not a text", rule="host")
    wanted = fold(value)
    if wanted in HOSTS:
        return wanted
    if dialect.exec_host_strict and wanted and wanted != AUTO:
        known = ", ".join((AUTO, *HOSTS))
        raise ExecHostError("host_invalid", f"no host is named `{value}`, known are {known}", rule="host")
    return None


def choose_host(dialect: Dialect, settings: HostSettings, wanted: str | None, *, is_elevated: bool) -> str:
    """Choose the host of a command: the configured one, unless the call may name another.

    Raises:
        ExecHostError: it may not, or the session needs a sandbox.
    """
    if settings.sandbox_required:
        _check_required(settings, wanted, is_elevated=is_elevated)
    configured = AUTO if settings.sandbox_required else settings.host or dialect.exec_host_default
    is_lifted = is_elevated and dialect.elevated_lifts_settings
    if wanted and wanted != configured and not is_lifted:
        is_free = configured == AUTO and not (settings.has_sandbox and wanted in (GATEWAY, NODE))
        if not is_free:
            message = f"host `{wanted}` was asked for, but commands of this agent run on `{configured}`"
            raise ExecHostError("host_not_allowed", message, rule="tools.exec.host")
    chosen = wanted or configured
    if is_elevated:
        return NODE if chosen == NODE and not is_lifted else GATEWAY
    if chosen == AUTO:
        return SANDBOX if settings.has_sandbox else GATEWAY
    return chosen


def _check_required(settings: HostSettings, wanted: str | None, *, is_elevated: bool) -> None:
    if not settings.has_sandbox:
        raise ExecHostError("required_sandbox_missing", "this session needs a sandbox, and there is none")
    if is_elevated:
        message = "this session needs a sandbox, which elevated would leave"
        raise ExecHostError("required_sandbox_no_elevated", message, rule="elevated")
    if wanted in (GATEWAY, NODE):
        message = f"host `{wanted}` was asked for, but this session needs a sandbox"
        raise ExecHostError("required_sandbox_other_host", message, rule="host")
