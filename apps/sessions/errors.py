"""What sessions refuse."""

from apps.firewall.errors import FirewallError


class SessionError(FirewallError):
    """Anything this room refuses."""

    code = "session_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details: list[dict[str, str]] = []


class SessionNotFoundError(SessionError):
    """No session with this id exists for this person or token."""

    code = "session_not_found"


class SessionsUnavailableError(SessionError):
    """Sessions cannot be read or written now: nobody knows what a call would meet in its own."""

    code = "sessions_unavailable"


class BudgetError(SessionError):
    """A budget that is none; `details` names each."""

    code = "budget_invalid"

    def __init__(self, details: list[dict[str, str]]) -> None:
        super().__init__("a budget is a whole number from 1 up, or nothing")
        self.details = details


class SessionFilterError(SessionError):
    """A filter or a cursor that cannot be read."""

    code = "filter_invalid"
