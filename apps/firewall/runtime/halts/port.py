"""What the runtime asks of whoever knows the stops."""

from typing import Protocol

from apps.firewall.runtime.call import Call
from apps.firewall.runtime.halts.matching import Halt


class Halts(Protocol):
    """What people have stopped. Answers at once, from memory."""

    def meeting(self, call: Call, tool: str) -> Halt | None:
        """Tell the stop that a call of a tool meets now."""


class NoHalts:
    """The port `Halts` of whoever has no kill switch."""

    def meeting(self, call: Call, tool: str) -> Halt | None:  # noqa: ARG002
        return None
