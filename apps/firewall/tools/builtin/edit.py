"""The tool `edit`: exact replacements in one text file of the workspace."""

from dataclasses import replace
from typing import Any, Final

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_file_order
from apps.firewall.tools.running import Command, Place, ToolOutcome, failed

TEXT_CHARACTERS: Final = 1_000_000
_PATH: Final = {
    "type": "string",
    "minLength": 1,
    "maxLength": 4096,
    "description": "File to edit, relative to the workspace.",
}
_OLD: Final = {
    "type": "string",
    "minLength": 1,
    "maxLength": TEXT_CHARACTERS,
    "description": "Text that stands in the file exactly once, copied as it is there.",
}
_NEW: Final = {"type": "string", "maxLength": TEXT_CHARACTERS, "description": "What stands in its place afterwards."}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


DEFINITION = Definition(
    name="edit",
    execution_mode="sequential",
    label="Edit file",
    description=(
        "Replace texts in a file of the workspace. Each `oldText` must stand in the file exactly once; all are looked "
        "for in the file as it is now, and either all are replaced or none."
    ),
    section="fs",
    parameters=_object(
        {
            "path": _PATH,
            "edits": {
                "type": "array",
                "minItems": 1,
                "maxItems": 200,
                "items": _object({"oldText": _OLD, "newText": _NEW}),
                "description": "The replacements, which may not overlap.",
            },
        }
    ),
)

OLDER_DEFINITION = replace(
    DEFINITION,
    description="Replace a text in a file of the workspace. `oldText` must stand in the file exactly once.",
    parameters=_object({"path": _PATH, "oldText": _OLD, "newText": _NEW}),
)
"""The tool as the release 2026.2 has it: one replacement a call."""


async def run(params: JsonObject, place: Place, command: Command | None = None) -> ToolOutcome:  # noqa: ARG001
    pairs = params.get("edits") or [params]
    if not all(isinstance(params.get("path"), str) and {"oldText", "newText"} <= each.keys() for each in pairs):
        # A snapshot that was published before the tool ran here holds no schema of it.
        return failed("params_incomplete", "`edit` needs `path` and `edits`, each with `oldText` and `newText`")
    edits = [{name: each[name] for name in ("oldText", "newText")} for each in pairs]
    return await run_file_order("edit", {"path": params["path"], "edits": edits}, place)
