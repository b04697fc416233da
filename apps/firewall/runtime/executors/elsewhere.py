"""Fills the port `Executor` for calls that another machine runs: it is told to, and what it reports is the outcome."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Protocol

from apps.firewall.engine.exec_policy.reads import Bound, Reads
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action, Call, JsonObject
from apps.firewall.runtime.executors.sendable import sendable
from apps.firewall.tools.background.ports import KeptCommand
from apps.firewall.tools.own_formats import FormatUncheckedError, Texts
from apps.firewall.tools.running import ToolOutcome

SERVER_STOPPED = {
    "code": "server_stopped",
    "message": "the firewall stopped listening before the other machine reported how it ended",
}


class UnseenFiles:
    """Files of a machine that we cannot see: every program may be there, and nobody knows which file it is."""

    def is_program(self, path: str) -> bool:  # noqa: ARG002
        return True

    def real_path(self, path: str) -> str:  # noqa: ARG002
        return ""


class Reports(Protocol):
    """What the other machine is told, and what it tells."""

    async def outcome(self, action: Action) -> ToolOutcome:
        """Tell the machine that it may run an action, and wait for its report.

        Returns:
            What it reported; `unknown` when it no longer can, or did not in time.
        """


class Elsewhere:
    """Runs nothing itself. It sees no file of the other machine, and holds nothing in a sandbox there."""

    def __init__(self, reports: Reports) -> None:
        self.files = UnseenFiles()
        self._reports = reports

    def runs(self, tool: ToolEntry) -> bool:  # noqa: ARG002
        return True

    def check(self, tool: ToolEntry) -> None:
        """Have no sandbox to check: what holds the tool is the other machine's matter."""

    async def check_space(self, call: Call, tool: ToolEntry) -> None:
        """Let everything through: what it writes lies on the other machine."""

    def workspace(self, call: Call) -> str:  # noqa: ARG002
        return ""

    def workdir(self, call: Call, params: JsonObject) -> str:  # noqa: ARG002
        wanted = params.get("workdir")
        return wanted if isinstance(wanted, str) else ""

    def identities(self, executable: str, argv: Sequence[str], cwd: str) -> dict[str, str]:  # noqa: ARG002
        return {}

    def bound(
        self,
        action: Action,  # noqa: ARG002
        words: Sequence[str],  # noqa: ARG002
        reads: Reads,  # noqa: ARG002
        recorded: Mapping[str, str] | None = None,  # noqa: ARG002
    ) -> Bound:
        return Bound({})

    async def command_kept(self, call: Call, session_id: str) -> KeptCommand | None:  # noqa: ARG002
        return None

    async def check_formats(self, call: Call, tool: ToolEntry, texts: Texts) -> Sequence[bool]:  # noqa: ARG002
        raise FormatUncheckedError("formats of a tool's author are checked on the other machine")

    async def run(self, action: Action, tool: ToolEntry) -> ToolOutcome:  # noqa: ARG002
        try:
            return sendable(await self._reports.outcome(action))
        except asyncio.CancelledError:
            # Nothing can be ended from here: it may run on, so nobody knows what was done.
            return ToolOutcome(ended="unknown", error=SERVER_STOPPED)
