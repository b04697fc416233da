"""What each kind of executor offers to the dispatch."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action, Call
from apps.firewall.tools.executors import ToolExecutor
from apps.firewall.tools.own_formats import Texts
from apps.firewall.tools.running import ToolOutcome


class Runner(Protocol):
    """Runs the tools of one kind (`kind` is a key of `tools.executors.KINDS`)."""

    @property
    def kind(self) -> str:
        """The kind of executor it serves."""

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:
        """Say whether this tool can run here."""

    async def run(self, action: Action, tool: ToolEntry, executor: ToolExecutor, workspace: str) -> ToolOutcome:
        """Run an action; cancelling it ends every process and request of it first.

        Args:
            executor: of the runner's own kind.
            workspace: real path of the folder of the call's agent.
        """


@runtime_checkable
class ConfiningRunner(Protocol):
    """A runner whose tools run in processes of this machine."""

    def check(self, tool: ToolEntry) -> None:
        """Let through a tool that can have the sandbox it needs.

        Raises:
            SandboxRefusedError: it cannot.
            CodeChangedError: its code is not the one that was accepted.
        """


@runtime_checkable
class CheckingRunner(Protocol):
    """A runner that runs authors' code, the checks of their formats among it."""

    async def check_formats(
        self, call: Call, tool: ToolEntry, executor: ToolExecutor | None, texts: Texts
    ) -> Sequence[bool]:
        """Say of each text whether it has its format.

        Args:
            executor: what runs the tool; of another kind than the runner's where packages bring the formats.
        Raises:
            FormatUncheckedError: nothing can tell.
        """
