"""The one tree of errors of the heart."""


class FirewallError(Exception):
    """Anything the firewall refuses or cannot do; `code` is stable and in snake_case."""

    code = "firewall_error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
