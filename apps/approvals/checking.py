"""Whether an answer to a request counts: the same checks for the answer itself and for a look ahead at it."""

from dataclasses import dataclass, field
from datetime import datetime

from apps.accounts.access import Principal
from apps.approvals import rules
from apps.approvals.answerers import answer_rule_of, place_of
from apps.approvals.errors import (
    ApprovalAlreadyDecidedError,
    ApprovalCancelledError,
    ApprovalError,
    ApprovalExpiredError,
    ApprovalFrozenError,
    ApprovalSupersededError,
    CallerEndedError,
    CallerGoneError,
    DecisionNotAllowedError,
    NotAnApproverError,
    OwnRequestError,
)
from apps.approvals.models import AnswerRule, Approval
from apps.approvals.states import ALLOWED, STATE_OF, Decision, State
from apps.rows import RowsBy

Place = tuple[AnswerRule | None, str]
_rules = RowsBy(AnswerRule.objects.all, "environment")


@dataclass
class Answerer:
    """Somebody who answers at one moment; rules are read once for all requests that are looked at."""

    by: Principal
    at: datetime
    _rules: dict[object, list[AnswerRule]] = field(default_factory=dict)
    _places: dict[str, str | NotAnApproverError] = field(default_factory=dict)

    def place_for(self, approval: Approval) -> Place:
        """Tell which rule counts for a request, and in whose place somebody answers it.

        Raises:
            NotAnApproverError: the rule leaves it to others.
        """
        if approval.environment_id not in self._rules:
            self._rules[approval.environment_id] = _rules.all(approval.environment_id)
        rule = answer_rule_of(approval, self._rules[approval.environment_id])
        return rule, self._place(approval, rule)

    def _place(self, approval: Approval, rule: AnswerRule | None) -> str:
        key = f"{None if rule is None else rule.pk} {approval.escalated_to}"
        if key not in self._places:
            try:
                self._places[key] = place_of(approval, rule, self.by, self.at)
            except NotAnApproverError as exc:
                self._places[key] = exc
        place = self._places[key]
        if isinstance(place, NotAnApproverError):
            raise place
        return place


def answer_check(approval: Approval, wanted: State, answerer: Answerer) -> Place:
    """Let an answer to a request that waits through, and tell by which rule and in whose place.

    Raises:
        ApprovalExpiredError, CallerGoneError, NotAnApproverError, CallerEndedError, OwnRequestError,
        ApprovalFrozenError.
    """
    if not rules.is_in_time(approval, answerer.at):
        raise ApprovalExpiredError(expired_at=approval.expires_at)
    gone = rules.caller_gone(approval, answerer.at)
    if gone:
        raise CallerGoneError(f"{gone}: nothing would run, and the request is withdrawn")
    place = answerer.place_for(approval)
    if wanted in ALLOWED:
        ended = rules.caller_ended(approval, answerer.at)
        if ended:
            raise CallerEndedError(f"{ended}: it is withdrawn")
        if rules.is_own(approval, answerer.by):  # whatever their rights: somebody else has to look at it
            raise OwnRequestError("whoever made the call cannot allow it: somebody else has to look at it")
        if not rules.may_be_allowed(approval):
            raise ApprovalFrozenError("it is stopped by the kill switch: until that is lifted it can only be denied")
    return place


def wanted_state(approval: Approval, decision: str) -> State:
    """Tell to which state a decision leads.

    Raises:
        DecisionNotAllowedError: no such decision, or this request does not offer it.
    """
    if decision not in set(Decision) or decision not in approval.decisions:
        raise DecisionNotAllowedError(f"the request does not offer the decision `{decision}`")
    return STATE_OF[Decision(decision)]


def check_second_answer(approval: Approval, wanted: State) -> None:
    """Let the same answer to a request that ended through once more.

    Raises:
        ApprovalExpiredError, ApprovalCancelledError, ApprovalSupersededError, ApprovalAlreadyDecidedError.
    """
    if approval.state != wanted:
        raise _ended(approval)


def _ended(approval: Approval) -> ApprovalError:
    if approval.state == State.EXPIRED:
        return ApprovalExpiredError(expired_at=approval.expires_at)
    if approval.state == State.CANCELLED:
        why = f": {approval.decision_reason}" if approval.decision_reason else ""
        return ApprovalCancelledError(f"the request was withdrawn{why}")
    if approval.state == State.SUPERSEDED:
        return ApprovalSupersededError(f"the request was superseded: {approval.decision_reason}")
    assert approval.decided_at is not None  # noqa: S101 - a constraint of the table
    return ApprovalAlreadyDecidedError(
        state=approval.state, decided_by=approval.decided_by_label, decided_at=approval.decided_at
    )
