"""An MCP server over its streams: notes, each a file in the folder it works in.

Register it as a source of kind "MCP server (command)" with the command

    ["/path/to/venv/bin/python", "/path/to/notes_server.py"]

It needs no network. With a folder of its own the notes stay; without one they are gone when it is closed.
"""

import re
from pathlib import Path
from typing import Annotated

from mcp.server import MCPServer
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

FOLDER = Path.cwd()
ENDING = ".note.txt"

server = MCPServer("notes", title="Notes", version="1.0", instructions="Search before you add: a title names one note.")


class Note(BaseModel):
    """A note as a tool answers with it."""

    title: str
    text: str


def path_of(title: str) -> Path:
    name = re.sub(r"[^\w-]+", "-", title.casefold()).strip("-")
    if not name:
        raise ValueError("the title has no letters")
    return FOLDER / f"{name[:80]}{ENDING}"


@server.tool(annotations=ToolAnnotations(idempotent_hint=True))
def note_add(
    title: Annotated[
        str, Field(min_length=1, max_length=80, description="Names the note; the same title replaces it.")
    ],
    text: Annotated[str, Field(max_length=10_000, description="What to remember.")],
) -> Note:
    """Keep a note."""
    path_of(title).write_text(f"{title}\n{text}", encoding="utf-8")
    return Note(title=title, text=text)


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def note_search(
    words: Annotated[str, Field(min_length=1, description="Words that a note must hold, in any order.")],
) -> list[Note]:
    """Find notes that hold all of some words."""
    wanted = words.casefold().split()
    found = []
    for path in sorted(FOLDER.glob(f"*{ENDING}")):
        title, _, text = path.read_text(encoding="utf-8").partition("\n")
        if all(word in f"{title}\n{text}".casefold() for word in wanted):
            found.append(Note(title=title, text=text))
    return found


if __name__ == "__main__":
    server.run("stdio")
