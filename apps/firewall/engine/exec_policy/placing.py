"""How strictly a command runs: the settings, the exec approvals document, and what the call asks for.

A call can make its command stricter, never looser, unless its sender may have it elevated.
Source: conformance README, `exec_host.jsonl`, kind `call`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.engine.dialect import Dialect
from apps.firewall.engine.exec_policy.approvals_file import ApprovalSettings, resolve_approvals
from apps.firewall.engine.exec_policy.hosts import (
    OFF,
    SANDBOX,
    ExecHostError,
    HostRequest,
    HostSettings,
    check_gates,
    choose_host,
    elevated_how,
    wanted_host,
)
from apps.firewall.engine.exec_policy.modes import ASK, SECURITY, max_ask, min_security, read_ask, read_security
from apps.firewall.engine.exec_settings import MODES
from apps.firewall.engine.names import fold

ALLOWS_ALL: Final = ("full", "off")
DEFAULT: Final = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where a command runs and what holds for it.

    Args:
        is_sandboxed: a sandbox is really used.
        bypasses_approvals: nothing of the approvals is asked, not even whether the line is understood.
        elevated: `off`, `ask` or `full`.
        sources: `host`, `security`, `ask` -> the setting that decided.
    """

    host: str
    is_sandboxed: bool
    security: str
    ask: str
    bypasses_approvals: bool = False
    elevated: str = OFF
    sources: Mapping[str, str] = field(default_factory=dict)


def place_command(dialect: Dialect, settings: HostSettings, request: HostRequest, document: Any) -> Placed:
    """Work out where one command runs, and how strictly.

    Args:
        document: the exec approvals document, plain JSON.
    Raises:
        ExecHostError: it cannot run so; `code` says why.
        ApprovalsFileError: the document cannot be read.
    """
    elevated = elevated_how(settings, request.elevated)
    if elevated != OFF:
        check_gates(settings)
    wanted = wanted_host(dialect, request.host)
    host = choose_host(dialect, settings, wanted, is_elevated=elevated != OFF)
    is_sandboxed = host == SANDBOX and settings.has_sandbox
    if host == SANDBOX and not is_sandboxed and SANDBOX in (settings.host, wanted):
        raise ExecHostError("sandbox_missing", "host `sandbox` needs a sandbox, and this session has none", rule="host")
    weighed = _weighed(dialect, settings, request, host, document, elevated)
    is_said = settings.security == "deny" or settings.mode == "deny"
    if weighed.security == "deny" and (host != SANDBOX or (dialect.exec_host_denied and is_said)):
        raise ExecHostError("denied", "commands are switched off for this agent", rule=weighed.security_from)
    return Placed(
        host=host,
        is_sandboxed=is_sandboxed,
        security=weighed.security,
        ask=weighed.ask,
        bypasses_approvals=weighed.bypasses,
        elevated=elevated,
        sources={"security": weighed.security_from, "ask": weighed.ask_from},
    )


@dataclass(slots=True)
class _Weighed:
    security: str
    ask: str
    security_from: str
    ask_from: str
    bypasses: bool = False

    def harden(self, security: str | None, ask: str | None, *, security_from: str, ask_from: str) -> None:
        """Take what is stricter than so far, and note who said it."""
        if security is not None and min_security(self.security, security) != self.security:
            self.security, self.security_from = security, security_from
        if ask is not None and max_ask(self.ask, ask) != self.ask:
            self.ask, self.ask_from = ask, ask_from


def _weighed(
    dialect: Dialect, settings: HostSettings, request: HostRequest, host: str, document: Any, elevated: str
) -> _Weighed:
    asked = {"security": _of_call(dialect, request.security, SECURITY), "ask": _of_call(dialect, request.ask, ASK)}
    if elevated == "full" and dialect.elevated_lifts_settings:
        return _Weighed(*ALLOWS_ALL, "params.elevated", "params.elevated", bypasses=True)
    now = _configured(dialect, settings, host)
    allows_all = (now.security, now.ask) == ALLOWS_ALL
    is_unasked = settings.skips_approvals and now.ask == "off"
    approvals = _approvals(dialect, settings, host, document)
    if approvals is not None:
        allows_all = allows_all and (approvals.security, approvals.ask) == ALLOWS_ALL
        places = {name: f"execApprovals.{approvals.sources.get(name, DEFAULT)}" for name in ("security", "ask")}
        now.harden(approvals.security, approvals.ask, security_from=places["security"], ask_from=places["ask"])
    if dialect.exec_chat_keeps_off and settings.is_from_chat and now.ask == "off":
        asked["ask"] = None
    wanted = asked["security"] if dialect.exec_call_security else None
    now.harden(wanted, asked["ask"], security_from="params.security", ask_from="params.ask")
    if is_unasked or (elevated == "full" and allows_all):
        now.ask, now.bypasses = "off", True
    return now


def _configured(dialect: Dialect, settings: HostSettings, host: str) -> _Weighed:
    if settings.mode is not None and dialect.exec_modes:
        if settings.mode not in MODES:
            raise ExecHostError("mode_invalid", f"no mode is named `{settings.mode}`", rule="tools.exec.mode")
        return _Weighed(*MODES[settings.mode], "tools.exec.mode", "tools.exec.mode")
    return _Weighed(
        security=read_security(settings.security or None)
        or ("deny" if host == SANDBOX else dialect.exec_security_default),
        ask=read_ask(settings.ask or None) or dialect.exec_ask_default,
        security_from="tools.exec.security" if settings.security else DEFAULT,
        ask_from="tools.exec.ask" if settings.ask else DEFAULT,
    )


def _approvals(dialect: Dialect, settings: HostSettings, host: str, document: Any) -> ApprovalSettings | None:
    """Read the document of approvals, which a sandbox has no need of; where it is silent it makes nothing stricter."""
    if host == SANDBOX or settings.skips_approvals:
        return None
    return resolve_approvals(dialect, document, settings.agent, fallbacks={"security": "full", "ask": "off"}).agent


def _of_call(dialect: Dialect, value: Any, words: tuple[str, ...]) -> str | None:
    """Read a word of a call; one that is unknown asks for nothing, as it could only ask for less."""
    if isinstance(value, str):
        return fold(value) if fold(value) in words else None
    if value is not None and not dialect.exec_host_strict:
        raise ExecHostError("bad_type", "a word for `security` or `ask` is not a text")
    return None
