"""The tool `fs_read`: a file, or a part of it, in an encoding of the caller's choice."""

from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.file_orders import run_in_folder
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.work import Work

ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "ascii", "latin-1", "cp1252"),
    *("gb18030", "gbk", "big5", "shift_jis", "euc_jp", "euc_kr", "koi8-r", "base64"),
)
DEFINITION = Definition(
    name="fs_read",
    result_limit=400_000,  # a whole part of a file: it states its own cut
    label="Read a file",
    description=(
        "Read a file of the workspace, or of a folder that is open to you: text in an encoding, or with `base64` the "
        "bytes of any file. Long files come in parts: ask again with `next_offset` as `offset`."
    ),
    section="fs",
    parameters={
        "type": "object",
        "properties": {
            "path": {
                "type": "string",
                "minLength": 1,
                "maxLength": 4096,
                "description": "File to read: relative to the workspace, or an absolute path in an open folder.",
            },
            "encoding": {
                "type": "string",
                "enum": list(ENCODINGS),
                "default": "utf-8",
                "description": "Encoding of the text; `base64` for files that are no text.",
            },
            "offset": {
                "type": "integer",
                "minimum": 1,
                "description": "First line to return, or with `base64` first byte, counted from 1.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": 100000,
                "description": "Lines to return at most, or with `base64` bytes.",
            },
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)


async def run(params: JsonObject, work: Work) -> ToolOutcome:
    return await run_in_folder("read_encoded", params, work)
