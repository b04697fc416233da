"""What this room refuses."""

from apps.registry.errors import RegistryError


class LimitInvalidError(RegistryError):
    """A rate limit or the breaker's rule breaks a rule of its own; `details` names fields."""

    code = "limit_invalid"
