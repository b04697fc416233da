"""Breakers among processes: what a call found is written where every process reads it."""

from datetime import datetime

from django.db import transaction

from apps.events.notices import announce
from apps.firewall.runtime.limits.breaker import Breaker, BreakerRule
from apps.limits.models import ToolBreaker
from apps.registry.models import Environment


def breaker_of(row: ToolBreaker) -> Breaker:
    return Breaker(row.failures, row.opened_at, row.tried_at)


def breaker_try(environment: Environment, tool: str, rule: BreakerRule, *, at: datetime) -> bool:
    """Claim the one call that may try a tool which is left alone.

    Returns:
        False when another process was first, or the pause is not over.
    """
    with transaction.atomic():
        row = ToolBreaker.objects.select_for_update().filter(environment=environment, tool=tool).first()
        if row is None or row.opened_at is None:
            return True
        breaker = breaker_of(row)
        if breaker.state(rule, at) != "trying":
            return False
        row.tried_at = breaker.tried(at).tried_at
        row.save(update_fields=["tried_at", "updated_at"])
        announce("limit.breaker_changed", id=row.pk, environment=environment.slug)
    return True


def breaker_settle(
    environment: Environment, tool: str, rule: BreakerRule, *, is_failure: bool, error_code: str = "", at: datetime
) -> None:
    """Count how a call of a tool ended."""
    with transaction.atomic():
        rows = ToolBreaker.objects.select_for_update()
        if is_failure:
            ToolBreaker.objects.get_or_create(environment=environment, tool=tool)
        row = rows.filter(environment=environment, tool=tool).first()
        if row is None:
            return
        after = breaker_of(row).after(is_failure=is_failure, rule=rule, at=at)
        announce("limit.breaker_changed", id=row.pk, environment=environment.slug)
        if not is_failure:
            row.delete()
            return
        row.failures, row.opened_at, row.tried_at = after.failures, after.opened_at, after.tried_at
        row.error_code = error_code[:64]
        row.save(update_fields=["failures", "opened_at", "tried_at", "error_code", "updated_at"])
