"""The firewall's own tools that a source configures, by the kind of source: who adds one opens them.

Each is optional: it is offered only where an allow list names it, its plugin, or everything.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from apps.firewall.tools.builtin import (
    browser_navigate,
    browser_screenshot,
    db_query,
    email_send,
    fs_list,
    fs_read,
    fs_write,
    http_request,
    shell_execute,
)
from apps.firewall.tools.builtin import exec as exec_tool
from apps.firewall.tools.connections import Connection
from apps.firewall.tools.definition import Definition, JsonObject, ResourceKind
from apps.firewall.tools.running import ToolOutcome
from apps.firewall.tools.work import Work

Run = Callable[[JsonObject, Work], Awaitable[ToolOutcome]]
SHELL: Final = "shell_execute"


@dataclass(frozen=True, slots=True)
class ConfiguredTool:
    """A tool.

    Args:
        permissions, resources: of its definition, where a source says that calls need grants.
        shaped: gives the definition as a source makes it.
        is_process: it runs in processes of its own, under the sandbox's limits.
    """

    definition: Definition
    run: Run
    permissions: tuple[str, ...] = ()
    resources: Mapping[ResourceKind, str] = field(default_factory=dict)
    shaped: Callable[[Definition, Connection], Definition] = lambda definition, _: definition
    is_process: bool = True

    def defined(self, connection: Connection) -> Definition:
        """Give the definition as a source has it."""
        definition = self.shaped(self.definition, connection)
        if not connection.settings.get("permissions"):
            return definition
        return replace(definition, permissions=self.permissions, resources=self.resources)


async def _run_command(params: JsonObject, work: Work) -> ToolOutcome:
    return await exec_tool.run(params, work.place, work.command)


def _with_lists(definition: Definition, connection: Connection) -> Definition:
    """Put the lists of a source into the definition, where the stage that judges commands reads them."""
    settings = connection.settings
    names = ("commands", "deny_commands", "deny_patterns")
    return replace(definition, config={name: settings[name] for name in names if settings.get(name)})


_A_PATH: Final[Mapping[ResourceKind, str]] = {"path": "path"}
_AN_ADDRESS: Final[Mapping[ResourceKind, str]] = {"domain": "url"}

TOOLS: Final[Mapping[str, tuple[ConfiguredTool, ...]]] = {
    "own_files": (
        ConfiguredTool(fs_read.DEFINITION, fs_read.run, ("fs:read",), _A_PATH),
        ConfiguredTool(fs_write.DEFINITION, fs_write.run, ("fs:write",), _A_PATH),
        ConfiguredTool(fs_list.DEFINITION, fs_list.run, ("fs:read",), _A_PATH),
    ),
    "own_shell": (ConfiguredTool(shell_execute.DEFINITION, _run_command, ("shell:execute",), shaped=_with_lists),),
    "own_http": (
        ConfiguredTool(http_request.DEFINITION, http_request.run, ("http:request",), _AN_ADDRESS, is_process=False),
    ),
    "own_browser": (
        ConfiguredTool(browser_navigate.DEFINITION, browser_navigate.run, ("browser:open",), _AN_ADDRESS),
        ConfiguredTool(browser_screenshot.DEFINITION, browser_screenshot.run, ("browser:open",), _AN_ADDRESS),
    ),
    "own_email": (ConfiguredTool(email_send.DEFINITION, email_send.run, ("email:send",)),),
    "own_databases": (
        ConfiguredTool(db_query.DEFINITION, db_query.run, ("db:read",), {"database": "database"}, db_query.shaped),
    ),
}
"""Kind of source -> its tools."""

BY_NAME: Final[Mapping[str, ConfiguredTool]] = {
    tool.definition.name: tool for tools in TOOLS.values() for tool in tools
}
