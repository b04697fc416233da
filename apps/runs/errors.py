"""What runs refuse."""

from apps.firewall.errors import FirewallError


class RunError(FirewallError):
    """Anything this room refuses."""

    code = "run_error"

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details: list[dict[str, str]] = details or []


class RunNotFoundError(RunError):
    """No run with this id exists for this person or token."""

    code = "run_not_found"


class RunEndedError(RunError):
    """The run has ended: nothing more is searched or called in it."""

    code = "run_ended"


class ClientCallNotFoundError(RunError):
    """No call of this run waits for its caller under this id."""

    code = "call_not_found"


class ReportRefusedError(RunError):
    """Another outcome of the call is on record already, or it was never handed to the caller."""

    code = "report_refused"


class LabelError(RunError):
    """A labelled query that is none; `details` names each mistake."""

    code = "label_invalid"


class RunFilterError(RunError):
    """Runs are looked for by something that there is not."""

    code = "run_filter_invalid"
