"""What a stop of the kill switch meets now: told before somebody presses, in the answer, and while it holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, QuerySet

from apps.approvals.selectors import approvals_pending
from apps.audit.selectors import CallCount, calls_running
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import dialect_named
from apps.firewall.engine.subjects import KINDS
from apps.firewall.runtime.halts.matching import Halt, aim_of, halt_for
from apps.gateway.models import AsyncCall, BackgroundCommand
from apps.halts.conditions import KIND_OF, name_kept
from apps.halts.models import Scope
from apps.registry.models import Environment
from apps.sessions.selectors import sessions_since
from apps.subjects import subjects_known, subjects_unknown

RECENT: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class StopEffect:
    """What a stop meets at a moment.

    Args:
        name: in the form in which calls carry it.
        agents: those that have something running or waiting, or made a call within the last hour.
        running: calls that run; `commands` are those that go on in the background, `queued` calls that run later.
        requests: approvals that wait and would freeze.
        sessions: with a call within the last hour.
        problem: why it would stop nothing, with the name that was probably meant; empty where it would.
    """

    name: str
    agents: tuple[str, ...]
    running: int
    commands: int
    queued: int
    requests: int
    sessions: int
    problem: str = ""


def stop_effect(environment: Environment, scope: str, name: str, *, at: datetime) -> StopEffect:
    """Tell what a stop would meet now.

    Args:
        scope: of `Scope`.
        name: as somebody wrote it.
    """
    return stop_effects(environment, [(scope, name)], at=at)[0]


def stop_effects(environment: Environment, stops: Sequence[tuple[str, str]], *, at: datetime) -> list[StopEffect]:
    """Tell of several stops what each meets now; the database is asked the same, however many they are."""
    if not stops:
        return []
    load = {
        "running": calls_running(environment.slug, at=at),
        "commands": _grouped(BackgroundCommand.objects.filter(environment=environment).exclude(state="ended")),
        "queued": _grouped(AsyncCall.objects.filter(environment=environment, state=AsyncCall.State.QUEUED)),
        "requests": _grouped(approvals_pending(environment)),
        "sessions": _grouped(sessions_since(environment, at - RECENT), tool="last_tool"),
    }
    problems = _problems(environment, stops)
    return [_effect(environment, scope, name, load, problems.get((scope, name), "")) for scope, name in stops]


def _effect(
    environment: Environment, scope: str, name: str, load: dict[str, list[CallCount]], problem: str
) -> StopEffect:
    kept = name_kept(environment, scope, name)
    rule = Halt(scope=scope, name=kept)  # type: ignore[arg-type]
    met = {what: [row for row in rows if _is_met(environment, rule, row)] for what, rows in load.items()}
    counts = {what: sum(row.count for row in rows) for what, rows in met.items()}
    agents = sorted({row.agent for rows in met.values() for row in rows} - {""})
    return StopEffect(name=kept, agents=tuple(agents), problem=problem, **counts)


def _is_met(environment: Environment, rule: Halt, row: CallCount) -> bool:
    context = CallContext(channel=row.channel or None)
    return halt_for([rule], aim_of(context, agent=row.agent, tool=row.tool, release=environment.dialect)) is not None


def _problems(environment: Environment, stops: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Tell of the stops whose name nothing has what is wrong; the names that there are, are read once a kind."""
    dialect, problems = dialect_named(environment.dialect), {}
    for scope, kind in KIND_OF.items():
        names = [name for each, name in stops if each == scope and name.strip()]
        for unknown in subjects_unknown(dialect, kind, names, environment.slug, patterns=False):
            problems[scope, unknown.name] = unknown.message
    return problems


def _grouped(rows: QuerySet[Any], *, tool: str = "tool") -> list[CallCount]:
    counted: Iterable[tuple[str, str, str, int]] = (
        rows.order_by().values_list("agent", "channel", tool).annotate(count=Count("pk"))
    )
    return [CallCount(*row) for row in counted]


def stop_names(environment: Environment) -> dict[str, list[str]]:
    """List what can be stopped, by scope: every agent, channel and tool that there is, as calls carry them."""
    dialect = dialect_named(environment.dialect)
    return {str(Scope(kind)): subjects_known(dialect, kind, environment.slug) for kind in KINDS}
