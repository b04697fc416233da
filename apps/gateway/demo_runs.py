"""Runs for demonstrations: an agent that brings many tools of its own, and finds them by searching.

The tools are the caller's: it says itself what became of each call.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import httpx

SUBJECTS: Final = {
    "invoice": "Bills that were sent to customers of the forwarding business.",
    "shipment": "Goods on their way from a shipper to a consignee.",
    "carrier": "Companies whose trucks, ships and planes take the goods.",
    "customs_entry": "Declarations of goods to the customs of a country.",
    "warehouse_slot": "Places on the shelves of a warehouse, and what lies there.",
    "complaint": "What customers say went wrong, and what was done about it.",
    "driver": "People who drive, with their licences and rest times.",
    "quotation": "Prices that were offered for moving goods.",
}
DEEDS: Final = {
    "create": "Adds a new one, with all that belongs to it.",
    "find": "Looks for some by their number, date, place or words.",
    "update": "Changes members of one that is there.",
    "archive": "Takes one out of the daily lists; it can be found later.",
    "export": "Writes a list of them as a table for another program.",
    "assign": "Gives one to a colleague, who is told of it.",
}
CHINESE: Final = ("查询运单", "按运单号查询货物的位置和预计到达时间。")


@dataclass(frozen=True, slots=True)
class Ask:
    """One thing that the agent of a run does: it searches, and calls what it had in mind.

    Args:
        tool: what it calls by then; empty where it calls nothing.
    """

    query: str
    tool: str = ""


TASKS: Final[tuple[tuple[str, tuple[Ask, ...]], ...]] = (
    (
        "Bill last week's deliveries",
        (Ask("create a bill for a customer", "invoice_create"), Ask("fly to the moon")),
    ),
    (
        "Where is the load to Malmö?",
        (Ask("look for goods on their way", "shipment_find"), Ask("查询运单", "waybill_query")),
    ),
    (
        "A customer is angry",
        (Ask("write down what went wrong", "complaint_create"), Ask("give it to a colleague", "complaint_assign")),
    ),
    ("Plan the night shift", (Ask("people who can drive tonight", "driver_find"), Ask("brew coffee"))),
    ("Read the notes", (Ask("show a text file", "read"),)),
)


def demo_tools() -> list[dict[str, Any]]:
    """Give the definitions of the tools that the agent brings."""
    made = [
        _tool(f"{subject}_{deed}", f"{does} {what}", subject)
        for subject, what in SUBJECTS.items()
        for deed, does in DEEDS.items()
    ]
    return [*made, _tool("waybill_query", " ".join(CHINESE), "waybill")]


def demo_run(client: httpx.Client, agent: str, number: int) -> Iterator[tuple[str, str]]:
    """Make one run; gives what it did and what came of it, step by step."""
    task, asks = TASKS[number % len(TASKS)]
    body = {"agent": agent, "session": f"agent:{agent}:main", "provider": "anthropic", "model": "demo", "task": task}
    begun = client.post("/api/v1/runs", json={**body, "tools": demo_tools()})
    if begun.status_code != 201:
        yield "run", f"{begun.status_code} {begun.json().get('code', '')}"
        return
    run = begun.json()
    yield "run", f"{run['mode']}: {run['bytes']['offered']} of {run['bytes']['direct']} bytes"
    path = f"/api/v1/runs/{run['id']}"
    for ask in asks:
        found = client.post(f"{path}/tools/search", json={"query": ask.query, "limit": 5}).json()
        hits = (found.get("result") or {}).get("candidates") or []
        yield "tool_search", f"{len(hits)} found: {ask.query}"
        if ask.tool:
            yield ask.tool, _called(client, path, ask)
    client.post(f"{path}/end", json={"outcome": "completed"})


def _called(client: httpx.Client, path: str, ask: Ask) -> str:
    arguments = {"path": "notes/today.md"} if ask.tool == "read" else {"reference": "DEMO-1"}
    called = client.post(f"{path}/tools/call", json={"id": ask.tool, "args": arguments}).json()
    if called.get("status") == "client_call":
        client.post(f"{path}/tools/outcome", json={"call": called["id"], "result": {"done": True}})
        return "reported"
    return str(called.get("status") or called.get("code"))


def _tool(name: str, description: str, subject: str) -> dict[str, Any]:
    members = {
        "reference": {"type": "string", "description": f"Number of the {subject.replace('_', ' ')}."},
        "words": {"type": "string", "description": "Words that it is about."},
        "since": {"type": "string", "format": "date", "description": "The first day that counts."},
        "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "How many at most."},
    }
    return {"name": name, "description": description, "parameters": {"type": "object", "properties": members}}
