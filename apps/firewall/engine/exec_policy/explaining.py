"""Where a command of one context would run, and how strictly: each word with the setting that it came from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.exec_policy.calls import elevation_of, rules_of_call
from apps.firewall.engine.exec_policy.elevated import Elevation
from apps.firewall.engine.exec_policy.hosts import ExecHostError, path_of_gate
from apps.firewall.engine.exec_policy.rules import exec_rules
from apps.firewall.engine.exec_settings import ExecSettings

EXEC: Final = "exec"
NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class ExplainedWord:
    """One word that holds, and where it stands: a path, `params.…` for what the call asks, or `default`."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class ExplainedCommand:
    """What holds for commands of a context.

    Args:
        words: `security`, `ask`, `askFallback`, `host` and `elevated` (`allowed` or `refused`), in this order.
        refusal: why no command would be looked at; None when one would.
    """

    words: tuple[ExplainedWord, ...]
    refusal: ExecHostError | None = None

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {word.name: {"value": word.value, "source": word.source} for word in self.words}
        refusal = self.refusal
        shown["refusal"] = None
        if refusal is not None:
            shown["refusal"] = {"code": refusal.code, "message": refusal.message, "rule": refusal.rule}
        return shown


def explain_command(
    settings: ExecSettings, context: CallContext, *, dialect: str, params: Mapping[str, Any] = NOTHING
) -> ExplainedCommand:
    """Explain what holds for a command, asked with these params, by this sender."""
    rules, refusal = exec_rules(settings, dialect=dialect), None
    try:
        rules = rules_of_call(rules, settings, params, context)
    except ExecHostError as exc:
        refusal = exc
    gates = elevation_of(dialect_named(dialect), settings, context)
    words = (
        ExplainedWord("security", rules.security, rules.security_from),
        ExplainedWord("ask", rules.ask, rules.ask_from),
        ExplainedWord("askFallback", rules.ask_fallback, rules.ask_fallback_from),
        ExplainedWord("host", rules.host or "auto", rules.host_from),
        _elevated(gates, settings.agent_id, context.channel or ""),
    )
    return ExplainedCommand(words, refusal)


def _elevated(gates: Elevation, agent: str, provider: str) -> ExplainedWord:
    if gates.is_allowed:
        return ExplainedWord("elevated", "allowed", f"tools.elevated.allowFrom.{provider}")
    return ExplainedWord("elevated", "refused", path_of_gate(gates.shut[0], agent, provider))
