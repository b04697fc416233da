"""What accounts refuse."""

from apps.firewall.errors import FirewallError


class AccountError(FirewallError):
    """Anything this room refuses; `details` names fields."""

    code = "account_error"

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


class PermissionDeniedError(AccountError):
    """The person or token may not do this."""

    code = "permission_denied"


class TokenInvalidError(AccountError):
    """No usable token has this secret; one answer for unknown, revoked and expired."""

    code = "token_invalid"


class ScopeError(AccountError):
    """A token was to get a scope that does not exist or that its maker lacks."""

    code = "scope_not_allowed"


class AgentNameError(AccountError):
    """A token was to be bound to an agent that there is not; `details` names the one that was probably meant."""

    code = "agent_unknown"


class LinkInvalidError(AccountError):
    """The one-time link is unknown, used, withdrawn or too old; one answer for all four."""

    code = "link_invalid"


class UserInvalidError(AccountError):
    """A username or a password breaks a rule; `details` names the field."""

    code = "user_invalid"


class LastAdminError(AccountError):
    """The change would leave nobody who manages people."""

    code = "last_admin"
