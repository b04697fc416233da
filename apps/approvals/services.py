"""The life of an approval: asked, answered once, expired, withdrawn, run once. Each is one transaction."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.accounts.access import Principal
from apps.accounts.models import ApiToken, User
from apps.approvals import grants
from apps.approvals.drafts import ApprovalDraft, Claim, GrantScope
from apps.approvals.errors import (
    ActionChangedError,
    ApprovalAlreadyDecidedError,
    ApprovalCancelledError,
    ApprovalClaimedError,
    ApprovalExpiredError,
    ApprovalNotAllowedError,
    ApprovalNotFoundError,
    DecisionNotAllowedError,
    OwnRequestError,
)
from apps.approvals.models import Approval
from apps.approvals.records import actor_of, approval_entry, grant_entry
from apps.approvals.sealing import action_digest, sealed_action, unsealed_action
from apps.approvals.states import ALLOWED, STATE_OF, TRANSITIONS, Decision, State
from apps.audit.chain import storable
from apps.audit.drafts import EntryKind
from apps.audit.masking import Masker
from apps.audit.services import entries_record, entry_record
from apps.events.notices import announce

# How long a person has, by dialect. Source: OpenClaw, exec approvals, releases 2026.2 and 2026.9.
TIMEOUT_S: dict[str, int] = {"2026.2": 120, "2026.9": 30 * 60}
# An allowed action that no runner took in this time (all were down) does not run any more: nobody expects it.
CLAIM_WINDOW = timedelta(minutes=15)
SYSTEM = "system"
NOT_RUN = "it was allowed, but no runner took it in time"


def approval_request(draft: ApprovalDraft, *, at: datetime, timeout_s: float | None = None) -> Approval:
    """Ask for a person's decision. Asking again for the same call joins the request that stands.

    Args:
        timeout_s: how long a person has; the environment's dialect decides when absent.
    Raises:
        ActionChangedError: this call already asked, for another action.
        AuditUnavailableError: the ledger refuses; nothing was asked.
    """
    digest = action_digest(draft.action)
    values = _shown(draft) | _asked(draft, at, timeout_s)
    values |= {"action_digest": digest, "sealed_action": sealed_action(draft.action)}
    with transaction.atomic():
        approval, is_new = Approval.objects.get_or_create(call_id=draft.call_id, defaults=values)
        if not is_new:
            if approval.action_digest != digest:
                raise ActionChangedError("this call already asked for a decision on another action")
            return approval
        announce("approval.requested", id=approval.pk, environment=draft.environment.slug)
        entry_record(
            approval_entry(
                approval,
                EntryKind.APPROVAL_ASKED,
                actor=str(draft.action.get("actor") or draft.requester or SYSTEM),  # as the call's other entries
                at=at,
                status=State.REQUESTED,
                params=dict(draft.params),
                sensitive_fields=draft.sensitive_fields,
            )
        )
    return approval


def approval_resolve(
    approval: Approval,
    *,
    decision: str,
    by: Principal,
    at: datetime,
    reason: str = "",
    scope: GrantScope | None = None,
) -> Approval:
    """Answer a request. The first answer wins; the same answer again is harmless.

    Args:
        decision: "allow-once", "allow-always" or "deny".
        by: who answers; permission is the door's question (`approval_access`).
        reason: shown to the agent when denied.
        scope: how far "always" reaches; the exact action when absent.
    Raises:
        DecisionNotAllowedError: no such decision, or this request does not offer it.
        OwnRequestError: the token that made the call would answer for itself.
        ApprovalAlreadyDecidedError: somebody answered differently; it names who and when.
        ApprovalExpiredError, ApprovalCancelledError: nobody waits for an answer any more.
        GrantScopeError: the wanted scope cannot be kept.
        AuditUnavailableError: the ledger refuses; nothing was decided.
    """
    with transaction.atomic():
        approval = _locked(approval.pk)
        wanted = _wanted_state(approval, decision)
        if not approval.is_pending:
            return _second_answer(approval, wanted)
        if at >= approval.expires_at:
            raise ApprovalExpiredError(expired_at=approval.expires_at)
        if wanted in ALLOWED:
            _check_answerer(approval, by)
        approval.scope = None if scope is None else asdict(scope)
        approval.decision_reason = Masker().text(reason)
        _decide(approval, wanted, by=by, at=at)
        actor = actor_of(by)
        told = [approval_entry(approval, EntryKind.APPROVAL_ANSWERED, actor=actor, at=at, status=wanted, reason=reason)]
        if wanted is State.ALLOWED_ALWAYS:
            grant = grants.grant_create(approval, by=by, at=at, scope=scope or GrantScope())
            told.append(grant_entry(grant, EntryKind.GRANT_CREATED, actor=actor, at=at))
        entries_record(told)
    return approval


def approvals_expire(at: datetime) -> int:
    """End every request whose time is over; each counts as denied. Harmless to repeat, and to race.

    Returns:
        How many ended now.
    """
    due = Approval.objects.filter(state=State.REQUESTED, expires_at__lte=at).values_list("pk", flat=True)
    return sum(_expire_one(pk, at) for pk in due)


def _expire_one(approval_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        approval = _locked(approval_id)
        if not approval.is_pending or approval.expires_at > at:
            return False
        _decide(approval, State.EXPIRED, by=None, at=at)
        entry_record(approval_entry(approval, EntryKind.APPROVAL_EXPIRED, actor=SYSTEM, at=at, status=State.EXPIRED))
    return True


def approval_cancel(approval: Approval, *, at: datetime, reason: str = "") -> Approval:
    """Withdraw a request that nobody waits for any more. A request that has ended stays as it is."""
    with transaction.atomic():
        approval = _locked(approval.pk)
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


def approval_claim(approval_id: UUID, *, boot: UUID, at: datetime) -> Claim:
    """Take the right to run an allowed action. Exactly one runner gets it, ever.

    Args:
        boot: the runner's boot (`audit.services.boot_id`): should it die, the sweeper knows.
    Returns:
        The approval, and the action exactly as it was asked for.
    Raises:
        ApprovalNotFoundError: no such approval.
        ApprovalNotAllowedError: not answered with yes, or too long ago.
        ApprovalClaimedError: another runner has it, or had it.
        ActionChangedError: the kept action is not the one that was allowed.
    """
    with transaction.atomic():
        approval = _locked(approval_id)
        if approval.state not in ALLOWED or approval.decided_at is None:
            raise ApprovalNotAllowedError(f"the request is {approval.state}")
        if approval.claimed_at is not None or approval.finished_at is not None:
            raise ApprovalClaimedError("the action was already taken by a runner")
        if at >= approval.decided_at + CLAIM_WINDOW:
            raise ApprovalNotAllowedError("it was allowed too long ago")
        action = unsealed_action(approval)
        approval.claimed_at = at
        approval.claimed_by = boot
        _save(approval, "claimed_at", "claimed_by")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
    return Claim(approval=approval, action=action)


def approval_finish(approval_id: UUID, *, at: datetime) -> None:
    """Say that the action has ended, however it ended: what was sealed is destroyed. Harmless to repeat."""
    with transaction.atomic():
        approval = _locked(approval_id)
        if approval.finished_at is not None or approval.is_pending:
            return
        approval.finished_at = at
        approval.sealed_action = None
        _save(approval, "finished_at", "sealed_action")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)


def approvals_abandon(at: datetime) -> int:
    """Close allowed actions that no runner took in time, and tell that they did not run.

    What a runner took is the gateway's and the ledger's matter, also when its process is gone.

    Returns:
        How many were closed.
    """
    late = Approval.objects.filter(
        state__in=ALLOWED, claimed_at=None, finished_at=None, decided_at__lte=at - CLAIM_WINDOW
    )
    return sum(_abandon_one(pk, at) for pk in late.values_list("pk", flat=True))


def _abandon_one(approval_id: UUID, at: datetime) -> bool:
    with transaction.atomic():
        approval = _locked(approval_id)
        if approval.claimed_at is not None or approval.finished_at is not None:
            return False
        approval.finished_at, approval.sealed_action = at, None
        _save(approval, "finished_at", "sealed_action")
        announce("approval.changed", id=approval.pk, environment=approval.environment.slug)
        entry_record(
            approval_entry(approval, EntryKind.DENIAL, actor=SYSTEM, at=at, status=State.DENIED, reason=NOT_RUN)
        )
    return True


def _locked(approval_id: UUID) -> Approval:
    try:
        return Approval.objects.select_for_update(of=("self",)).select_related("environment").get(pk=approval_id)
    except Approval.DoesNotExist:
        raise ApprovalNotFoundError(approval_id) from None


def _check_answerer(approval: Approval, by: Principal) -> None:
    """A program never allows its own call, whatever its scopes: somebody else has to look at it."""
    if isinstance(by, ApiToken) and unsealed_action(approval).get("actor") == by.actor:
        raise OwnRequestError("the token that made the call cannot answer for it")


def _wanted_state(approval: Approval, decision: str) -> State:
    if decision not in set(Decision) or decision not in approval.decisions:
        raise DecisionNotAllowedError(f"the request does not offer the decision `{decision}`")
    return STATE_OF[Decision(decision)]


def _second_answer(approval: Approval, wanted: State) -> Approval:
    if approval.state == wanted:
        return approval
    if approval.state == State.EXPIRED:
        raise ApprovalExpiredError(expired_at=approval.expires_at)
    if approval.state == State.CANCELLED:
        raise ApprovalCancelledError("the request was withdrawn")
    assert approval.decided_at is not None  # noqa: S101 - a constraint of the table
    raise ApprovalAlreadyDecidedError(
        state=approval.state, decided_by=approval.decided_by_label, decided_at=approval.decided_at
    )


def _decide(approval: Approval, state: State, *, by: Principal | None, at: datetime) -> None:
    if state not in TRANSITIONS[State(approval.state)]:
        raise AssertionError(f"no way from {approval.state} to {state}")
    approval.state = state
    approval.decided_at = at
    approval.decided_by = by if isinstance(by, User) else None
    approval.decided_by_label = str(by) if by is not None else ""
    if state not in ALLOWED:
        approval.sealed_action = None
        approval.finished_at = at
    _save(
        approval,
        "state",
        "decided_at",
        "decided_by",
        "decided_by_label",
        "decision_reason",
        "scope",
        "sealed_action",
        "finished_at",
    )
    announce("approval.resolved", id=approval.pk, environment=approval.environment.slug)


def _save(approval: Approval, *fields: str) -> None:
    approval.version += 1
    approval.save(update_fields=[*fields, "version"])


def _shown(draft: ApprovalDraft) -> dict[str, Any]:
    """Give what people see of an action, masked."""
    masker = Masker(draft.sensitive_fields)
    return {
        "command": masker.text(draft.command),
        "argv": masker.value("argv", list(draft.argv)),
        "params": masker.value("params", dict(draft.params)),
        "evidence": masker.value("evidence", [dict(item) for item in draft.evidence]),
        "warnings": masker.value("warnings", list(draft.warnings)),
        "title": masker.text(draft.title),
        "reason": masker.text("" if draft.asked is None else draft.asked.reason),
    }


def _asked(draft: ApprovalDraft, at: datetime, timeout_s: float | None) -> dict[str, Any]:
    wait = TIMEOUT_S[draft.environment.dialect] if timeout_s is None else timeout_s
    plain = ("kind", "agent", "session_key", "channel", "sender", "sender_name", "requester", "tool", "severity")
    more = ("resolved_path", "cwd", "host", "snapshot_digest", "trace_id")
    values = {name: storable(getattr(draft, name)) for name in plain + more}
    asked = draft.asked
    return values | {
        "environment": draft.environment,
        "sender_is_owner": draft.sender_is_owner,
        "reason_layer": "" if asked is None else asked.layer,
        "reason_rule": "" if asked is None else asked.rule,
        "decisions": [str(decision) for decision in draft.decisions],
        "requested_at": at,
        "expires_at": at + timedelta(seconds=wait),
    }
