"""The life of an asynchronous call: asked, queued, claimed once, done. Each step is one transaction."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction

from apps.approvals.models import Approval
from apps.approvals.running import approval_claim, approval_finish
from apps.audit.chain import storable
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.services import entry_record
from apps.events.notices import announce
from apps.firewall.runtime.call import Action, Call, error_object
from apps.gateway.errors import QueueFullError
from apps.gateway.models import AsyncCall
from apps.gateway.queue.bell import bell
from apps.gateway.queue.sealing import Waiting, sealed_action, sealed_callback, unsealed_action
from apps.gateway.untold import untold_end
from apps.keys.errors import KeyFailureError
from apps.registry.models import Environment

State, Callback = AsyncCall.State, AsyncCall.Callback
QUEUE_LIMIT = 10_000
CHANGED = "call.changed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A call that this process, and no other, runs."""

    call_id: UUID
    action: Action
    approval_id: UUID | None = None
    has_callback: bool = False


def call_put(call: Call, waiting: Waiting, *, environment: Environment, sender: str, at: datetime) -> None:
    """Keep a call that passed every check until somebody takes it.

    Raises:
        QueueFullError: too many wait already.
    """
    _check_room(environment)
    with transaction.atomic():
        row = AsyncCall(
            **_about(call, environment=environment, sender=sender, at=at),
            state=State.QUEUED,
            queued_at=at,
            sealed_action=sealed_action(waiting),
            snapshot_digest=waiting.action.snapshot,
        )
        row.tool = waiting.action.tool
        row.save(force_insert=True)
        _changed(row)
        transaction.on_commit(bell.ring)


def call_wait(call: Call, tool: str, *, environment: Environment, sender: str, at: datetime) -> None:
    """Keep a call that a person is asked about, in the transaction that asks; harmless to repeat.

    Raises:
        QueueFullError: too many wait already.
    """
    _check_room(environment)
    values = _about(call, environment=environment, sender=sender, at=at) | {"tool": tool, "state": State.AWAITING}
    row, is_new = AsyncCall.objects.get_or_create(pk=values.pop("id"), defaults=values)
    if is_new:
        _changed(row)


def call_allow(approval_id: UUID, *, boot: UUID, at: datetime) -> bool:
    """Move what a person allowed from its approval into the queue; what was sealed there is destroyed.

    Returns:
        False when the approval belongs to no asynchronous call: whoever asks runs it.
    Raises:
        ApprovalError: it is not allowed, or another process took it.
    """
    call_id = Approval.objects.filter(pk=approval_id).values_list("call_id", flat=True).first()
    with transaction.atomic():
        row = None if call_id is None else locked(call_id)
        if row is None:
            return False
        if row.state != State.AWAITING:
            return True
        claim = approval_claim(approval_id, boot=boot, at=at)
        waiting = Waiting(action=Action.from_json(claim.action))
        row.state, row.queued_at, row.approval_id = State.QUEUED, at, approval_id
        row.sealed_action, row.snapshot_digest = sealed_action(waiting), waiting.action.snapshot
        row.save(update_fields=["state", "queued_at", "approval_id", "sealed_action", "snapshot_digest"])
        approval_finish(approval_id, at=at)
        _changed(row)
        transaction.on_commit(bell.ring)
    return True


def calls_claim(*, boot: UUID, at: datetime, limit: int) -> list[Claimed]:
    """Take the calls that waited longest. What is taken is never given to anybody again.

    Args:
        boot: the runner's (`audit.services.boot_id`): should it die, the sweeper knows.
    """
    with transaction.atomic():
        claimed = list(_claimed(at, limit))
        taken = AsyncCall.objects.filter(pk__in=[each.call_id for each in claimed])
        taken.update(state=State.RUNNING, claimed_at=at, claimed_by=boot, sealed_action=None)
        for each in claimed:
            announce(CHANGED, id=each.call_id, environment=each.action.environment)
        return claimed


def _claimed(at: datetime, limit: int) -> Iterator[Claimed]:
    rows = AsyncCall.objects.select_for_update(skip_locked=True, of=("self",)).select_related("environment")
    for row in rows.filter(state=State.QUEUED).order_by("queued_at", "id")[:limit]:
        try:
            action = unsealed_action(row.pk, bytes(row.sealed_action or b"")).action
        except KeyFailureError as exc:  # the key was changed: it cannot run, and says so
            call_close(row, "failed", at=at, code=exc.code, message=f"it did not run: {exc.message}")
            continue
        has_callback = row.callback == Callback.WAITING
        yield Claimed(call_id=row.pk, action=action, approval_id=row.approval_id, has_callback=has_callback)


def call_end(call_id: UUID, outcome: str, *, environment: str, code: str = "", at: datetime) -> None:
    """Say that a claimed call has ended; its outcome is on record already. Harmless to repeat.

    Args:
        environment: slug, of the call.
    """
    with transaction.atomic():
        running = AsyncCall.objects.filter(pk=call_id, state=State.RUNNING)
        if running.update(state=State.DONE, outcome=outcome, error_code=code, ended_at=at, callback_due_at=at):
            announce(CHANGED, id=call_id, environment=environment)


def call_close(row: AsyncCall, outcome: str, *, code: str, message: str, at: datetime) -> None:
    """End a call that did not run, or whose runner is gone, and put that on record. Last in a transaction.

    Raises:
        AuditUnavailableError: the ledger refuses; the call stays as it is.
    """
    error = error_object(code, message)
    waiting = _opened(row)
    entry = _closing_entry(row, waiting, outcome, error, at)
    if waiting is not None:
        untold_end(waiting.action, release=row.environment.dialect, sensitive=waiting.sensitive, error=error)
    _done(row, outcome, code, at)
    entry_record(entry)


def call_settle(row: AsyncCall, outcome: str, *, code: str = "", at: datetime) -> None:
    """End a call whose outcome the ledger holds already. Inside a transaction."""
    _done(row, outcome, code, at)


def locked(call_id: UUID) -> AsyncCall | None:
    """Lock a call's row until the transaction ends."""
    rows = AsyncCall.objects.select_for_update(of=("self",)).select_related("environment")
    return rows.filter(pk=call_id).first()


def _done(row: AsyncCall, outcome: str, code: str, at: datetime) -> None:
    row.state, row.outcome, row.error_code, row.ended_at, row.sealed_action = State.DONE, outcome, code, at, None
    if row.callback == Callback.WAITING:
        row.callback_due_at = at
    row.save(update_fields=["state", "outcome", "error_code", "ended_at", "sealed_action", "callback_due_at"])
    _changed(row)


def _changed(row: AsyncCall) -> None:
    announce(CHANGED, id=row.pk, environment=row.environment.slug)


def _check_room(environment: Environment) -> None:
    """Bound what one environment can pile up; the count stops at the limit."""
    waiting = AsyncCall.objects.filter(environment=environment, state__in=[State.QUEUED, State.AWAITING])
    if waiting[QUEUE_LIMIT - 1 : QUEUE_LIMIT].exists():
        raise QueueFullError(f"{QUEUE_LIMIT} asynchronous calls wait already")


def _about(call: Call, *, environment: Environment, sender: str, at: datetime) -> dict[str, Any]:
    texts = {
        "actor": call.actor,
        "requester": call.requester,
        "agent": call.agent,
        "session_key": call.context.session_key or "",
        "channel": call.channel,
        "sender": sender,
        "tool": call.tool,
        "trace_id": call.trace_id,
    }
    about: dict[str, Any] = {name: storable(text) for name, text in texts.items()}
    about |= {"id": call.id, "environment": environment, "asked_at": at}
    deferral = call.deferral
    if deferral is not None and deferral.callback_url:
        about |= {
            "callback": Callback.WAITING,
            "callback_shown": shown_address(deferral.callback_url),
            "sealed_callback": sealed_callback(call.id, deferral),
        }
    return about


def shown_address(url: str) -> str:
    """Show where an address leads without its query: that may hold a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}" + ("?…" if parts.query else "")


def _opened(row: AsyncCall) -> Waiting | None:
    """Open what would have run, for the record; None when it is gone or cannot be opened."""
    if row.sealed_action is None:
        return None
    try:
        return unsealed_action(row.pk, bytes(row.sealed_action))
    except KeyFailureError:
        return None


def _closing_entry(
    row: AsyncCall, waiting: Waiting | None, outcome: str, error: dict[str, Any], at: datetime
) -> EntryDraft:
    return EntryDraft(
        kind=EntryKind.CALL_OUTCOME,
        actor=row.actor or "system",
        environment=row.environment.slug,
        agent=row.agent,
        session_key=row.session_key,
        channel=row.channel,
        sender=row.sender,
        tool=row.tool,
        call_id=row.pk,
        approval_id=row.approval_id,
        params=None if waiting is None else dict(waiting.action.params),
        sensitive_fields=() if waiting is None else waiting.sensitive,
        status=outcome,
        error=error,
        snapshot_digest=row.snapshot_digest,
        trace_id=row.trace_id,
        at=at,
    )
