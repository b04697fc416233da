"""Runs authors' Python tools, each call in a process of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from apps.firewall.engine.source import ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.redaction.names import is_secret_name
from apps.firewall.runtime.call import Action, Call
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.executors.hiding import cause_without, without_secrets
from apps.firewall.runtime.ports import NoToolFailures, ToolFailure, ToolFailures
from apps.firewall.tools.connections import Connections, fill_secrets, secret_texts
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.definition_json import DefinitionInvalidError
from apps.firewall.tools.executors import PythonExecutor, ToolExecutor, read_executor
from apps.firewall.tools.own_formats import FormatUncheckedError, Texts
from apps.firewall.tools.progress import reported_without
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.running import Cause, ToolOutcome, failed
from apps.firewall.tools.sensitive import sensitive_places

SENSITIVE_LETTERS: Final = 3
NOT_FOR_TOOLS: Final = frozenset({"runtime_tools", "inherit_runtime_tools", "stored_session"})


class PythonRunner:
    """Runs tools of kind `python`.

    Args:
        connections: where the secrets come from that a tool's settings name.
        failures: where authors read what their tools raised.
    """

    kind = PythonExecutor.kind

    def __init__(self, python: PythonTools, connections: Connections, failures: ToolFailures | None = None) -> None:
        self._python = python
        self._connections = connections
        self._failures = failures or NoToolFailures()

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
        if outcome.cause is not None:
            code = "" if outcome.error is None else outcome.error["code"]
            told = cause_without(outcome.cause, secrets)
            await self._raised(action.environment, str(action.call_id), definition, action.params, code, told)
            outcome = replace(outcome, cause=None)  # for its author, not for whoever called
        return without_secrets(outcome, secrets)

    async def check_formats(
        self, call: Call, tool: ToolEntry, executor: ToolExecutor | None, texts: Texts
    ) -> Sequence[bool]:
        try:
            return await self._python.check_formats(executor if isinstance(executor, PythonExecutor) else None, texts)
        except FormatUncheckedError as exc:
            if exc.cause is not None:
                definition = definition_of(tool)
                await self._raised(call.environment, str(call.id), definition, call.params, exc.code, exc.cause)
            raise

    async def _raised(
        self, environment: str, call_id: str, definition: Definition, params: JsonObject, code: str, cause: Cause
    ) -> None:
        """Tell the tool's author, without the values of sensitive params: an exception may say them back."""
        texts = _sensitive_texts(definition, params)
        await self._failures.raised(
            ToolFailure(
                environment=environment,
                tool=definition.name,
                call_id=call_id,
                code=code,
                cause=cause_without(cause, texts, least=SENSITIVE_LETTERS),
            )
        )

    async def _config(
        self, action: Action, definition: Definition, executor: PythonExecutor
    ) -> tuple[Any, tuple[str, ...]]:
        """Give the settings with their secrets in clear, and these by themselves."""
        if not executor.source or not definition.config:
            return dict(definition.config), ()
        connection = await self._connections.connection(action.environment, executor.source)
        return fill_secrets(definition.config, connection.secrets), secret_texts(connection.secrets)


def _sensitive_texts(definition: Definition, params: Any) -> tuple[str, ...]:
    """List the values of params that may be shown nowhere: an author's exception may say them back."""
    names = {place.rpartition(".")[2] for place in sensitive_places(definition)}
    found: list[str] = []
    waiting: list[tuple[bool, Any]] = [(False, params)]
    while waiting and names:
        is_secret, value = waiting.pop()
        if isinstance(value, Mapping):
            waiting += [(is_secret or name in names or is_secret_name(str(name)), each) for name, each in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(is_secret, each) for each in value]
        elif is_secret and value is not None and not isinstance(value, bool):
            found.append(str(value))
    return tuple(found)


def _context(action: Action) -> JsonObject:
    """Tell a tool who calls: facts, not rights."""
    facts = {name: value for name, value in action.context.items() if name not in NOT_FOR_TOOLS and value is not None}
    sandboxed = bool(facts.pop("sandboxed", False))
    session = {**facts, "agent_id": action.agent, "environment": action.environment}
    return {"session": session, "sandboxed": sandboxed, "call_id": action.call_id}
