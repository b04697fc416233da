"""Ending background commands: by their agent, by people, with their session, and all at once.

Each asks for the end in the row; the process that holds the command hears the notice and ends the tree.
"""

from collections.abc import Iterable
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.events.notices import announce
from apps.gateway.background.endings import KILLED, SESSION_ENDED, SWITCHED_OFF
from apps.gateway.background.inputs import ASKED
from apps.gateway.background.rows import State
from apps.gateway.models import BackgroundCommand
from apps.registry.models import Environment


def command_kill(command_id: UUID, *, by: str) -> bool:
    """Ask for the end of one command; the first who asks is the one on record. Harmless to repeat.

    Args:
        by: who asks, as audit names actors.
    Returns:
        Whether it runs.
    """
    return _ask(BackgroundCommand.objects.filter(pk=command_id), code=KILLED, by=by) > 0


def commands_end(environment: Environment | None, *, agent: str = "", by: str) -> int:
    """Ask for the end of all commands of an environment, of one agent in it, or of the installation.

    What is about to begin ends as well: nothing of them is kept after this.

    Args:
        environment: None for all.
        agent: empty for all.
    Returns:
        How many run.
    """
    wanted = BackgroundCommand.objects.all() if environment is None else _of(environment)
    return _ask(wanted.filter(agent=agent) if agent else wanted, code=SWITCHED_OFF, by=by)


def _of(environment: Environment) -> QuerySet[BackgroundCommand]:
    return BackgroundCommand.objects.filter(environment=environment)


def _ask(wanted: QuerySet[BackgroundCommand], *, code: str, by: str) -> int:
    with transaction.atomic():
        rows = wanted.exclude(state=State.ENDED).select_related("environment").select_for_update(of=("self",))
        found = list(rows)
        fresh = [row.pk for row in found if not row.end_asked_code]
        BackgroundCommand.objects.filter(pk__in=fresh).update(end_asked_code=code, end_asked_by=by)
        for row in found:
            announce(ASKED, id=row.pk, environment=row.environment.slug)
    return len(found)


def ends_asked(command_ids: Iterable[UUID]) -> dict[UUID, tuple[str, str]]:
    """Tell which of these commands must end: why, and who wants it. One without a row must end, too."""
    wanted = set(command_ids)
    rows = BackgroundCommand.objects.filter(pk__in=wanted).exclude(state=State.ENDED)
    kept = set(rows.values_list("pk", flat=True))
    found = dict.fromkeys(wanted - kept, (KILLED, ""))
    must_end = rows.filter(~Q(end_asked_code="") | Q(session__ended_at__isnull=False))
    for row in must_end.select_related("session"):
        asked = (row.end_asked_code, row.end_asked_by) if row.end_asked_code else (SESSION_ENDED, "")
        found[row.pk] = asked
    return found
