"""What the page of coverage says of each way to run a call."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.gateway.doors import Door, doors, is_running

NAMES: Final[dict[str, tuple[Promise, str]]] = {
    "calls": (_("Calls over REST"), "POST /api/v1/calls"),
    "turns": (_("Turns of a model"), "POST /api/v1/turns"),
    "async": (_("Asynchronous calls"), "POST /api/v1/calls, mode async"),
    "trial": (_("Try it on a tool's page"), "/tools/…/try/"),
    "runs": (_("Runs with tool search"), "POST /api/v1/runs/…/tools/call"),
    "mcp_server": (_("MCP server"), "POST /api/v1/mcp"),
    "openclaw": (_("Plugin of OpenClaw Gateways"), "POST /api/v1/openclaw/calls"),
    "rpc": (_("Approvals over RPC"), "POST /api/v1/rpc/exec.approval.request"),
    "mcp": (_("Tools of MCP servers"), "POST /api/v1/calls"),
    "background": (_("Background commands"), "exec, background"),
}
STATES: Final[dict[str, tuple[str, str, Promise]]] = {
    "recorded": ("ok", "allow", _("Recorded")),
    "missing": ("bad", "deny", _("Not recorded")),
    "failed": ("warn", "ask", _("The probe failed")),
    "running": ("warn", "ask", _("Being tried")),
    "never": ("off", "", _("Never probed")),
}
REASONS: Final[dict[str, Promise]] = {
    "not_yet": _("Nobody has tried it yet."),
    "no_worker": _("No worker took the probe."),
    "refused": _("The probe was refused, and the refusal is on record."),
}
MISSING: Final[dict[str, Promise]] = {
    "intent": _("its beginning is missing"),
    "outcome": _("its end is missing"),
    "request": _("the request is missing"),
    "decision": _("the decision is missing"),
    "end": _("the end of its command is missing"),
    "hash": _("an entry does not match its digest"),
    "link": _("an entry is not linked to the one before it"),
}


@dataclass(frozen=True, slots=True)
class ShownDoor:
    """One line of the page."""

    door: Door
    label: Promise
    path: str
    dot: str
    css: str
    state: Promise
    reasons: tuple[Promise | str, ...]


def page_of(at: datetime) -> dict[str, Any]:
    """Gather every door."""
    found = doors(at)
    shown = [_shown(door) for door in found]
    return {
        "doors": shown,
        "is_running": is_running(found),
        "tried": sum(door.probe is not None and door.state != "running" for door in found),
        "all_tried": sum(door.probe is not None for door in found),
        "missing": [each for each in shown if each.door.state == "missing"],
    }


def _shown(door: Door) -> ShownDoor:
    label, path = NAMES[door.name]
    dot, css, state = STATES[door.state]
    return ShownDoor(door, label, path, dot, css, state, _reasons(door))


def _reasons(door: Door) -> tuple[Promise | str, ...]:
    if door.state == "missing":
        return tuple(MISSING.get(code, code) for code in door.why.split(", "))
    return (REASONS.get(door.why, door.why),) if door.why else ()
