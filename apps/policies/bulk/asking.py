"""Bulk edits asked for by people and programs; who may read them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from apps.accounts.access import Permission, Principal, actor_of, may_environment, require
from apps.accounts.models import ApiToken, User
from apps.policies.bulk.changes import BulkChange
from apps.policies.errors import BulkEditInvalidError, BulkEditNotFoundError
from apps.policies.locks import draft_lock
from apps.policies.models import Agent, BulkEdit, BulkEditRow, ExecSettings
from apps.registry.models import Environment

AGENTS_MOST: Final = 5_000
STALE: Final = timedelta(minutes=1)
KEPT: Final = 50
"""So many bulk edits of an environment stay; older ones go when the next is asked for."""


def bulk_request(
    environment: Environment, agents: Sequence[Agent], change: BulkChange, *, by: Principal, at: datetime
) -> BulkEdit:
    """Ask for one change of many agents, each in the version that it has now; a worker makes it, row by row.

    Raises:
        PermissionDeniedError: the principal may not change policy.
        BulkEditInvalidError: no agent, or too many.
    """
    require(by, Permission.POLICY_WRITE)
    if not 1 <= len(agents) <= AGENTS_MOST:
        message = _("choose 1 to %(most)s agents") % {"most": AGENTS_MOST}
        raise BulkEditInvalidError(message, [{"path": "agents", "code": "out_of_range", "message": message}])
    with transaction.atomic():
        draft_lock(environment)
        versions = {agent.pk: agent.version for agent in agents}
        if change.action == "exec_mode":
            rows = ExecSettings.objects.filter(environment=environment, agent__in=list(versions))
            versions = dict.fromkeys(versions, 0) | dict(rows.values_list("agent_id", "version"))
        _forget(environment)
        edit = BulkEdit.objects.create(
            environment=environment,
            requested_by=by if isinstance(by, User) else None,
            requested_token=by if isinstance(by, ApiToken) else None,
            actor=actor_of(by),
            requested_at=at,
            touched_at=at,
            change=change.to_json(),
            rows_total=len(agents),
        )
        BulkEditRow.objects.bulk_create(
            BulkEditRow(edit=edit, position=place, agent=agent.pk, key=agent.key, version=versions[agent.pk])
            for place, agent in enumerate(agents)
        )
    return edit


def bulk_access(by: Principal, edit_id: UUID) -> BulkEdit:
    """Give a bulk edit to who may read policy in its environment.

    Raises:
        PermissionDeniedError, BulkEditNotFoundError.
    """
    require(by, Permission.POLICY_READ)
    edit = BulkEdit.objects.select_related("environment").filter(pk=edit_id).first()
    if edit is None or not may_environment(by, edit.environment.slug):
        raise BulkEditNotFoundError(_("no such bulk edit"))
    return edit


def bulk_edits(environment: Environment) -> QuerySet[BulkEdit]:
    """Every bulk edit of an environment, the newest first."""
    return BulkEdit.objects.filter(environment=environment)


def bulk_rows(edit: BulkEdit) -> QuerySet[BulkEditRow]:
    """The rows of a bulk edit, in order."""
    return BulkEditRow.objects.filter(edit=edit)


def bulk_unfinished(at: datetime) -> list[UUID]:
    """Name the bulk edits that no worker works on: new ones, and those whose worker was killed."""
    wanted = Q(state=BulkEdit.State.WAITING) | Q(state=BulkEdit.State.RUNNING, touched_at__lt=at - STALE)
    return list(BulkEdit.objects.filter(wanted).order_by("requested_at").values_list("id", flat=True))


def _forget(environment: Environment) -> None:
    ended = BulkEdit.objects.filter(environment=environment, state=BulkEdit.State.DONE)
    BulkEdit.objects.filter(pk__in=list(ended.values_list("id", flat=True)[KEPT - 1 :])).delete()
