"""What notifications refuse."""

from apps.firewall.errors import FirewallError


class NotificationError(FirewallError):
    """Anything this room refuses."""

    code = "notification_error"

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


class NotificationInvalidError(NotificationError):
    """A choice, a browser or a webhook that cannot be kept."""

    code = "notification_invalid"


class WebhookNotFoundError(NotificationError):
    """No webhook of this name exists here."""

    code = "webhook_not_found"


class TriedTooSoonError(NotificationError):
    """Somebody tried their notifications a moment ago."""

    code = "tried_too_soon"
