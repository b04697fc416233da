"""A command that its call waits for, and leaves when that took long enough."""

import asyncio
from collections.abc import Callable
from typing import Final

from apps.firewall.errors import FirewallError
from apps.firewall.sandbox.process import ProcessResult
from apps.firewall.tools.background.held import HeldCommand, Start
from apps.firewall.tools.background.ports import Background, Slot
from apps.firewall.tools.background.view import View
from apps.firewall.tools.progress import OutputTail
from apps.firewall.tools.running import ToolOutcome, failed

TAIL: Final = 2_000


async def run_in_background(
    background: Background, start: Start, finished: Callable[[ProcessResult], ToolOutcome]
) -> ToolOutcome:
    """Run a command as long as its call waits for it, then have it kept.

    Cancelling ends the whole tree until the command is kept; from then on its call has no power over it.

    Args:
        finished: makes the outcome of one that ended while it was waited for.
    """
    terms = background.terms
    try:
        slot = await background.reserve()
    except FirewallError as exc:
        return failed(exc.code, exc.message)
    held = HeldCommand(start, has_terminal=terms.has_terminal, news=OutputTail().watch)
    try:
        ended = await held.wait(terms.foreground_s)
        if ended is None:
            held.let_go()
            return ToolOutcome(result=_running(slot, await slot.keep(held), terms.time_limit_s))
    except BaseException:
        await asyncio.shield(_drop(held, slot))
        raise
    await slot.release()
    return finished(ended)


async def _drop(held: HeldCommand, slot: Slot) -> None:
    await held.end()
    await slot.release()


def _running(slot: Slot, view: View, time_limit_s: int) -> dict[str, object]:
    return {
        "status": "running",
        "sessionId": slot.session_id,
        "tail": tail_of(view),
        "timeout": time_limit_s,
        "hint": "It runs on: use `process` with this sessionId to poll, log, write or kill.",
    }


def tail_of(view: View, limit: int = TAIL) -> str:
    """Give the last lines of an output."""
    if len(view.text) <= limit:
        return view.text
    line = view.text.find("\n", len(view.text) - limit)
    return view.text[line + 1 if line >= 0 else len(view.text) - limit :]
