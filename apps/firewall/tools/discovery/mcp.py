"""Looks through an MCP server: each tool it lists becomes one of ours, named `<server>__<tool>`.

Names are made as OpenClaw makes them: other letters than `a-z0-9_-` become `-`, a part that would not begin with a
letter gets one before it, the server's part has at most 30 letters and the whole name 64, and a name that is taken
gets a number at its end.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Final

from apps.firewall.errors import FirewallError
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.definition_json import DefinitionInvalidError, read_definition
from apps.firewall.tools.discovery.found import Failure, Found, Look
from apps.firewall.tools.executors import McpExecutor
from apps.firewall.tools.mcp.errors import McpError
from apps.firewall.tools.mcp.sessions import opened, start_limit_s
from apps.firewall.tools.own_formats import with_packaged_formats
from apps.firewall.tools.remote_json import plain_text

LIST_S: Final = 30.0
SERVER_LETTERS: Final = 30
NAME_LETTERS: Final = 64
KEY_LETTERS: Final = 128
FACT_LETTERS: Final = 200
INSTRUCTION_LETTERS: Final = 2_000
DESCRIPTION_LETTERS: Final = 20_000
DEPTH_LIMIT: Final = 64
SECTION: Final = "mcp"
NOWHERE: Final = "mcp"
TOOL: Final = "tool"

_UNSAFE: Final = re.compile(r"[^a-z0-9_-]")
_HINTS: Final[Mapping[str, str]] = {
    "readOnlyHint": "read-only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open-world",
}
"""What a server says of how a tool behaves -> our tag for it."""


async def look_mcp(connection: Connection) -> Look:
    """Ask a server for its tools, all pages; the server is started, or its address opened, and left again.

    A tool that is badly made is broken by itself. `facts` of each hold what the server says of itself.
    """
    try:
        async with opened(connection, timeout_s=start_limit_s(connection)) as client:
            listed = await client.tools(timeout_s=LIST_S)
            facts, remarks = client.facts, client.remarks
    except McpError as exc:
        return Look(failure=Failure(stage="discover", code=exc.code, message=exc.message))
    about = {
        "server": plain_text(facts.title or facts.name, FACT_LETTERS),
        "server_version": plain_text(facts.version, FACT_LETTERS),
        "protocol": plain_text(facts.protocol, FACT_LETTERS),
        "instructions": plain_text(facts.instructions, INSTRUCTION_LETTERS),
        "remarks": plain_text(remarks, INSTRUCTION_LETTERS),
    }
    shown = {name: text for name, text in about.items() if text}
    named = zip(listed, policy_names(connection, listed), strict=True)
    return Look(found=tuple(_found(tool, name, connection, shown) for tool, name in named))


def server_prefix(server: str) -> str:
    """Give what the names of a server's tools begin with, before the two underscores.

    Source: the shipped release 2026.9.6, `sanitizeServerName`: rules name tools by it.
    """
    return _safe(server, NOWHERE)[:SERVER_LETTERS]


def policy_names(connection: Connection, listed: Iterable[Any]) -> Iterator[str]:
    """Name tools in the order of a listing, each name once; empty for what has no name of its own."""
    taken: set[str] = set()
    for tool in listed:
        own = tool.get("name") if isinstance(tool, Mapping) else None
        if not isinstance(own, str) or not own.strip():
            yield ""
            continue
        base = f"{server_prefix(connection.source)}__{_safe(own, TOOL)}"[:NAME_LETTERS]
        name = next(each for each in _numbered(base) if each not in taken)
        taken.add(name)
        yield name


def _safe(text: str, kind: str) -> str:
    plain = _UNSAFE.sub("-", text.strip().lower()) or kind
    return plain if plain[0].isalpha() else f"{kind}-{plain}"


def _numbered(base: str) -> Iterator[str]:
    yield base
    for number in count(2):
        ending = f"-{number}"
        yield f"{base[: NAME_LETTERS - len(ending)]}{ending}"


class _BrokenToolError(FirewallError):
    """Why an entry of a listing is no tool."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _found(tool: Any, name: str, connection: Connection, about: Mapping[str, Any]) -> Found:
    own = tool.get("name") if isinstance(tool, Mapping) else None
    key = plain_text(own, KEY_LETTERS) or "a tool without a name"
    try:
        document = _document(tool, name)
        definition = with_packaged_formats(read_definition(document))
    except _BrokenToolError as exc:
        return Found(key=key, failure=Failure(stage="verify", code=exc.code, message=exc.message), facts=about)
    except DefinitionInvalidError as exc:
        details = "; ".join(f"{each['path']}: {each['message']}" for each in exc.details[:5])
        return Found(key=key, failure=Failure(stage="verify", code=exc.code, message=details), facts=about)
    return Found(
        key=key,
        definition=definition,
        executor=McpExecutor(source=connection.source, tool=str(own)),
        facts={**about, "name_there": key},
    )


def _document(tool: Any, name: str) -> dict[str, Any]:
    """Write what a server lists in the words of our definitions."""
    if not isinstance(tool, Mapping):
        raise _BrokenToolError("definition_invalid", "the entry is no object")
    if not name:
        raise _BrokenToolError("definition_invalid", "name: is required")
    problem = _unfit(tool)
    if problem:
        raise _BrokenToolError("definition_invalid", problem)
    stated = tool.get("annotations")
    hints: Mapping[str, Any] = stated if isinstance(stated, Mapping) else {}
    tags = [tag for hint, tag in _HINTS.items() if hints.get(hint) is True]
    if not isinstance(tool.get("inputSchema"), Mapping):
        raise _BrokenToolError("definition_invalid", "inputSchema: must be an object")
    return {
        "name": name,
        "label": plain_text(tool.get("title") or hints.get("title") or tool.get("name"), FACT_LETTERS),
        "description": tool.get("description") or "",
        "section": SECTION,
        "parameters": tool["inputSchema"],
        "output": tool.get("outputSchema"),
        "idempotent": hints.get("idempotentHint") is True,
        "tags": tags,
    }


def _unfit(tool: Mapping[str, Any]) -> str:
    """Say what is too much about an entry; empty when nothing is."""
    description = tool.get("description")
    if isinstance(description, str) and len(description) > DESCRIPTION_LETTERS:
        return f"description: has {len(description)} letters, {DESCRIPTION_LETTERS} are allowed"
    level: list[Any] = [tool]
    for _ in range(DEPTH_LIMIT):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return ""
    return f"it is nested deeper than {DEPTH_LIMIT} levels"


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return (*value.keys(), *value.values())
    return value if isinstance(value, list) else ()
