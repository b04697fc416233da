"""The tool `exec`: one command in the workspace."""

from apps.firewall.tools.definition import Definition

DEFINITION = Definition(
    name="exec",
    label="Run command",
    description=(
        "Run one program with its arguments in the workspace. No shell reads the line: pipes, redirections, "
        "variables and inline code wait for a person's approval."
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
            "workdir": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "description": "Folder to run in, relative to the workspace; the workspace itself when absent.",
            },
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": 60,
                "description": "Seconds after which the command is ended; 30 when absent.",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
)
