"""A tool run as production runs it, for the tests of its author: found by a look at its folder, decided, validated,
held by the sandbox, its result settled and masked. No server and no database is needed."""

import asyncio
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.grants import Grant
from apps.firewall.engine.snapshot import Snapshot, build_snapshot
from apps.firewall.engine.source import AgentSource, SnapshotSource, ToolEntry
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Call, CallResult
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.python import PythonRunner
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.invoke import invoke
from apps.firewall.runtime.ports import ToolFailure
from apps.firewall.runtime.testing import FakeWorld
from apps.firewall.tools.connections import Connection, Secrets
from apps.firewall.tools.definition_json import definition_json
from apps.firewall.tools.discovery.folder import PATTERNS, look_folder
from apps.firewall.tools.discovery.found import Found, Look
from apps.firewall.tools.executors import PythonExecutor, executor_json
from apps.firewall.tools.python_tools import PythonTools
from apps.firewall.tools.running import Cause

AGENT: Final = "author"
ENVIRONMENT: Final = "kit"
SOURCE: Final = "kit"
IN_ENTRY: Final = frozenset({"name", "label", "description", "section", "parameters", "owner_only", "sensitive"})


class ToolNotReadyError(FirewallError):
    """A folder that has no such tool, or whose tool cannot be called; the message says why."""

    code = "tool_not_ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer(CallResult):
    """The answer to a call, and beside it what its caller does not get.

    Args:
        cause: what the tool raised, with its traceback; None when it raised nothing. It also went to stderr, where a
            test runner shows it.
    """

    cause: Cause | None = None


@dataclass(slots=True)
class _Raised:
    """Fills the port `ToolFailures` for one call."""

    cause: Cause | None = None

    async def raised(self, failure: ToolFailure) -> None:
        self.cause = failure.cause
        told = failure.cause.traceback or f"{failure.cause.exception}: {failure.cause.message}\n"
        sys.stderr.write(f"`{failure.tool}` raised:\n{told}")


@dataclass(frozen=True, slots=True)
class ToolKit:
    """The tools of a folder, to be called in tests.

    Args:
        folder: where the files are that hold them.
        patterns: names of these files.
        config: settings by the name of a tool, in place of those in its definition.
        secrets: texts by name, for `{"$secret": "name"}` in settings.
        withheld: permissions that callers are not granted; they have all others.
    """

    folder: str | Path
    patterns: Sequence[str] = PATTERNS
    config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    withheld: Sequence[str] = ()

    async def connection(self, environment: str, source: str) -> Connection:  # noqa: ARG002
        settings = {"scan_directories": [str(Path(self.folder).resolve())], "patterns": list(self.patterns)}
        return Connection(source=SOURCE, kind="folder", settings=settings, secrets=Secrets(dict(self.secrets)))

    async def look(self) -> Look:
        """Look through the folder, as discovery does."""
        return await look_folder(await self.connection(ENVIRONMENT, SOURCE), python=PythonTools())

    async def call(self, tool: str, params: Mapping[str, Any] | None = None, **context: Any) -> ToolAnswer:
        """Call a tool, whatever becomes of the call.

        Args:
            context: members of `CallContext`, such as `channel` and `sender_id`.
        Raises:
            ToolNotReadyError: the folder has no such tool.
        """
        found = _named(tool, await self.look())
        with tempfile.TemporaryDirectory(prefix="openclaw-kit-") as workspaces:
            world = FakeWorld(self._snapshot(found))
            author = _Raised()
            runner = PythonRunner(PythonTools(), self, author)
            ports = replace(world.ports, executor=Executors(Workspaces(Path(workspaces)), (runner,)))
            call = Call(
                environment=ENVIRONMENT,
                agent=AGENT,
                tool=tool,
                params=dict(params or {}),
                context=CallContext(agent_id=AGENT, **context),
            )
            result = await invoke(call, ports)
        return ToolAnswer(**{each.name: getattr(result, each.name) for each in fields(result)}, cause=author.cause)

    def _snapshot(self, found: Found) -> Snapshot:
        definition = found.definition
        assert definition is not None  # noqa: S101 - it is ready
        entry = _entry(found, self.config.get(definition.name))
        given = tuple(each for each in definition.permissions if each not in self.withheld)
        grants = [Grant(key=SOURCE, permissions=given, agent=AGENT)] if given else []
        agents = [AgentSource(AGENT)]
        return build_snapshot(SnapshotSource(environment=ENVIRONMENT, tools=[entry], agents=agents, grants=grants))


def run_tool(folder: str | Path, tool: str, params: Mapping[str, Any] | None = None, **options: Any) -> ToolAnswer:
    """Call one tool of a folder.

    Args:
        options: any of `patterns`, `config` (of this tool), `secrets` and `withheld` as `ToolKit` has them; others are
            members of `CallContext`.
    Raises:
        ToolNotReadyError: the folder has no such tool.
    """
    ours = {name: options.pop(name) for name in ("patterns", "secrets", "withheld") if name in options}
    config = {tool: options.pop("config")} if "config" in options else {}
    return asyncio.run(ToolKit(folder, config=config, **ours).call(tool, params, **options))


def _named(tool: str, look: Look) -> Found:
    if look.failure is not None:
        raise ToolNotReadyError(f"the folder cannot be looked through: {look.failure.message}")
    for found in look.found:
        if found.definition is not None and found.definition.name == tool:
            if found.failure is not None:
                raise ToolNotReadyError(f"`{tool}` cannot be called: {found.failure.message}")
            return found
    broken = [f"{found.key}: {found.failure.message}" for found in look.found if found.failure is not None]
    raise ToolNotReadyError("; ".join([f"the folder has no tool named `{tool}`", *broken]))


def _entry(found: Found, config: Mapping[str, Any] | None) -> ToolEntry:
    definition, executor = found.definition, found.executor
    assert definition is not None and isinstance(executor, PythonExecutor)  # noqa: S101 - it is ready
    members = definition_json(definition)
    traits = {name: value for name, value in members.items() if name not in IN_ENTRY}
    if config is not None:
        traits["config"] = dict(config)
    return ToolEntry(
        definition.name,
        label=definition.label,
        description=definition.description,
        section=definition.section,
        source="plugin",
        plugin=SOURCE,
        params=definition.parameters,
        sensitive=definition.sensitive,
        traits=traits,
        executor=executor_json(replace(executor, source=SOURCE)),
    )
