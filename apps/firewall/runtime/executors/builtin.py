"""Runs the firewall's own tools."""

import sys

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action
from apps.firewall.sandbox.limits import Limits
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.executors import BuiltinExecutor, ToolExecutor
from apps.firewall.tools.running import Command, Place, ToolOutcome


class BuiltinRunner:
    """Runs the tools of `apps.firewall.tools.catalog`; a plugin's tool is none of them, whatever it says of itself."""

    kind = BuiltinExecutor.kind

    def __init__(self, *, limits: Limits | None = None, python: str = sys.executable) -> None:
        self._limits = limits or Limits()
        self._python = python

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return tool.plugin is None and tool.name in BUILTINS

    async def run(
        self,
        action: Action,
        tool: ToolEntry,
        executor: ToolExecutor,  # noqa: ARG002
        workspace: str,
    ) -> ToolOutcome:
        place = Place(root=workspace, python=self._python, limits=self._limits)
        command = None
        if action.argv is not None:
            command = Command(argv=tuple(action.argv), executable=action.executable, cwd=action.cwd)
        return await BUILTINS[tool.name].run(action.params, place, command)
