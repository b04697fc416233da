"""The tool `read`: lines of one text file in the workspace."""

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_file_order
from apps.firewall.tools.running import Command, Place, ToolOutcome

DEFINITION = Definition(
    name="read",
    result_limit=300_000,  # a whole part of a file: it states its own cut
    label="Read file",
    description=(
        "Read a text file of the workspace. Long files come in parts: `offset` is the first line (from 1), "
        "`limit` the number of lines."
    ),
    section="fs",
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "description": "File to read, relative to the workspace.",
            },
            "offset": {"type": "integer", "minimum": 1, "description": "First line to return, counted from 1."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100000, "description": "Lines to return at most."},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


async def run(params: JsonObject, place: Place, command: Command | None = None) -> ToolOutcome:  # noqa: ARG001
    return await run_file_order("read", params, place)
