"""What gateways and their records refuse."""

from apps.firewall.errors import FirewallError


class OpenClawGatewayError(FirewallError):
    """Anything this room refuses."""

    code = "openclaw_gateway_error"

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


class GatewayNotFoundError(OpenClawGatewayError):
    """No gateway with this id exists for this person or token."""

    code = "gateway_not_found"


class EnrolmentInvalidError(OpenClawGatewayError):
    """An enrolment token that is unknown, used, withdrawn or expired: one answer for all."""

    code = "enrolment_invalid"


class GatewayNameError(OpenClawGatewayError):
    """A name that no gateway can have."""

    code = "gateway_name_invalid"


class AskConflictError(OpenClawGatewayError):
    """The key of a question belongs to another one."""

    code = "idempotency_conflict"


class GatewayCallNotFoundError(OpenClawGatewayError):
    """No call with this id was asked about by this gateway."""

    code = "call_not_found"


class ReportRefusedError(OpenClawGatewayError):
    """A report about a call that was not told to run, or has its outcome already."""

    code = "report_refused"


class AlarmNotFoundError(OpenClawGatewayError):
    """No alarm with this id exists for this person or token."""

    code = "alarm_not_found"
