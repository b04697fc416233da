"""The firewall's own tools that a source configures, by the kind of source: who adds one opens them.

Each is optional: it is offered only where an allow list names it, its plugin, or everything.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from apps.firewall.tools.builtin import exec as exec_tool
from apps.firewall.tools.builtin import fs_list, fs_read, fs_write, http_request, shell_execute
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.work import Work

Run = Callable[[JsonObject, Work], Awaitable[ToolOutcome]]
SHELL: Final = "shell_execute"


@dataclass(frozen=True, slots=True)
class ConfiguredTool:
    """A tool.

    Args:
        config: settings of its source that become its `config`, for stages to read.
        is_process: it runs in processes of its own, under the sandbox's limits.
    """

    definition: Definition
    run: Run
    config: tuple[str, ...] = ()
    is_process: bool = True


async def _run_command(params: JsonObject, work: Work) -> ToolOutcome:
    return await exec_tool.run(params, work.place, work.command)


TOOLS: Final[Mapping[str, tuple[ConfiguredTool, ...]]] = {
    "own_files": (
        ConfiguredTool(fs_read.DEFINITION, fs_read.run),
        ConfiguredTool(fs_write.DEFINITION, fs_write.run),
        ConfiguredTool(fs_list.DEFINITION, fs_list.run),
    ),
    "own_shell": (
        ConfiguredTool(shell_execute.DEFINITION, _run_command, ("commands", "deny_commands", "deny_patterns")),
    ),
    "own_http": (ConfiguredTool(http_request.DEFINITION, http_request.run, is_process=False),),
}
"""Kind of source -> its tools."""

BY_NAME: Final[Mapping[str, ConfiguredTool]] = {
    tool.definition.name: tool for tools in TOOLS.values() for tool in tools
}


def definition_for(tool: ConfiguredTool, connection: Connection) -> Definition:
    """Give the definition of a tool as a source configures it."""
    config = {name: connection.settings[name] for name in tool.config if connection.settings.get(name)}
    return replace(tool.definition, config=config)
