"""What the registry refuses."""

from typing import Any

from django.utils.translation import gettext as _

from apps.firewall.errors import FirewallError


class RegistryError(FirewallError):
    """Anything this room refuses; `details` names fields."""

    code = "registry_error"

    def __init__(self, message: str, details: list[dict[str, str]] | None = None) -> None:
        super().__init__(message)
        self.details = details or []


class EnvironmentUnknownError(RegistryError):
    """No environment of that name, or not one for this token."""

    code = "not_found"


class ToolInvalidError(RegistryError):
    """A tool or plugin breaks a rule; `details` names the fields."""

    code = "tool_invalid"


class ToolStateError(RegistryError):
    """A tool cannot go from its state to the wanted one."""

    code = "tool_state_refused"


class DriftPendingError(RegistryError):
    """A tool's definition has changed and waits for an admin."""

    code = "drift_pending"


class DriftDecidedError(RegistryError):
    """Somebody accepted or dismissed the change already, or a later one took its place."""

    code = "drift_decided"


class SourceInvalidError(RegistryError):
    """A discovery source breaks a rule; `details` names fields, settings as `settings.url`."""

    code = "source_invalid"


class HookInvalidError(RegistryError):
    """A hook breaks a rule; `details` names fields, settings as `settings.url`."""

    code = "hook_invalid"


class SourceBusyError(RegistryError):
    """Somebody looks through the source right now."""

    code = "source_busy"


class SourceInUseError(RegistryError):
    """A source brings tools that are offered; they must go first."""

    code = "source_in_use"


class RecordChangedError(RegistryError):
    """Somebody saved the record first.

    Attributes:
        mine: the fields that were to be saved.
        theirs: the same fields as they are now, and the current `version`.
    """

    code = "conflict"

    def __init__(self, mine: dict[str, Any], theirs: dict[str, Any]) -> None:
        super().__init__(_("somebody else saved this record meanwhile: compare and save again"))
        self.mine = mine
        self.theirs = theirs
