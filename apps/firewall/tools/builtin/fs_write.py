"""The tool `fs_write`: a text file, replaced or added to."""

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_in_folder
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.work import Work

DEFINITION = Definition(
    name="fs_write",
    label="Write a file",
    description=(
        "Write a text file of the workspace, or of a folder that is open to you for writing: replace it as a whole, or "
        "add to its end. Missing folders are made."
    ),
    section="fs",
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "description": "File to write: relative to the workspace, or an absolute path in an open folder.",
            },
            "content": {"type": "string", "maxLength": 1000000, "description": "The text to write."},
            "mode": {
                "type": "string",
                "enum": ["write", "append"],
                "default": "write",
                "description": "`write` replaces what was there, `append` adds to its end.",
            },
        },
        "required": ["path", "content"],
        "additionalProperties": False,
    },
    execution_mode="sequential",
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    written = {name: params[name] for name in ("path", "content")}
    return await run_in_folder(params.get("mode", "write"), written, work, writes=True)
