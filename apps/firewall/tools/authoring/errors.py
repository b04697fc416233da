"""What authors raise, and what they hear when a tool is not well made."""

from apps.firewall.errors import FirewallError


class ToolError(FirewallError):
    """Raised by a tool that could not do what it was asked; the model reads code and message.

    Args:
        message: one sentence that lets a model do better.
        code: in snake_case.
    """

    code = "tool_failed"

    def __init__(self, message: str, *, code: str = "tool_failed") -> None:
        super().__init__(message)
        self.code = code


def internal_error(exc: BaseException) -> str:
    """Say that a tool broke by the class of what it raised: its words were not made for whoever calls."""
    return f"the tool broke: {type(exc).__name__[:100]}"


class AuthoringError(FirewallError):
    """A function, class or factory that is no tool as it stands."""

    code = "not_a_tool"


class SignatureError(AuthoringError):
    """A signature from which no schema can be made."""

    code = "bad_signature"


class NotOfferedError(FirewallError):
    """A factory returned nothing: its tool is not offered here."""

    code = "not_offered"


class CodeChangedError(FirewallError):
    """The code of a tool is not the one that was accepted."""

    code = "tool_code_changed"
