"""The storm breaker: an agent that people denied too often asks nobody any more, until somebody lets it go on."""

from datetime import datetime
from typing import Final

from django.db import connection

from apps.approvals.answering import answer_policy
from apps.approvals.storming import agents_denied, is_storm
from apps.halts.conditions import name_kept
from apps.halts.errors import HaltExistsError
from apps.halts.models import Halt, Scope, State
from apps.halts.services import halt_pause
from apps.registry.models import Environment
from apps.registry.selectors import environments

CODE: Final = "agent_paused"
WORDS: Final = "the agent `{}` is paused and asks nobody until somebody lets it go on: {}"


def storm_pause(environment: Environment, agent: str, *, at: datetime) -> Halt | None:
    """Give the pause that holds an agent; one is placed where people denied it too often just now."""
    if not agent:
        return None
    name = name_kept(environment, Scope.AGENT, agent) or agent
    is_paused, since = _stood(environment, name)
    if is_paused:
        return _pause(environment, name)
    policy = answer_policy(environment)
    if not is_storm(policy, agent, at=at, since=since):
        return None
    try:
        return halt_pause(environment, agent=name, denials=policy.storm_denials, minutes=policy.storm_minutes, at=at)
    except HaltExistsError:  # somebody else placed it in this moment, or people stopped the agent themselves
        return _pause(environment, name)


def _pause(environment: Environment, name: str) -> Halt | None:
    return Halt.objects.filter(environment=environment, scope=Scope.AGENT, name=name, state=State.PAUSED).first()


def _stood(environment: Environment, name: str) -> tuple[bool, datetime | None]:
    """Say whether an agent is paused, and when something that held it was lifted last. Asked before every request."""
    statement = (
        "SELECT bool_or(state = %s), max(lifted_at) FILTER (WHERE state = %s) FROM halts_halt"
        " WHERE environment_id = %s AND scope = %s AND name = %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [State.PAUSED.value, State.LIFTED.value, environment.pk, Scope.AGENT.value, name])
        is_paused, since = cursor.fetchone()
    return bool(is_paused), since


def told(pause: Halt) -> str:
    """Say to an agent why nobody is asked."""
    return WORDS.format(pause.name, pause.reason)


def storms_look(at: datetime) -> int:
    """Pause every agent that was denied too often just now, also one that has not asked again.

    Harmless to repeat, and to race.

    Returns:
        How many are paused now of those that were looked at.
    """
    return sum(
        storm_pause(environment, agent, at=at) is not None
        for environment in environments()
        for agent in agents_denied(environment, at=at)
    )
