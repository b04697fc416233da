"""What approvals refuse."""

from datetime import datetime
from uuid import UUID

from apps.firewall.errors import FirewallError


class ApprovalError(FirewallError):
    """Anything this room refuses."""

    code = "approval_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details: list[dict[str, str]] = []


class ApprovalNotFoundError(ApprovalError):
    """No approval with this id exists for this person or token."""

    code = "approval_not_found"

    def __init__(self, approval_id: UUID | None = None) -> None:
        super().__init__("no such approval")
        self.approval_id = approval_id


class ApprovalAlreadyDecidedError(ApprovalError):
    """Somebody else answered first, and differently."""

    code = "approval_already_decided"

    def __init__(self, *, state: str, decided_by: str, decided_at: datetime) -> None:
        super().__init__(f"already answered by `{decided_by}` at {decided_at.isoformat(timespec='seconds')}: {state}")
        self.details = [
            {"path": "decided_by", "code": "who", "message": decided_by},
            {"path": "state", "code": "what", "message": state},
            {"path": "decided_at", "code": "when", "message": decided_at.isoformat()},
        ]
        self.state = state
        self.decided_by = decided_by
        self.decided_at = decided_at


class ApprovalExpiredError(ApprovalError):
    """The time to answer is over; the request counts as denied."""

    code = "approval_expired"

    def __init__(self, *, expired_at: datetime) -> None:
        super().__init__(f"the time to answer ended at {expired_at.isoformat(timespec='seconds')}")
        self.details = [{"path": "expires_at", "code": "when", "message": expired_at.isoformat()}]
        self.expired_at = expired_at


class ApprovalCancelledError(ApprovalError):
    """The request was withdrawn: nobody waits for an answer any more."""

    code = "approval_cancelled"


class CallerGoneError(ApprovalCancelledError):
    """The call does not wait for the answer any more, so nothing would run; the request is withdrawn."""


class ApprovalSupersededError(ApprovalError):
    """The request could not be answered as it stood any more: a newer one, or a newer policy, took its place."""

    code = "approval_superseded"


class OwnRequestError(ApprovalError):
    """Who made the call would allow it: the token itself, its person, or another token of that person."""

    code = "own_request"


class ApprovalFrozenError(ApprovalError):
    """The kill switch stopped what was asked for; its time stands still, and it may only be denied."""

    code = "approval_frozen"


class DecisionNotAllowedError(ApprovalError):
    """The decision does not exist, or this request does not offer it."""

    code = "decision_not_allowed"


class ApprovalNotAllowedError(ApprovalError):
    """The action may not run: nobody allowed it, or too long ago."""

    code = "approval_not_allowed"


class ApprovalClaimedError(ApprovalError):
    """Another runner already took the action."""

    code = "approval_claimed"


class ActionChangedError(ApprovalError):
    """What was approved and what is to run differ."""

    code = "action_changed"


class ApprovalPendingError(ApprovalError):
    """A request with this id of the caller's own waits already, and asks for something else."""

    code = "approval_id_pending"


class CallerEndedError(ApprovalError):
    """Whoever made the call may not make it any more: their token was revoked, or their account deactivated."""

    code = "caller_ended"


class NotAnApproverError(ApprovalError):
    """A rule says who may answer this request, and it is somebody else."""

    code = "not_an_approver"


class BatchInvalidError(ApprovalError):
    """One answer cannot go to these requests at once; nothing was answered."""

    code = "batch_invalid"

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.details = [{"path": path, "code": "invalid", "message": message}]


class TooLongToReviewError(ApprovalError):
    """Among many the action is not shown whole, so it is not allowed among many."""

    code = "too_long_to_review"


class AnswerInvalidError(ApprovalError):
    """What is said about answering cannot be kept."""

    code = "answer_invalid"

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


class TeamNotFoundError(ApprovalError):
    """No team of this name exists here."""

    code = "team_not_found"


class TeamInUseError(ApprovalError):
    """Rules of who may answer name the team."""

    code = "team_in_use"

    def __init__(self, message: str, rules: list[str]) -> None:
        super().__init__(message)
        self.details = [{"path": "rules", "code": "in_use", "message": rule} for rule in rules]


class GrantNotFoundError(ApprovalError):
    """No standing grant with this id exists for this person or token."""

    code = "grant_not_found"


class GrantScopeError(ApprovalError):
    """The wanted scope of a standing grant cannot be kept."""

    code = "grant_scope_invalid"
