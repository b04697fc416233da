"""Stops as conditions on rows: which requests and sessions they meet, as `runtime.halts.matching` says it of calls."""

from django.db.models import Q

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.names import fold, normalize_name
from apps.firewall.engine.session_key import normalize_agent_id
from apps.halts.models import Scope
from apps.registry.models import Environment


def name_kept(environment: Environment, scope: str, name: str) -> str:
    """Bring a name into the form in which calls carry it."""
    if scope == Scope.AGENT and name.strip():
        return normalize_agent_id(name)
    if scope == Scope.TOOL:
        return normalize_name(dialect_named(environment.dialect), name)
    return fold(name)


def rows_met(scope: str, name: str, *, tool: str = "tool") -> Q:
    """Say which rows with an agent, a channel and a tool a stop meets; a row of an unknown channel may come from any.

    Args:
        name: as `name_kept` gives it.
        tool: what the column of the tool is called.
    """
    return {
        Scope.ENVIRONMENT: ~Q(pk=None),
        Scope.AGENT: Q(agent=name),
        Scope.CHANNEL: Q(channel__iexact=name) | Q(channel=""),
        Scope.TOOL: Q(**{f"{tool}__iexact": name}),
    }[Scope(scope)]
