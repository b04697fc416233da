"""The living example of a server that is a process."""

import sys
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import Connection
from apps.firewall.tools.discovery.mcp import look_mcp
from apps.firewall.tools.executors import McpExecutor
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.firewall.tools.mcp_tool import run_mcp_tool
from apps.firewall.tools.running import ToolOutcome

NOTES = str(Path(__file__).parents[4] / "docs/examples/mcp/notes_server.py")

pytestmark = pytest.mark.unhurried


@pytest.mark.slow
async def test_notes_are_kept_in_the_folder_and_found_again(tmp_path: Path) -> None:
    connection = Connection(source="notes", kind="mcp_stdio", command=(sys.executable, NOTES), cwd=str(tmp_path))
    look = await look_mcp(connection)
    definitions = {each.key: each.definition for each in look.found}
    sessions = McpSessions()

    async def call(tool: str, **params: Any) -> ToolOutcome:
        definition = definitions[tool]
        assert definition is not None
        executor = McpExecutor(source="notes", tool=tool)
        return await run_mcp_tool(
            executor, definition, params, connection=connection, timeout_ms=10_000, sessions=sessions
        )

    added = await call("note_add", title="Milk", text="Two litres.")
    found = await call("note_search", words="litres milk")
    wrong = await call("note_add", title="", text="x")
    await sessions.close()

    assert [each.definition.name for each in look.found if each.definition] == ["notes__note_add", "notes__note_search"]
    assert added.ended == "completed"
    assert found.result is not None
    assert found.result["structuredContent"] == {"result": [{"title": "Milk", "text": "Two litres."}]}
    assert wrong.ended == "failed"
    assert [each.name for each in tmp_path.iterdir()] == ["milk.note.txt"]
