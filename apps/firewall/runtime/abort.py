"""Ending a call before it has finished, and who wanted it."""

import asyncio
from dataclasses import dataclass
from typing import Literal

from apps.firewall.runtime.call import CallResult

Reason = Literal["cancelled", "disconnected", "code_ended", "stopped"]
MESSAGES: dict[Reason, str] = {
    "cancelled": "cancelled by {by}",
    "disconnected": "its caller {by} went away before it was answered",
    "code_ended": "the code that called it ended before it was answered",
    "stopped": "stopped by {by} with the kill switch",
}


@dataclass(slots=True)
class Abort:
    """The wish to end one call: whoever holds the call's task asks here, then cancels the task."""

    by: str = ""
    reason: Reason = "cancelled"
    is_asked: bool = False

    def ask(self, *, by: str, reason: Reason = "cancelled") -> None:
        """Ask for the end; the first who asks is the one on record.

        Args:
            by: who, as audit names actors.
        """
        if not self.is_asked:
            self.by, self.reason, self.is_asked = by, reason, True

    @property
    def error(self) -> dict[str, str]:
        """What the outcome says. The kind of the actor is left out: maskers take `token:…` for a secret."""
        name = self.by.rpartition(":")[2] or "the system"
        return {"code": self.reason, "message": MESSAGES[self.reason].format(by=name)}


class CallAbortedError(asyncio.CancelledError):
    """A call was ended because somebody asked for it; its processes are gone and its outcome is on record.

    It is a cancellation, so that whatever waits for the call inside a group of tasks ends as well.
    """

    def __init__(self, result: CallResult) -> None:
        super().__init__(f"the call was {result.status}")
        self.result = result
