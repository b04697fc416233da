"""The tool `fs_list`: what a folder holds."""

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_in_folder
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.work import Work

DEFINITION = Definition(
    name="fs_list",
    label="List a folder",
    description=(
        "List what a folder of the workspace, or one that is open to you, holds: files with size and time, folders, "
        "links. At most 1,000 entries come back, and `truncated` says whether there are more."
    ),
    section="fs",
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "default": ".",
                "description": "Folder to list: relative to the workspace, or an absolute path in an open folder.",
            },
            "pattern": {
                "type": "string",
                "minLength": 1,
                "maxLength": 500,
                "description": "What to list: `*.py` goes by names, `src/**/*.py` by paths below the folder.",
            },
            "recursive": {"type": "boolean", "default": False, "description": "Also what lies in folders below."},
        },
        "additionalProperties": False,
    },
    idempotent=True,
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    return await run_in_folder("list", {"path": ".", **params}, work)
