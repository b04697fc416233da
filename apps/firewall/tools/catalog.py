"""The tools that can run here, by name."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from apps.firewall.tools.builtin import exec as exec_tool
from apps.firewall.tools.builtin import read, write
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import Command, Place, ToolOutcome

Run = Callable[[JsonObject, Place, Command | None], Awaitable[ToolOutcome]]


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """A definition and what runs it."""

    definition: Definition
    run: Run


BUILTINS: dict[str, BuiltinTool] = {
    tool.DEFINITION.name: BuiltinTool(tool.DEFINITION, tool.run) for tool in (read, write, exec_tool)
}
