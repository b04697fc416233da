"""What holds for one call: the rules of its agent, made stricter by what it asks for, or elevated for its sender."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import Dialect, dialect_named
from apps.firewall.engine.exec_policy.elevated import Elevation, Speaker, elevation
from apps.firewall.engine.exec_policy.hosts import AUTO, HOSTS, ExecHostError, HostRequest, HostSettings
from apps.firewall.engine.exec_policy.modes import ASK, SECURITY, min_security
from apps.firewall.engine.exec_policy.placing import place_command
from apps.firewall.engine.exec_policy.rules import ExecRules
from apps.firewall.engine.exec_settings import ExecSettings
from apps.firewall.engine.names import fold

WORDS: Final[dict[str, tuple[str, ...]]] = {"host": (AUTO, *HOSTS), "security": SECURITY, "ask": ASK}


def rules_of_call(
    rules: ExecRules, settings: ExecSettings, params: Mapping[str, Any], context: CallContext
) -> ExecRules:
    """Work out what holds for one command.

    Without elevation the answer is at least as strict as the rules. Here that goes further than in a release: what a
    call asks for may always be stricter, and an elevated command that is not `full` waits for a person every time.

    Args:
        params: of the call; only `host`, `security`, `ask` and `elevated` are read.
    Raises:
        ExecHostError: the call asks for what it cannot have; `code` and `rule` name the gate.
    """
    dialect = dialect_named(rules.dialect)
    words = {name: _word(name, params.get(name)) for name in WORDS}
    if rules.security == "deny":
        return rules
    placed = place_command(
        dialect,
        HostSettings(
            host=settings.host,
            security=rules.security,
            ask=rules.ask,
            has_sandbox=bool(context.sandboxed),
            elevation=elevation_of(dialect, settings, context),
            elevated_level=settings.elevated_level,
            is_from_chat=bool(context.channel),
            agent=settings.agent_id,
            provider=context.channel or "",
        ),
        HostRequest(**words, elevated=_truth(params.get("elevated"))),
        {},
    )
    security, security_from = placed.security, _source(rules.security_from, placed.sources["security"])
    ask, ask_from = placed.ask, _source(rules.ask_from, placed.sources["ask"])
    wanted = words["security"]
    if wanted is not None and min_security(security, wanted) != security:
        security, security_from = wanted, "params.security"
    if placed.elevated == "ask":
        ask, ask_from = "always", "params.elevated"
    return replace(
        rules,
        security=security,
        ask=ask,
        host=placed.host,
        elevated=placed.elevated,
        security_from=security_from,
        ask_from=ask_from,
        host_from="params.host" if words["host"] not in (None, AUTO) else rules.host_from,
    )


def elevation_of(dialect: Dialect, settings: ExecSettings, context: CallContext) -> Elevation:
    """Ask every gate about the sender of a call."""
    speaker = Speaker(
        id=context.sender_id,
        username=context.sender_username,
        name=context.sender_name,
        e164=context.sender_e164,
    )
    return elevation(dialect, settings.elevated, settings.elevated_own, provider=context.channel or "", speaker=speaker)


def _source(before: str, placed: str) -> str:
    """Name what decided: the call, or what had decided before it."""
    return placed if placed.startswith("params.") else before


def _word(name: str, value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str) and fold(value) in WORDS[name]:
        return fold(value)
    known = ", ".join(WORDS[name])
    raise ExecHostError(f"{name}_invalid", f"`{name}` must be one of {known}, not `{value}`", rule=f"params.{name}")


def _truth(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise ExecHostError("elevated_invalid", "`elevated` must be true or false", rule="params.elevated")
