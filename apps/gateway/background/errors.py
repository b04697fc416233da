"""What background commands refuse."""

from apps.gateway.errors import GatewayError


class TooManyCommandsError(GatewayError):
    """As many commands run in the background as may."""

    code = "too_many_commands"


class CommandLostError(GatewayError):
    """The command is not kept any more, or its session takes none."""

    code = "command_not_kept"


class CommandUnknownError(GatewayError):
    """No command with this id belongs to the session."""

    code = "command_not_found"


class CommandRunsError(GatewayError):
    """A command that runs cannot be dropped."""

    code = "command_runs"


class InputRefusedError(GatewayError):
    """What was written was not taken."""

    code = "input_refused"

    def __init__(self, message: str, code: str = "input_refused") -> None:
        super().__init__(message)
        self.code = code
