"""Runs the firewall's own tools."""

import sys
from dataclasses import replace

from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action, Call
from apps.firewall.runtime.executors.keeping import CommandKeeper
from apps.firewall.sandbox.levels import offer
from apps.firewall.tools.background.ports import KeptCommand
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.definition import SandboxNeeds
from apps.firewall.tools.executors import BuiltinExecutor, ToolExecutor
from apps.firewall.tools.running import Command, Place, ToolOutcome
from apps.firewall.tools.sandboxing import Allowance, Sandbox, Terms


class BuiltinRunner:
    """Runs the tools of `apps.firewall.tools.catalog`; a plugin's tool is none of them, whatever it says of itself.

    Args:
        keeper: of commands that run on; without one every command runs in the foreground.
    """

    kind = BuiltinExecutor.kind

    def __init__(
        self, *, sandbox: Sandbox | None = None, python: str = sys.executable, keeper: CommandKeeper | None = None
    ) -> None:
        self._sandbox = sandbox or Sandbox(Allowance(), offer())
        self._python = python
        self._keeper = keeper

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        return tool.plugin is None and tool.name in BUILTINS

    def check(self, tool: ToolEntry) -> None:
        """Let through a tool that can have the sandbox it needs.

        Raises:
            SandboxRefusedError: it cannot.
        """
        self._terms(tool.name)

    async def command_kept(self, call: Call, session_id: str) -> KeptCommand | None:
        """Find a background command that a call may see; None where there is none."""
        return None if self._keeper is None else await self._keeper.command(call, session_id)

    async def run(
        self,
        action: Action,
        tool: ToolEntry,
        executor: ToolExecutor,  # noqa: ARG002
        workspace: str,
    ) -> ToolOutcome:
        place = place_of(self._terms(tool.name), workspace, self._python)
        place = replace(place, command_timeout_s=action.timing.get("timeout_s", 0))
        if self._keeper is not None:
            background, commands = self._keeper.background(action), self._keeper.commands(action)
            place = replace(place, background=background, commands=commands)
        command = None
        if action.argv is not None:
            command = Command(argv=tuple(action.argv), executable=action.executable, cwd=action.cwd, env=action.env)
        return await BUILTINS[tool.name].run(action.params, place, command)

    def _terms(self, name: str) -> Terms:
        needs = BUILTINS[name].definition.sandbox or command_needs(self._sandbox)
        return self._sandbox.terms(needs, prefers_isolation=True)


def command_needs(sandbox: Sandbox) -> SandboxNeeds:
    """Say what a command needs: the network where an admin allows it."""
    return SandboxNeeds(network=sandbox.allowance.network)


def place_of(terms: Terms, workspace: str, python: str) -> Place:
    """Make the place of a tool that is held to terms."""
    return Place(root=workspace, python=python, limits=terms.limits, wall_s=terms.wall_s, held=terms.held)
