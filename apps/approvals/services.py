"""The life of an approval: asked, answered once, expired, withdrawn, superseded. Each is one transaction."""

from dataclasses import asdict
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from apps.accounts.access import Principal, actor_of, require_agents
from apps.accounts.models import User
from apps.approvals import grants, rules
from apps.approvals.answerers import label_of, voice_add
from apps.approvals.asking import differences, question_digest, row_values
from apps.approvals.checking import Answerer, answer_check, check_second_answer, wanted_state
from apps.approvals.drafts import ApprovalDraft, GrantScope
from apps.approvals.errors import (
    ActionChangedError,
    ApprovalAlreadyDecidedError,
    ApprovalCancelledError,
    ApprovalExpiredError,
    ApprovalPendingError,
    ApprovalSupersededError,
    CallerEndedError,
    CallerGoneError,
    NotAnApproverError,
    OwnRequestError,
)
from apps.approvals.models import Approval
from apps.approvals.records import SYSTEM, approval_entry, grant_entry, refusal_entry
from apps.approvals.rows import approval_locked, approval_save
from apps.approvals.sealing import action_digest, unsealed_action
from apps.approvals.states import ALLOWED, State
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.masking import Masker
from apps.audit.services import entries_record, entry_record
from apps.events.clock import clock_check, clock_rests
from apps.events.notices import announce

TRIES = 5
REPEATED = "the same was asked again, and something about it had changed: {}"
ON_RECORD = (
    ApprovalAlreadyDecidedError,
    ApprovalExpiredError,
    ApprovalCancelledError,
    ApprovalSupersededError,
    CallerEndedError,
    OwnRequestError,
    NotAnApproverError,
)
"""Answers that are refused and put on record: they came too late, or not from whom they may."""


def approval_request(draft: ApprovalDraft, *, at: datetime, timeout_s: float | None = None) -> Approval:
    """Ask for a person's decision, or join the request that waits for one already.

    The same call joins its own request. A repeat of the same question (`draft.question`) joins the one that waits, as
    long as exactly the same would run; else that one is superseded by the new one.

    Args:
        timeout_s: how long a person has; the environment decides when absent.
    Returns:
        The request that stands; its `call_id` is another call's when this one joined it.
    Raises:
        ActionChangedError: this call already asked, for another action.
        ApprovalPendingError: the program's own id names a request that waits for something else.
        AuditUnavailableError: the ledger refuses; nothing was asked.
    """
    for number in range(TRIES):
        try:
            with transaction.atomic():
                return _ask(draft, at, timeout_s) if number == 0 else _own(draft) or _ask(draft, at, timeout_s)
        except IntegrityError:  # this call asked before, or another process asked the same in this moment: join it
            continue
    raise ActionChangedError("the same is asked over and over in this moment: try again")


def _own(draft: ApprovalDraft) -> Approval | None:
    own = Approval.objects.select_related("environment").filter(call_id=draft.call_id).first()
    if own is not None and own.action_digest != action_digest(draft.action):
        raise ActionChangedError("this call already asked for a decision on another action")
    return own


def _ask(draft: ApprovalDraft, at: datetime, timeout_s: float | None) -> Approval:
    older = _waiting(draft)
    own = None if older is None else _own(draft)
    if own is not None:
        return own
    told = []
    if older is not None and not rules.is_in_time(older, at):
        told.append(_expire(older, at))
    elif older is not None:
        changed = differences(older, draft)
        if not changed:
            return older
        if draft.given_id:
            raise ApprovalPendingError("a request with this id waits already, for something else")
        told.append(_supersede(older, REPEATED.format(", ".join(changed)), at))
    approval = Approval(pk=draft.approval_id, call_id=draft.call_id, **row_values(draft, at, timeout_s))
    approval.save(force_insert=True)
    if older is not None and older.state == State.SUPERSEDED:
        older.superseded_by = approval
        approval_save(older, "superseded_by")
    announce("approval.requested", id=approval.pk, environment=draft.environment.slug)
    actor = str(draft.action.get("actor") or draft.requester or SYSTEM)  # as the call's other entries
    asked = approval_entry(
        approval,
        EntryKind.APPROVAL_ASKED,
        actor=actor,
        at=at,
        status=State.REQUESTED,
        params=dict(draft.params),
        sensitive_fields=draft.sensitive_fields,
        context=draft.context,
    )
    entries_record([*told, asked])
    return approval


def _waiting(draft: ApprovalDraft) -> Approval | None:
    """Lock the request that waits for an answer to the same question, or goes by the same id of its program."""
    digest = question_digest(draft)
    if not digest and not draft.given_id:
        return None
    same = {"actor": draft.actor, "given_id": draft.given_id} if draft.given_id else {"question_digest": digest}
    asked = Approval.objects.filter(environment=draft.environment, state=State.REQUESTED, **same)
    found = asked.values_list("pk", flat=True).first()
    approval = None if found is None else approval_locked(found)
    return approval if approval is not None and approval.is_pending else None


def approval_resolve(
    approval: Approval,
    *,
    decision: str,
    by: Principal,
    at: datetime,
    reason: str = "",
    scope: GrantScope | None = None,
    batch_id: UUID | None = None,
) -> Approval:
    """Answer a request. The first answer wins; the same answer again is harmless.

    Where a rule wants several people, a yes before the last one leaves the request waiting; one no ends it.

    An answer that comes too late, or from who made the call, is refused and put on record.

    Args:
        decision: "allow-once", "allow-always" or "deny".
        by: who answers; permission is the door's question (`approval_access`).
        reason: shown to the agent when denied.
        scope: how far "always" reaches; the exact action when absent.
        batch_id: names the answer to many requests that this one is part of.
    Raises:
        PermissionDeniedError: a token that is bound to other agents, or would allow something for every agent.
        DecisionNotAllowedError: no such decision, or this request does not offer it.
        OwnRequestError: the requester would allow its own call.
        NotAnApproverError: a rule leaves this answer to others.
        CallerEndedError: whoever made the call may not make it any more; the request is withdrawn.
        ApprovalFrozenError: the kill switch stopped what was asked for.
        ApprovalAlreadyDecidedError: somebody answered differently; it names who and when.
        ApprovalExpiredError, ApprovalCancelledError, ApprovalSupersededError: nobody waits for an answer any more.
        GrantScopeError: the wanted scope cannot be kept.
        AuditUnavailableError: the ledger refuses; nothing was decided.
    """
    require_agents(by, [] if scope is not None and scope.every_agent else [approval.agent])
    clock_check()
    try:
        with transaction.atomic():
            approval = approval_locked(approval.pk)
            if approval.is_pending:
                approval.batch_id = batch_id
            return _resolve(approval, wanted_state(approval, decision), by=by, at=at, reason=reason, scope=scope)
    except ON_RECORD as exc:
        entry_record(refusal_entry(approval, decision, code=exc.code, actor=actor_of(by), at=at))
        if isinstance(exc, CallerEndedError):
            approval_cancel(approval, at=at, reason=rules.caller_ended(approval, at))
        if isinstance(exc, CallerGoneError):
            approval_cancel(approval, at=at, reason=rules.caller_gone(approval, at))
        raise


def _resolve(
    approval: Approval, wanted: State, *, by: Principal, at: datetime, reason: str, scope: GrantScope | None
) -> Approval:
    if not rules.is_open(approval):
        check_second_answer(approval, wanted)
        return approval
    rule, place = answer_check(approval, wanted, Answerer(by, at))
    if wanted in ALLOWED and rule is not None and rule.quorum > 1:
        voiced = voice_add(approval, wanted, rule=rule, by=by, place=place, at=at)
        if voiced.is_waiting:
            entry_record(voiced.entry)
            return approval
        wanted = voiced.state
    action = unsealed_action(approval) if wanted in ALLOWED else {}
    approval.scope = None if scope is None else asdict(scope)
    approval.decision_reason = Masker().text(reason)
    _decide(approval, wanted, by=by, at=at, place=place)
    actor = actor_of(by)
    told = [approval_entry(approval, EntryKind.APPROVAL_ANSWERED, actor=actor, at=at, status=wanted, reason=reason)]
    if wanted is State.ALLOWED_ALWAYS:
        grant = grants.grant_create(approval, action=action, by=by, at=at, scope=scope or GrantScope())
        told.append(grant_entry(grant, EntryKind.GRANT_CREATED, actor=actor, at=at))
    entries_record(told)
    return approval


def approvals_expire(at: datetime) -> int:
    """End every request whose time is over; each counts as denied, unless a setting says otherwise of silence.

    Harmless to repeat, and to race.

    Returns:
        How many ended now.
    """
    clock_check()
    due = Approval.objects.filter(state=State.REQUESTED, expires_at__lte=at).values_list("pk", flat=True)
    return sum(_expire_one(pk, at) for pk in due)


def _expire_one(approval_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        approval = approval_locked(approval_id)
        if not approval.is_pending or rules.is_in_time(approval, at):
            return False
        entry_record(_expire(approval, at))
    return True


def _expire(approval: Approval, at: datetime) -> EntryDraft:
    """End a request that nobody answered: denied, unless a setting lets just that run."""
    if rules.silence_allows(approval, at):
        reason = approval.decision_reason = f"nobody answered in time ({approval.fallback_rule})"
        _decide(approval, State.ALLOWED_ONCE, by=None, at=at)
        kind, state = EntryKind.APPROVAL_EXPIRED, State.ALLOWED_ONCE
        return approval_entry(approval, kind, actor=SYSTEM, at=at, status=state, reason=reason)
    _decide(approval, State.EXPIRED, by=None, at=at)
    return approval_entry(approval, EntryKind.APPROVAL_EXPIRED, actor=SYSTEM, at=at, status=State.EXPIRED)


def approval_cancel(approval: Approval, *, at: datetime, reason: str = "") -> Approval:
    """Withdraw a request that nobody waits for any more. A request that has ended stays as it is."""
    with transaction.atomic():
        approval = approval_locked(approval.pk)
        if not approval.is_pending:
            return approval
        approval.decision_reason = reason
        _decide(approval, State.CANCELLED, by=None, at=at)
        entry_record(
            approval_entry(
                approval, EntryKind.APPROVAL_CANCELLED, actor=SYSTEM, at=at, status=State.CANCELLED, reason=reason
            )
        )
    return approval


def approvals_withdraw(at: datetime) -> int:
    """Withdraw every request whose caller may not make the call any more. Harmless to repeat, and to race.

    Returns:
        How many were withdrawn now.
    """
    waiting = Approval.objects.filter(state=State.REQUESTED).select_related("environment")
    known: dict[tuple[str, str, object, str], str] = {}
    withdrawn = 0
    for approval in waiting:
        caller = (approval.actor, approval.requester, approval.environment_id, approval.agent)
        if caller not in known:
            known[caller] = rules.caller_ended(approval, at)
        if known[caller]:
            withdrawn += approval_cancel(approval, at=at, reason=known[caller]).decided_at == at
    return withdrawn


def approval_waited(approval_id: UUID, *, until: datetime) -> None:
    """Note until when the caller of a request is known to wait. A request that has ended stays as it is."""
    Approval.objects.filter(pk=approval_id, state=State.REQUESTED).update(waits_until=until)


def approvals_lapse(at: datetime) -> int:
    """Withdraw every request whose caller does not wait for the answer any more. Harmless to repeat, and to race.

    Returns:
        How many were withdrawn now.
    """
    if clock_rests(at):
        return 0
    gone = Approval.objects.filter(state=State.REQUESTED, waits_until__lte=at).select_related("environment")
    return sum(
        approval_cancel(approval, at=at, reason=rules.caller_gone(approval, at)).decided_at == at for approval in gone
    )


def approval_supersede(approval: Approval, *, reason: str, at: datetime) -> bool:
    """End a request that cannot be answered as it stands any more: what was asked is no longer what would happen.

    Args:
        reason: for the record, the card and the agent.
    Returns:
        False when it had ended before.
    """
    with transaction.atomic():
        approval = approval_locked(approval.pk)
        if not approval.is_pending:
            return False
        entry_record(_supersede(approval, reason, at))
    return True


def _supersede(approval: Approval, reason: str, at: datetime) -> EntryDraft:
    approval.decision_reason = reason
    _decide(approval, State.SUPERSEDED, by=None, at=at)
    return approval_entry(
        approval, EntryKind.APPROVAL_SUPERSEDED, actor=SYSTEM, at=at, status=State.SUPERSEDED, reason=reason
    )


def _decide(approval: Approval, state: State, *, by: Principal | None, at: datetime, place: str = "") -> None:
    values: dict[str, Any] = {
        "state": state,
        "decided_at": at,
        "decided_by": by if isinstance(by, User) else None,
        "decided_by_label": label_of(by, place),
        "decision_reason": approval.decision_reason,
        "scope": approval.scope,
        "batch_id": approval.batch_id,
    }
    if state not in ALLOWED or not approval.runs_here:  # nothing is kept of what we will not run
        values |= {"sealed_action": None, "finished_at": at}
    if not rules.compare_and_set(approval, **values):
        raise AssertionError("a locked request was changed by somebody else")
    for name, value in values.items():
        setattr(approval, name, value)
    approval.version += 1
    announce("approval.resolved", id=approval.pk, environment=approval.environment.slug)
