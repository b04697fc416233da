"""Who may say how records end."""

from apps.accounts.access import Permission, Principal, may_environment, require
from apps.accounts.errors import PermissionDeniedError


def keeper_require(principal: Principal) -> None:
    """Let through who manages the ledger of the whole installation: classes, holds and subjects know no environment.

    Raises:
        PermissionDeniedError: not an administrator's right, or a token of one environment.
    """
    require(principal, Permission.AUDIT_MANAGE)
    if not may_environment(principal, ""):
        raise PermissionDeniedError("records of all environments: the token is for one")
