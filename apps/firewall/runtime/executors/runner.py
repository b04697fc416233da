"""What each kind of executor offers to the dispatch."""

from typing import Protocol, runtime_checkable

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.tools.executors import ToolExecutor
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
