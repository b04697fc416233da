"""Agents that people deny again and again: how often is too often, and how often it was."""

from copy import copy
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection
from django.db.models import Count
from django.utils.translation import gettext as _

from apps.approvals.answering import answer_policy, answer_policy_locked
from apps.approvals.errors import AnswerInvalidError
from apps.approvals.models import AnswerPolicy, Approval
from apps.approvals.records import answer_change_record
from apps.approvals.states import State
from apps.registry.models import Environment
from apps.registry.services.changing import By, change, check_version, field_problems, write_fields

DENIED: Final = (
    "SELECT count(*) FROM (SELECT FROM approvals_approval WHERE environment_id = %s AND agent = %s AND state = %s"
    " AND decided_at <= %s AND decided_at > %s LIMIT %s) AS denied"
)


def storm_save(
    environment: Environment, *, denials: int | None, minutes: int, expected_version: int | None = None, by: By = None
) -> AnswerPolicy:
    """Change how many denials within how many minutes pause an agent.

    Args:
        denials: 2 to 1000; None pauses nobody.
        minutes: 1 to 1440.
    Raises:
        PermissionDeniedError, AnswerInvalidError, RecordChangedError.
    """
    fields: dict[str, Any] = {"storm_denials": denials, "storm_minutes": minutes}
    with change(by):
        policy = answer_policy_locked(environment)
        check_version(policy, expected_version, fields)
        wanted = copy(policy)
        wanted.storm_denials, wanted.storm_minutes = denials, minutes
        details = field_problems(wanted)
        if details:
            raise AnswerInvalidError(_("this cannot be kept: see details"), details)
        if write_fields(policy, fields):
            answer_change_record(environment, by, "changed", fields)
    return policy


def is_storm(policy: AnswerPolicy, agent: str, *, at: datetime, since: datetime | None = None) -> bool:
    """Say whether people denied an agent too often within the last minutes.

    Args:
        policy: of the environment.
        since: what was denied before counts no more; None for nothing.
    """
    if policy.storm_denials is None or not agent:
        return False
    begin = at - timedelta(minutes=policy.storm_minutes)
    values = [policy.pk, agent, State.DENIED.value, at, max(begin, since or begin), policy.storm_denials]
    with connection.cursor() as cursor:  # before every request: put together once, and no further than the limit
        cursor.execute(DENIED, values)
        return bool(cursor.fetchone()[0] >= policy.storm_denials)


def agents_denied(environment: Environment, *, at: datetime) -> list[str]:
    """Name the agents that were denied often enough within the last minutes to look at them."""
    policy = answer_policy(environment)
    if policy.storm_denials is None:
        return []
    begin = at - timedelta(minutes=policy.storm_minutes)
    denied = Approval.objects.filter(environment=environment, state=State.DENIED, decided_at__gt=begin)
    often = denied.exclude(agent="").values("agent").annotate(times=Count("id")).filter(times__gte=policy.storm_denials)
    return [row["agent"] for row in often.order_by("agent")]
