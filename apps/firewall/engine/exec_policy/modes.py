"""Security and ask modes, and which of two is the stricter."""

from typing import Any, Final

SECURITY: Final = ("deny", "allowlist", "full")
ASK: Final = ("off", "on-miss", "always")
DEFAULT_SECURITY: Final = "allowlist"
DEFAULT_ASK: Final = "on-miss"


def min_security(first: str, second: str) -> str:
    """Tell the stricter of two security modes."""
    return min(first, second, key=SECURITY.index)


def max_ask(first: str, second: str) -> str:
    """Tell the ask mode of two that asks more."""
    return max(first, second, key=ASK.index)


def requires_approval(ask: str | None, security: str, *, is_satisfied: bool, is_durably_allowed: bool = False) -> bool:
    """Say whether a person must answer.

    Args:
        is_satisfied: the command was understood and an allowlist admits it.
        is_durably_allowed: an earlier "always" covers exactly this command.
    """
    if ask == "always":
        return True
    if is_durably_allowed:
        return False
    return ask == "on-miss" and security == "allowlist" and not is_satisfied


def read_security(value: Any) -> str | None:
    """Read a security mode; a word that means nothing denies."""
    return None if value is None else value if value in SECURITY else "deny"


def read_ask(value: Any) -> str | None:
    """Read an ask mode; a word that means nothing always asks."""
    return None if value is None else value if value in ASK else "always"
