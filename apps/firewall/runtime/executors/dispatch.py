"""Picks what runs a tool by the executor that its record names."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from apps.firewall.engine.exec_policy.reads import Bound, Reads
from apps.firewall.engine.source import ToolEntry
from apps.firewall.runtime.call import Action, Call, JsonObject
from apps.firewall.runtime.executors.bound_files import bound_files
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.identifying import identities
from apps.firewall.runtime.executors.runner import CheckingRunner, ConfiningRunner, Runner
from apps.firewall.runtime.executors.sendable import sendable
from apps.firewall.runtime.executors.workspaces import HostFiles, Workspaces
from apps.firewall.sandbox.space import Space, SpaceRefusedError
from apps.firewall.tools.background.ports import KeptCommand
from apps.firewall.tools.catalog import BUILTINS
from apps.firewall.tools.executors import (
    BuiltinExecutor,
    ConfiguredExecutor,
    ExecutorInvalidError,
    PythonExecutor,
    ToolExecutor,
    read_executor,
)
from apps.firewall.tools.own_formats import FormatUncheckedError, Texts
from apps.firewall.tools.running import ToolOutcome, failed

WRITING: Final = frozenset({"apply_patch", "edit", "exec", "write"})
WRITING_CONFIGURED: Final = frozenset({"browser_navigate", "browser_screenshot", "fs_write", "shell_execute"})


class Executors:
    """Fills the port `Executor` with one runner for each kind.

    Args:
        space: says whether there is room for what calls write; None where nothing is counted.
    """

    def __init__(self, workspaces: Workspaces, runners: Iterable[Runner], space: Space | None = None) -> None:
        self.files = HostFiles()
        self._space = space
        self._workspaces = workspaces
        self._runners = {runner.kind: runner for runner in runners}

    def runs(self, tool: ToolEntry) -> bool:
        return self._pick(tool) is not None

    def check(self, tool: ToolEntry) -> None:
        picked = self._pick(tool)
        if picked is not None and isinstance(picked[0], ConfiningRunner):
            picked[0].check(tool)

    async def check_space(self, call: Call, tool: ToolEntry) -> None:
        picked = self._pick(tool)
        if self._space is not None and picked is not None and writes_files(tool, picked[1]):
            await asyncio.to_thread(self._space.check, self.workspace(call))

    def workspace(self, call: Call) -> str:
        return self._workspaces.workspace(call)

    def workdir(self, call: Call, params: JsonObject) -> str:
        return self._workspaces.workdir(call, params)

    def identities(self, executable: str, argv: Sequence[str], cwd: str) -> dict[str, str]:
        return identities(executable, argv, cwd)

    def bound(
        self, action: Action, words: Sequence[str], reads: Reads, recorded: Mapping[str, str] | None = None
    ) -> Bound:
        workspace = self._workspaces.workspace(action.call())
        words = (*(action.argv or ()), *words)
        return bound_files(action.executable, words, reads, workspace=workspace, recorded=recorded)

    async def command_kept(self, call: Call, session_id: str) -> KeptCommand | None:
        runner = self._runners.get(BuiltinExecutor.kind)
        return await runner.command_kept(call, session_id) if isinstance(runner, BuiltinRunner) else None

    async def check_formats(self, call: Call, tool: ToolEntry, texts: Texts) -> Sequence[bool]:
        runner: object = self._runners.get(PythonExecutor.kind)
        if not isinstance(runner, CheckingRunner):
            raise FormatUncheckedError("no authors' code runs here, so nothing checks the formats of the tool's author")
        return await runner.check_formats(call, tool, executor_of(tool), texts)

    async def run(self, action: Action, tool: ToolEntry) -> ToolOutcome:
        picked = self._pick(tool)
        if picked is None or action.tool != tool.name:
            return failed("no_executor", f"the tool `{action.tool}` cannot run here")
        runner, executor = picked
        try:
            await self.check_space(action.call(), tool)  # it may have waited long since it was judged
        except SpaceRefusedError as exc:
            return failed(exc.code, exc.message)
        return sendable(await runner.run(action, tool, executor, self._workspaces.workspace(action.call())))

    def _pick(self, tool: ToolEntry) -> tuple[Runner, ToolExecutor] | None:
        executor = executor_of(tool)
        if executor is None:
            return None
        runner = self._runners.get(executor.kind)
        return (runner, executor) if runner is not None and runner.runs(tool, executor) else None


def writes_files(tool: ToolEntry, executor: ToolExecutor) -> bool:
    """Say whether a tool may write to this machine's disks; authors' code may do anything."""
    if isinstance(executor, ConfiguredExecutor):
        return executor.tool in WRITING_CONFIGURED
    return isinstance(executor, PythonExecutor) or (isinstance(executor, BuiltinExecutor) and tool.name in WRITING)


def executor_of(tool: ToolEntry) -> ToolExecutor | None:
    """Tell what runs a tool; None for one that has nothing, or that a record describes wrongly.

    The firewall's own tools need no record of it. Nothing else may run under one of their names: rules about
    commands and files go by these.
    """
    if tool.name in BUILTINS:
        own = tool.plugin is None and (tool.executor or {"kind": BuiltinExecutor.kind}) == {
            "kind": BuiltinExecutor.kind
        }
        return BuiltinExecutor() if own else None
    if not tool.executor:
        return None
    try:
        return read_executor(tool.executor)
    except ExecutorInvalidError:
        return None
