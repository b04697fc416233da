"""Reading rates, counters and breakers."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from apps.firewall.runtime.limits.breaker import Breaker, BreakerRule
from apps.firewall.runtime.limits.rates import RateRule
from apps.limits.breaking import breaker_of
from apps.limits.counting import used_of
from apps.limits.models import BreakerPolicy, RateCounter, RateLimit, ToolBreaker
from apps.registry.models import Environment
from apps.registry.selectors import environments


@dataclass(frozen=True, slots=True)
class InForce:
    """What holds in one environment; `rule` is None where breakers are switched off."""

    release: str
    rates: tuple[RateRule, ...]
    rule: BreakerRule | None
    breakers: Mapping[str, Breaker]


@dataclass(frozen=True, slots=True)
class CounterUse:
    """One subject of a rate, how many calls of it count now, and how often it was refused."""

    counter: RateCounter
    used: float


def rate_limits(environment: Environment) -> QuerySet[RateLimit]:
    """Every rate limit of an environment, by name."""
    return RateLimit.objects.filter(environment=environment).order_by("name")


def rate_limit_get(environment: Environment, limit_id: UUID) -> RateLimit | None:
    """Find a rate limit of an environment."""
    return rate_limits(environment).select_related("environment").filter(pk=limit_id).first()


def breaker_policy(environment: Environment) -> BreakerPolicy:
    """Give the breaker's rule of an environment; the defaults where nobody changed it."""
    found = BreakerPolicy.objects.filter(environment=environment).first()
    return found or BreakerPolicy(environment=environment)


def tool_breakers(environment: Environment) -> QuerySet[ToolBreaker]:
    """Every tool that failed last, those that are left alone first."""
    return ToolBreaker.objects.filter(environment=environment).order_by("opened_at", "tool")


def counters_in_use(environment: Environment, *, at: datetime, most: int) -> list[CounterUse]:
    """List the counters of the last two minutes, the fullest first."""
    rows = RateCounter.objects.filter(environment=environment, minute__gte=int(at.timestamp() // 60) - 1)
    found = [CounterUse(row, used_of(row, at)) for row in rows.order_by("-current")[:most]]
    return sorted(found, key=lambda each: -each.used)


def counters_refused(environment: Environment, *, most: int) -> list[RateCounter]:
    """List the counters that refused a call, the latest refusal first."""
    rows = RateCounter.objects.filter(environment=environment, refused_at__isnull=False)
    return list(rows.order_by("-refused_at")[:most])


def limits_in_force() -> dict[str, InForce]:
    """Give what holds in every environment, by its slug."""
    found: dict[str, InForce] = {}
    limits = list(RateLimit.objects.filter(is_enabled=True))
    policies = {each.environment_id: each for each in BreakerPolicy.objects.all()}
    breakers = list(ToolBreaker.objects.all())
    for environment in environments():
        policy = policies.get(environment.pk) or BreakerPolicy(environment=environment)
        found[environment.slug] = InForce(
            release=environment.dialect,
            rates=tuple(rule_of(limit) for limit in limits if limit.environment_id == environment.pk),
            rule=BreakerRule(policy.failures, policy.pause_s) if policy.is_enabled else None,
            breakers={each.tool: breaker_of(each) for each in breakers if each.environment_id == environment.pk},
        )
    return found


def rule_of(limit: RateLimit) -> RateRule:
    """Give a rate limit as the runtime reads it."""
    return RateRule(
        id=str(limit.pk),
        name=limit.name,
        per_minute=limit.per_minute,
        per=limit.per,  # type: ignore[arg-type]
        tools=tuple(limit.tools),
        agents=tuple(limit.agents),
    )
