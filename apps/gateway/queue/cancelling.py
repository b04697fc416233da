"""Ending a call wherever it is: asked, queued, or running in any process."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.accounts.access import Permission, Principal, may_agent, may_environment, require
from apps.accounts.models import ApiToken
from apps.approvals.selectors import approval_of_call
from apps.approvals.services import approval_cancel
from apps.audit.selectors import call_record
from apps.events.notices import announce
from apps.firewall.runtime.abort import Abort, Reason
from apps.gateway.errors import CallNotFoundError
from apps.gateway.models import AsyncCall, CallCancel
from apps.gateway.queue.rows import State, call_close, call_settle, locked

ASKED = "call.cancel_asked"


def call_cancel(call_id: UUID, *, by: str, environment: str, at: datetime, reason: Reason = "cancelled") -> None:
    """Ask for the end of a call. One that has ended stays as it is; asking again is harmless.

    What has not begun ends here and now; what runs is ended by its process, which hears the notice.

    Args:
        by: who asks, as audit names actors.
        environment: slug, of the call.
    Raises:
        AuditUnavailableError: the ledger refuses; nothing was ended.
    """
    with transaction.atomic():
        CallCancel.objects.get_or_create(pk=call_id, defaults={"by": by, "asked_at": at})
        announce(ASKED, id=call_id, environment=environment)
        row = locked(call_id)
        approval = approval_of_call(call_id)
        is_asked = approval is not None and approval.is_pending
        if row is not None and row.state == State.QUEUED:
            call_close(row, "cancelled", at=at, **_error(by, reason))
        elif row is not None and row.state == State.AWAITING and is_asked:
            call_settle(row, "cancelled", code="cancelled", at=at)
        if approval is not None and is_asked:
            approval_cancel(approval, at=at, reason=_error(by, reason)["message"])


def _error(by: str, reason: Reason) -> dict[str, str]:
    abort = Abort()
    abort.ask(by=by, reason=reason)
    return abort.error


def cancels_asked(call_ids: list[UUID]) -> dict[UUID, str]:
    """Tell which of these calls somebody wants ended, and who."""
    return dict(CallCancel.objects.filter(pk__in=call_ids).values_list("call_id", "by"))


def call_environment(principal: Principal, call_id: UUID) -> str:
    """Tell the environment of a call that a person or program may end.

    People end any call of an environment they see, tokens only calls that they made.

    Raises:
        PermissionDeniedError: the principal may make no calls, so that it may end none.
        CallNotFoundError: no such call, or another token's.
    """
    require(principal, Permission.CALLS_MAKE)
    row = AsyncCall.objects.select_related("environment").filter(pk=call_id).first()
    if row is not None:
        actor, slug, agent = row.actor, row.environment.slug, row.agent
    else:
        record = call_record(call_id)
        if record is None:
            raise CallNotFoundError("no such call")
        actor, slug, agent = record.actor, record.environment, record.agent
    is_own = not isinstance(principal, ApiToken) or principal.actor == actor
    if not is_own or not may_environment(principal, slug) or not may_agent(principal, agent):
        raise CallNotFoundError("no such call")
    return slug
