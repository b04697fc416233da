"""What holds for one agent's commands: the stricter of configuration and approvals document, and every list."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.firewall.engine.exec_policy.allowlist import AllowEntry, read_entries
from apps.firewall.engine.exec_policy.modes import (
    DEFAULT_ASK,
    DEFAULT_SECURITY,
    max_ask,
    min_security,
    read_ask,
    read_security,
)
from apps.firewall.engine.exec_settings import ExecSettings

EVERY_AGENT = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecRules:
    """The rules of one agent.

    Args:
        security: `deny`, `allowlist` or `full`.
        ask: `off`, `on-miss` or `always`.
        allowlist: entries of the approvals document, those of `*` first.
        grants: standing answers "always" of people.
        host: where the configuration wants commands to run.
        security_from, ask_from: the setting that decided, as a path.
    """

    security: str = DEFAULT_SECURITY
    ask: str = DEFAULT_ASK
    allowlist: tuple[AllowEntry, ...] = ()
    grants: tuple[AllowEntry, ...] = ()
    dialect: str = "2026.9"
    host: str | None = None
    security_from: str = "default"
    ask_from: str = "default"


def exec_rules(settings: ExecSettings, *, dialect: str, grants: Iterable[AllowEntry] = ()) -> ExecRules:
    """Work out the rules of an agent.

    Where nobody configured anything, commands outside the allowlist wait for a person; `full` without asking exists
    only where somebody wrote it. A word that means nothing counts as the strictest.
    """
    document = settings.approvals
    agents = _object(document.get("agents"))
    own, shared, defaults = (
        _object(block) for block in (agents.get(settings.agent_id), agents.get(EVERY_AGENT), document.get("defaults"))
    )
    name = f"execApprovals.agents.{settings.agent_id}"
    blocks = ((own, name), (shared, "execApprovals.agents.*"), (defaults, "execApprovals.defaults"))
    wanted_security = [(read_security(settings.security), "tools.exec.security")]
    wanted_ask = [(read_ask(settings.ask), "tools.exec.ask")]
    wanted_security.append(_first(blocks, "security", read_security))
    wanted_ask.append(_first(blocks, "ask", read_ask))
    security, security_from = _strictest(wanted_security, min_security, DEFAULT_SECURITY)
    ask, ask_from = _strictest(wanted_ask, max_ask, DEFAULT_ASK)
    return ExecRules(
        security=security,
        ask=ask,
        allowlist=read_entries(shared.get("allowlist")) + read_entries(own.get("allowlist")),
        grants=tuple(grants),
        dialect=dialect,
        host=settings.host,
        security_from=security_from,
        ask_from=ask_from,
    )


def _first(blocks: Iterable[tuple[Mapping[str, Any], str]], member: str, read: Any) -> tuple[str | None, str]:
    for block, place in blocks:
        value = read(block.get(member))
        if value is not None:
            return value, f"{place}.{member}"
    return None, ""


def _strictest(wanted: list[tuple[str | None, str]], stricter: Any, default: str) -> tuple[str, str]:
    chosen, place = None, "default"
    for value, source in wanted:
        if value is None:
            continue
        if chosen is None or (stricter(chosen, value) == value and value != chosen):
            chosen, place = value, source
    return (default, "default") if chosen is None else (chosen, place)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
