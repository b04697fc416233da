"""Whether people have stopped such calls: asked once the tool may be seen, and once more right before it runs."""

from dataclasses import replace
from typing import Final

from apps.firewall.runtime.halts.matching import Halt
from apps.firewall.runtime.hooks import ApprovalWish
from apps.firewall.runtime.stages.run import Run

LAYER: Final = "kill_switch"
CODE: Final = "stopped"
ASKER: Final = "kill switch"
"""No plugin has such a name."""

ONCE: Final = ("allow-once", "deny")
WAIT_MS: Final = 30 * 60 * 1000
WHAT: Final = {
    "environment": "all calls are stopped",
    "agent": "calls of the agent `{}` are stopped",
    "channel": "calls from the channel `{}` are stopped",
    "tool": "calls of `{}` are stopped",
}


async def halt_stage(run: Run) -> None:
    """Refuse a call that is stopped."""
    halt = run.ports.halts.meeting(run.call, run.tool_name)
    if halt is not None and halt.state == "stopped":
        raise run.refuse(CODE, told(halt), layer=LAYER, rule=halt.rule)


async def halt_ask_stage(run: Run) -> None:
    """Have a person asked about every call while a stop is on its way back; no standing answer counts for it."""
    halt = run.ports.halts.meeting(run.call, run.tool_name)
    if halt is None or halt.state != "asking":
        return
    if run.approved is None:
        run.wish = _wish(run, halt)
    elif run.approval_id is None:
        message = f"since it was queued every call needs a person's approval: {told(halt)}"
        raise run.refuse(CODE, message, layer=LAYER, rule=halt.rule)


def _wish(run: Run, halt: Halt) -> ApprovalWish:
    """Ask in our own name, with the words of a plugin that wanted to ask, too."""
    words = f"{told(halt)}; on the way back every call waits for a person"
    if run.wish is not None:
        description = f"{run.wish.description}\n{words}" if run.wish.description else words
        decisions = tuple(each for each in run.wish.decisions if each in ONCE)
        return replace(run.wish, plugin=ASKER, description=description, decisions=decisions)
    title = f"{run.tool_name}: every call asks after a stop"
    return ApprovalWish(
        plugin=ASKER, title=title, description=words, severity="warning", timeout_ms=WAIT_MS, decisions=ONCE
    )


def told(halt: Halt) -> str:
    """Say what is stopped and why, for agents and people."""
    what = WHAT[halt.scope].format(halt.name)
    return f"{what}: {halt.reason}" if halt.reason else what
