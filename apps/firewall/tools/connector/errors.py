"""Why an address was not opened, or what came back could not be used."""

from apps.firewall.errors import FirewallError


class ConnectorError(FirewallError):
    """Anything that keeps a request from its answer.

    Args:
        was_sent: the other side may have got the request, so it may have acted on it.
    """

    code = "connection_failed"

    def __init__(self, message: str, *, was_sent: bool = False) -> None:
        super().__init__(message)
        self.was_sent = was_sent


class UrlRefusedError(ConnectorError):
    """The address is not one that the source may use, or is spelled in a way that hides where it leads."""

    code = "url_refused"


class AddressRefusedError(ConnectorError):
    """The name leads to an address that is not public and that no rule allows."""

    code = "address_refused"


class NameUnresolvedError(ConnectorError):
    """The name leads nowhere."""

    code = "name_unresolved"


class UnreachableError(ConnectorError):
    """Nobody answers there, or the line broke."""

    code = "connection_failed"


class TlsFailedError(ConnectorError):
    """The other side could not prove that it has the name."""

    code = "tls_failed"


class TimeLimitError(ConnectorError):
    """The answer was not complete in time."""

    code = "time_limit"


class TooManyRedirectsError(ConnectorError):
    """The answer was another address once too often."""

    code = "too_many_redirects"


class AnswerTooLargeError(ConnectorError):
    """The answer has more bytes than are read."""

    code = "answer_too_large"


class AnswerBrokenError(ConnectorError):
    """What came back is not HTTP, or is packed in a way that nobody asked for."""

    code = "answer_broken"
