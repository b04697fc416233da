"""The server of `bench.tools_listing`: the agents' door over a snapshot with 500 tools that one agent may use.

Run as `uvicorn bench._tools_app:door`.
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from typing import Any  # noqa: E402 - Django must be set up first

from apps.firewall.engine.policy import Policy  # noqa: E402
from apps.firewall.engine.snapshot import build_snapshot  # noqa: E402
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry  # noqa: E402
from bench import _gateway_doors as doors  # noqa: E402

TOOLS = 500


def entry(number: int) -> ToolEntry:
    """Make a tool of six parameters, a little different from every other; each tenth has a name to be changed."""
    params: dict[str, Any] = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 4096, "description": f"File {number}."},
            "query": {"type": "string", "pattern": "^[a-z ]+$", "description": "What to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50},
            "mode": {"anyOf": [{"const": "fast"}, {"const": f"exact-{number}"}, {"type": "null"}]},
            "tags": {"type": "array", "items": {"type": "string", "format": "uri"}, "maxItems": 20},
            "dry_run": {"type": "boolean"},
        },
        "required": ["path", "query"],
        "additionalProperties": False,
    }
    name = f"server.tool_{number}" if number % 10 == 0 else f"server__tool_{number}"
    return ToolEntry(name, description=f"Search a file for what is asked, in way {number} of many.", params=params)


doors.LIVE = build_snapshot(
    SnapshotSource(
        environment="production",
        tools=[entry(number) for number in range(TOOLS + 20)],
        agents=[
            AgentSource("agent-0", policy=Policy(deny=tuple(f"server__tool_5{number:02}" for number in range(22))))
        ],
    )
)
doors.LIVE.engine  # noqa: B018 - compiled before the first request, as after a publication
door = doors.door
