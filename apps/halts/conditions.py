"""Stops as conditions on rows: which requests they meet, as `runtime.halts.matching` says it of calls."""

from collections.abc import Mapping

from django.db.models import Q

from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.names import fold
from apps.firewall.engine.subjects import SubjectKind, subject_name
from apps.halts.models import Scope
from apps.registry.models import Environment

KIND_OF: dict[str, SubjectKind] = {Scope.AGENT: "agent", Scope.CHANNEL: "channel", Scope.TOOL: "tool"}


def name_kept(environment: Environment, scope: str, name: str) -> str:
    """Bring a name into the form in which calls carry it; "" where nothing can have it."""
    kind = KIND_OF.get(scope)
    return fold(name) if kind is None else subject_name(dialect_named(environment.dialect), kind, name)


def rows_met(environment: Environment, scope: str, name: str) -> Q:
    """Say which rows with an agent, a channel and a tool a stop meets; a row of an unknown channel may come from any.

    Args:
        name: as `name_kept` gives it.
    """
    dialect = dialect_named(environment.dialect)
    return {
        Scope.ENVIRONMENT: lambda: ~Q(pk=None),
        Scope.AGENT: lambda: Q(agent=name),
        Scope.CHANNEL: lambda: _any_case("channel", _spellings(dialect.channel_aliases, name)) | Q(channel=""),
        Scope.TOOL: lambda: _any_case("tool", _spellings(dialect.aliases, name)),
    }[Scope(scope)]()


def _spellings(aliases: Mapping[str, str], name: str) -> list[str]:
    return [name, *(alias for alias, own in aliases.items() if own == name)]


def _any_case(column: str, names: list[str]) -> Q:
    met = Q()
    for name in names:
        met |= Q(**{f"{column}__iexact": name})
    return met
