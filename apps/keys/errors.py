"""What can go wrong with keys."""

from apps.firewall.errors import FirewallError


class KeyFailureError(FirewallError):
    """Anything this room cannot do."""

    code = "key_failure"


class KeyUnusableError(KeyFailureError):
    """A key file or variable cannot be read or does not hold a key."""

    code = "key_unusable"


class UnsealError(KeyFailureError):
    """A sealed value cannot be opened."""

    code = "unseal_failed"
