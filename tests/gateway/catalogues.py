"""Catalogues for runs: plugins with as many tools as wanted, each of which runs and says what it was given."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.firewall.engine.policy import Policy
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.tools.catalog import BUILTINS

CODE = '''
"""Answers with what it was given."""

from openclaw_admin.tools import tool


@tool
def answer(**given: object) -> dict:
    """Answer with what it was given."""
    return {"given": given}
'''

SUBJECTS = (
    "invoice",
    "ticket",
    "customer",
    "shipment",
    "campaign",
    "employee",
    "meeting",
    "contract",
    "server",
    "report",
)
DEEDS = ("create", "list", "update", "archive", "export", "approve")


def tool_entry(name: str, folder: str, description: str, *, plugin: str | None = "crm", **more: Any) -> ToolEntry:
    """Make a tool that runs."""
    params = more.pop("params", None) or {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": f"What the {name.replace('_', ' ')} is about, in a few words."},
            "amount": {
                "type": "integer",
                "minimum": 0,
                "description": "How much of it, in whole units of the currency.",
            },
            "notes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Anything else worth keeping with it.",
            },
            "urgency": {
                "type": "string",
                "enum": ["low", "normal", "high"],
                "description": "How soon it has to be done.",
            },
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    return ToolEntry(
        name,
        plugin=plugin,
        description=description,
        params=params,
        source=more.pop("source", "plugin"),
        executor={"kind": "python", "file": f"{folder}/answering.py", "attribute": "answer", "folder": folder},
        **more,
    )


def plugin_tools(folder: str, count: int) -> list[ToolEntry]:
    """Make so many tools of the plugin `crm`; the first is `invoice_create`."""
    made = []
    for place in range(count):
        subject, deed = SUBJECTS[place // len(DEEDS) % len(SUBJECTS)], DEEDS[place % len(DEEDS)]
        more = place // (len(SUBJECTS) * len(DEEDS))
        name = f"{subject}_{deed}{f'_{more}' if more else ''}"
        words = f"{deed.capitalize()} one {subject} in the books of department {more}, with all that belongs to it."
        made.append(tool_entry(name, folder, words))
    return made


def snapshot_of(
    tools: Sequence[ToolEntry],
    *,
    search: Any = None,
    deny: Sequence[str] = (),
    dialect: str = "2026.9",
    settings: Mapping[str, Any] | None = None,
    with_core: bool = True,
) -> Snapshot:
    """Make a snapshot in which `bot` and `clerk` have core tools and these; `deny` is the list of `bot`."""
    core = [ToolEntry(name, params=tool.definition.parameters) for name, tool in BUILTINS.items()] if with_core else []
    block = {} if search is None else {"toolSearch": search}
    return build_snapshot(
        SnapshotSource(
            environment="production",
            dialect=dialect,
            tools=[*core, *tools],
            agents=[AgentSource("bot", policy=Policy(allow=None, deny=tuple(deny))), AgentSource("clerk")],
            settings={**(settings or {}), **block},
            exec_approvals={"agents": {"*": {"allowlist": [{"pattern": "/**/echo"}]}}},
        )
    )
