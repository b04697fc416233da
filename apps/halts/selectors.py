"""Reading stops, and which processes hold to them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from apps.accounts.access import Principal, bound_of
from apps.audit.selectors import boots_alive
from apps.firewall.runtime.halts.matching import Halt as Rule
from apps.halts.conditions import name_kept
from apps.halts.models import Halt, HeardHalts, Scope, State
from apps.registry.models import Environment
from apps.registry.selectors import environments


@dataclass(frozen=True, slots=True)
class InForce:
    """What one environment has stopped, and its release, which says how names are compared."""

    release: str
    halts: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Every stop that holds, with a digest that processes give back once they hold to exactly these."""

    digest: str
    by_environment: Mapping[str, InForce]
    ending: tuple[Halt, ...]
    """Those that also end what runs."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs calls now, and whether it holds to every stop."""

    host: str
    pid: int
    kind: str
    has_heard: bool
    heard_at: datetime | None


def halts_holding(environment: Environment) -> QuerySet[Halt]:
    """Every stop of an environment that was not lifted, the latest first."""
    return Halt.objects.filter(environment=environment).exclude(state=State.LIFTED)


def halts_visible(principal: Principal | None, halts: QuerySet[Halt]) -> QuerySet[Halt]:
    """Leave of some stops those that a principal may see: to a bound token those of its agents alone."""
    bound = bound_of(principal)
    return halts.filter(scope=Scope.AGENT, name__in=bound) if bound else halts


def halts_past(environment: Environment, *, most: int) -> list[Halt]:
    """List stops that were lifted, the latest first."""
    return list(Halt.objects.filter(environment=environment, state=State.LIFTED)[:most])


def halt_get(environment: Environment, halt_id: UUID, *, viewer: Principal | None = None) -> Halt | None:
    """Find a stop of an environment, for who may see it."""
    halts = Halt.objects.select_related("environment").filter(environment=environment, pk=halt_id)
    return halts_visible(viewer, halts).first()


def halts_standing() -> Standing:
    """Read everything that holds, in every environment."""
    return _read(list(_standing().select_related("environment")), environments())


def halts_standing_in(environment: Environment) -> Standing:
    """Read everything that holds in one environment, with a digest over that alone."""
    return _read(list(_standing().filter(environment=environment).select_related("environment")), [environment])


def _read(rows: list[Halt], known: Iterable[Environment]) -> Standing:
    rules: dict[str, InForce] = {}
    for environment in known:
        own = tuple(rule_of(row) for row in rows if row.environment_id == environment.pk)
        rules[environment.slug] = InForce(environment.dialect, own)
    return Standing(_digest(rows), rules, tuple(row for row in rows if row.ends_running and row.state == State.STOPPED))


def processes(*, at: datetime) -> list[Process]:
    """List the processes that run calls now, those that have not heard of every stop first."""
    digest = _digest(list(_standing()))
    heard = HeardHalts.objects.in_bulk()
    found = [
        Process(
            host=boot.host,
            pid=boot.pid,
            kind=heard[boot.pk].kind,
            has_heard=heard[boot.pk].digest == digest,
            heard_at=heard[boot.pk].heard_at,
        )
        for boot in boots_alive(at)
        if boot.pk in heard
    ]
    return sorted(found, key=lambda each: (each.has_heard, each.kind, each.host, each.pid))


def pauses_holding(environment: Environment) -> QuerySet[Halt]:
    """Give the agents of an environment that ask nobody now, the latest first."""
    return Halt.objects.filter(environment=environment, state=State.PAUSED)


def _standing() -> QuerySet[Halt]:
    """Give the stops that processes hold to; whoever would ask for a paused agent looks for itself."""
    return Halt.objects.exclude(state__in=[State.LIFTED, State.PAUSED]).order_by("pk")


def _digest(rows: list[Halt]) -> str:
    text = "\n".join(f"{row.pk} {row.state}" for row in rows)
    return hashlib.sha256(text.encode()).hexdigest()


def rule_of(row: Halt) -> Rule:
    """Give a stop as calls are compared with it, whatever spelling an earlier version stored."""
    name = name_kept(row.environment, row.scope, row.name) or row.name
    return Rule(scope=row.scope, name=name, state=row.state, reason=row.reason)  # type: ignore[arg-type]
