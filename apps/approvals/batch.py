"""One answer to many requests: a look ahead first, then each by itself, exactly as if it were answered alone."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from apps.accounts.access import Permission, Principal, require
from apps.approvals import rules
from apps.approvals.access import approvals_visible
from apps.approvals.answerers import voice_of
from apps.approvals.checking import Answerer, answer_check, check_second_answer, wanted_state
from apps.approvals.errors import ApprovalError, ApprovalNotFoundError, BatchInvalidError, TooLongToReviewError
from apps.approvals.models import Approval, Voice
from apps.approvals.services import approval_resolve
from apps.approvals.states import ALLOWED, Decision, State
from apps.firewall.identifiers import new_id, show_id

MOST: Final = 200
DECISIONS: Final = (Decision.ALLOW_ONCE, Decision.DENY)
"""A batch never leaves a standing grant behind."""
SHOWN_CHARACTERS: Final = 2000

WILL, APPLIED = "will_apply", "applied"
STANDS: Final = "stands_already"
WAITS: Final = "waits_for_others"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What an answer would do, or did, to one request.

    Args:
        approval: None when there is none, or its existence is not this principal's business.
        code: `will_apply`, `applied`, `stands_already`, `waits_for_others`, or why it is refused.
        message: says more of a refusal; for `waits_for_others` how many have allowed it, and of how many.
    """

    approval_id: UUID
    approval: Approval | None
    code: str
    message: str = ""

    @property
    def counts(self) -> bool:
        """Say whether the answer changes this request, or will."""
        return self.code in {WILL, APPLIED, WAITS}

    @property
    def shown_id(self) -> str:
        return show_id("ap", self.approval_id)


def action_text(approval: Approval) -> str:
    """Write the exact action of a request as people see it, masked."""
    if approval.kind == Approval.Kind.EXEC:
        return approval.command or " ".join(approval.argv)
    return json.dumps(approval.params, ensure_ascii=False, sort_keys=True)


def batch_outlook(ids: Sequence[UUID], *, decision: str, by: Principal, at: datetime) -> list[Item]:
    """Tell what an answer to many requests would do now; nothing is changed, and nothing put on record.

    Args:
        ids: at most 200, each counts once; the items come in their order.
        decision: "allow-once" or "deny".
    Raises:
        BatchInvalidError: no or too many ids, or another decision.
        PermissionDeniedError.
    """
    found = _found(ids, decision, by)
    answerer = Answerer(by, at)
    said = set(Voice.objects.filter(approval__in=found, actor=voice_of(by)).values_list("approval_id", flat=True))
    return [_outlook(pk, found.get(pk), decision, answerer, has_said=pk in said) for pk in dict.fromkeys(ids)]


def batch_resolve(
    ids: Sequence[UUID], *, decision: str, by: Principal, at: datetime, reason: str = ""
) -> tuple[UUID, list[Item]]:
    """Answer many requests, each in a transaction of its own: what cannot be answered does not keep the others.

    The same again is harmless: what was answered so stands already.

    Args:
        ids: at most 200, each counts once; the items come in their order.
        decision: "allow-once" or "deny".
    Returns:
        The id by which the ledger names this batch, and what became of each request.
    Raises:
        BatchInvalidError: no or too many ids, or another decision.
        PermissionDeniedError.
        AuditUnavailableError: the ledger refuses; what was answered before stays answered.
    """
    found = _found(ids, decision, by)
    batch_id = new_id()
    return batch_id, [
        _resolved(pk, found.get(pk), decision, by=by, at=at, reason=reason, batch_id=batch_id)
        for pk in dict.fromkeys(ids)
    ]


def _found(ids: Sequence[UUID], decision: str, by: Principal) -> dict[UUID, Approval]:
    require(by, Permission.APPROVALS_RESOLVE)
    if decision not in DECISIONS:
        raise BatchInvalidError("decision", "many requests can only be allowed once or denied")
    if not ids or len(set(ids)) > MOST:
        raise BatchInvalidError("ids", f"between 1 and {MOST} requests are answered at a time")
    return approvals_visible(by, Approval.objects.select_related("environment")).in_bulk(list(set(ids)))


def _outlook(pk: UUID, approval: Approval | None, decision: str, answerer: Answerer, *, has_said: bool) -> Item:
    if approval is None:
        return _missing(pk)
    try:
        wanted = wanted_state(approval, decision)
        if not rules.is_open(approval):
            check_second_answer(approval, wanted)
            return Item(approval_id=pk, approval=approval, code=STANDS, message=approval.decided_by_label)
        _check_length(approval, wanted)
        rule, _place = answer_check(approval, wanted, answerer)
    except ApprovalError as exc:
        return _refused(approval, exc)
    if wanted in ALLOWED and rule is not None and rule.quorum > 1:
        have = approval.voices_have + (not has_said)
        if have < rule.quorum:
            return Item(approval_id=pk, approval=approval, code=WAITS, message=f"{have} / {rule.quorum}")
    return Item(approval_id=pk, approval=approval, code=WILL)


def _resolved(
    pk: UUID, approval: Approval | None, decision: str, *, by: Principal, at: datetime, reason: str, batch_id: UUID
) -> Item:
    if approval is None:
        return _missing(pk)
    try:
        _check_length(approval, wanted_state(approval, decision))
        answered = approval_resolve(approval, decision=decision, by=by, at=at, reason=reason, batch_id=batch_id)
    except ApprovalError as exc:
        return _refused(approval, exc)
    if answered.is_pending:
        message = f"{answered.voices_have} / {answered.voices_need}"
        return Item(approval_id=pk, approval=answered, code=WAITS, message=message)
    if answered.batch_id != batch_id:
        return Item(approval_id=pk, approval=answered, code=STANDS, message=answered.decided_by_label)
    return Item(approval_id=pk, approval=answered, code=APPLIED)


def _check_length(approval: Approval, wanted: State) -> None:
    """Nobody allows what a table of many cannot show whole."""
    if wanted in ALLOWED and approval.is_pending and len(action_text(approval)) > SHOWN_CHARACTERS:
        raise TooLongToReviewError(f"longer than {SHOWN_CHARACTERS} characters: it is allowed on its own card")


def _missing(pk: UUID) -> Item:
    return Item(approval_id=pk, approval=None, code=ApprovalNotFoundError.code, message="no such approval")


def _refused(approval: Approval, error: ApprovalError) -> Item:
    return Item(approval_id=approval.pk, approval=approval, code=error.code, message=error.message)
