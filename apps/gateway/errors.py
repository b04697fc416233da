"""What this door refuses."""

from apps.firewall.errors import FirewallError


class GatewayError(FirewallError):
    """Anything this room refuses."""

    code = "gateway_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details: list[dict[str, str]] = []


class IdempotencyConflictError(GatewayError):
    """The key was used for another request."""

    code = "idempotency_conflict"


class CallNotFoundError(GatewayError):
    """No call with this id was made by this token."""

    code = "call_not_found"


class TooBusyError(GatewayError):
    """This process runs as many calls as it may."""

    code = "too_busy"


class StoppingError(GatewayError):
    """This process ends; it takes no new calls."""

    code = "stopping"


class QueueFullError(GatewayError):
    """Too many calls wait to be run."""

    code = "queue_full"


class ProbesBusyError(GatewayError):
    """The doors are being tried already, or nobody can be asked to try them."""

    code = "probes_busy"
