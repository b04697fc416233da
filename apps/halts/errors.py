"""What this room refuses."""

from apps.registry.errors import RegistryError


class HaltInvalidError(RegistryError):
    """A stop breaks a rule of its own; `details` names fields."""

    code = "halt_invalid"


class HaltUnknownError(HaltInvalidError):
    """It would stop nothing now: nothing has this name."""

    code = "halt_unknown"


class HaltExistsError(RegistryError):
    """The same is stopped already."""

    code = "halt_exists"


class HaltLiftedError(RegistryError):
    """The stop was lifted before."""

    code = "halt_lifted"
