"""The tool `write`: one text file in the workspace, replaced as a whole."""

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_file_order
from apps.firewall.tools.running import Command, Place, ToolOutcome

DEFINITION = Definition(
    name="write",
    execution_mode="sequential",
    label="Write file",
    description="Write a text file of the workspace, replacing what was there. Missing folders are made.",
    section="fs",
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "description": "File to write, relative to the workspace.",
            },
            "content": {"type": "string", "maxLength": 1000000, "description": "The whole new text of the file."},
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
)


async def run(params: JsonObject, place: Place, command: Command | None = None) -> ToolOutcome:  # noqa: ARG001
    return await run_file_order("write", params, place)
