"""Runs authors' Python tools, each call in a process of its own."""

from typing import Any, Final

from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Action
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.executors.hiding import without_secrets
from apps.firewall.tools.connections import Connections, fill_secrets, secret_texts
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.executors import PythonExecutor, ToolExecutor, read_executor
from apps.firewall.tools.progress import reported_without
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.running import ToolOutcome, failed

NOT_FOR_TOOLS: Final = frozenset({"runtime_tools", "inherit_runtime_tools", "stored_session"})


class PythonRunner:
    """Runs tools of kind `python`.

    Args:
        connections: where the secrets come from that a tool's settings name.
    """

    kind = PythonExecutor.kind

    def __init__(self, python: PythonTools, connections: Connections) -> None:
        self._python = python
        self._connections = connections

    def runs(self, tool: ToolEntry, executor: ToolExecutor) -> bool:  # noqa: ARG002
        """Say no to a tool whose record nobody can read."""
        try:
            definition_of(tool)
        except DefinitionInvalidError:
            return False
        return True

    def check(self, tool: ToolEntry) -> None:
        """Let through a tool that can have the sandbox it needs.

        Raises:
            SandboxRefusedError: it cannot.
            CodeChangedError: its code is not the one that was accepted.
        """
        self._python.terms(definition_of(tool).sandbox)
        executor = read_executor(tool.executor or {})
        if isinstance(executor, PythonExecutor):
            self._python.check_code(executor)

    async def run(self, action: Action, tool: ToolEntry, executor: ToolExecutor, workspace: str) -> ToolOutcome:
        assert isinstance(executor, PythonExecutor)  # noqa: S101 - the dispatch goes by kind
        definition = definition_of(tool)
        try:
            config, secrets = await self._config(action, definition, executor)
        except FirewallError as exc:
            return failed(exc.code, exc.message)
        order = {"name": tool.name, "params": dict(action.params), "config": config, "context": _context(action)}
        with reported_without(secrets):
            outcome = await self._python.run(
                executor,
                order,
                workspace=workspace,
                timeout_ms=definition.timeout_ms,
                needs=definition.sandbox,
            )
        return without_secrets(outcome, secrets)

    async def _config(
        self, action: Action, definition: Definition, executor: PythonExecutor
    ) -> tuple[Any, tuple[str, ...]]:
        """Give the settings with their secrets in clear, and these by themselves."""
        if not executor.source or not definition.config:
            return dict(definition.config), ()
        connection = await self._connections.connection(action.environment, executor.source)
        return fill_secrets(definition.config, connection.secrets), secret_texts(connection.secrets)


def _context(action: Action) -> JsonObject:
    """Tell a tool who calls: facts, not rights."""
    facts = {name: value for name, value in action.context.items() if name not in NOT_FOR_TOOLS and value is not None}
    sandboxed = bool(facts.pop("sandboxed", False))
    session = {**facts, "agent_id": action.agent, "environment": action.environment}
    return {"session": session, "sandboxed": sandboxed, "call_id": action.call_id}
