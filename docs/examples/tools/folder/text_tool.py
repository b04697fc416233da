"""Tools as functions: the schema comes from the type hints, the descriptions from the docstrings."""

from typing import Literal

from openclaw_admin.tools import ToolContext, ToolError, tool


@tool(version="1.0.0", category="text", tags=["text"], permissions=["text:read"])
def count_words(text: str, unit: Literal["words", "characters", "lines"] = "words") -> dict[str, int | str]:
    """Count the words, characters or lines of a text.

    Args:
        text: the text to count in.
        unit: what to count.
    """
    counts = {"words": len(text.split()), "characters": len(text), "lines": len(text.splitlines())}
    return {"unit": unit, "count": counts[unit]}


@tool(
    name="pick_line",
    description="Give one line of a text by its number.",
    parameters={
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "The text."},
            "number": {"type": "integer", "minimum": 1, "description": "Which line, counted from 1."},
        },
        "required": ["text", "number"],
        "additionalProperties": False,
    },
    examples=[{"description": "The second line", "parameters": {"text": "a\nb", "number": 2}, "result": {"line": "b"}}],
)
async def pick_line(text: str, number: int, context: ToolContext) -> dict[str, str]:
    lines = text.splitlines()
    if number > len(lines):
        raise ToolError(f"the text has {len(lines)} lines: ask for 1 to {len(lines)}", code="line_missing")
    return {"line": lines[number - 1], "asked_by": str(context.session.get("agent_id", ""))}
