"""The tool `shell_execute`: one command, held to lists of names and patterns besides the exec policy."""

from apps.firewall.tools.definition import Definition

DEFINITION = Definition(
    name="shell_execute",
    label="Run a listed command",
    description=(
        "Run one program with its arguments in the workspace. Only some programs are allowed, and no shell reads the "
        "line: pipes, redirections, variables and inline code are refused or wait for a person's approval."
    ),
    section="runtime",
    parameters={
        "type": "object",
        "properties": {
            "command": {
                "type": "string",
                "minLength": 1,
                "maxLength": 16384,
                "description": "The program and its arguments, quoted as for a POSIX shell.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": 60,
                "default": 30,
                "description": "Seconds after which the command is ended.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    execution_mode="sequential",
)
