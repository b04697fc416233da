"""The tool `apply_patch`: changes in several files of the workspace, all of them or none."""

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_file_order
from apps.firewall.tools.running import Command, Place, ToolOutcome, failed

DEFINITION = Definition(
    name="apply_patch",
    execution_mode="sequential",
    label="Apply patch",
    description=(
        "Add, change, move and delete files of the workspace with one patch, as a whole or not at all. It begins with "
        "`*** Begin Patch` and ends with `*** End Patch`; between them stand `*** Add File: path` and its lines, each "
        "behind `+`; `*** Delete File: path`; or `*** Update File: path`, `*** Move to: path` if it moves, and hunks: "
        "`@@` with an optional line that stands before, then lines behind a space (kept), `-` (taken) or `+` (added), "
        "and `*** End of File` where a hunk reaches to the end."
    ),
    section="fs",
    parameters={
        "type": "object",
        "properties": {
            "input": {"type": "string", "minLength": 1, "maxLength": 1_000_000, "description": "The whole patch."},
        },
        "required": ["input"],
        "additionalProperties": False,
    },
)


async def run(params: JsonObject, place: Place, command: Command | None = None) -> ToolOutcome:  # noqa: ARG001
    patch = params.get("input")
    if not isinstance(patch, str):  # a snapshot that was published before the tool ran here holds no schema of it
        return failed("params_incomplete", "`apply_patch` needs `input`, a text")
    return await run_file_order("apply_patch", {"patch": patch}, place)
