"""The tools of OpenClaw's core that can run here, by name."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from apps.firewall.tools.aliases import OLDER
from apps.firewall.tools.builtin import apply_patch, edit, process, read, write
from apps.firewall.tools.builtin import exec as exec_tool
from apps.firewall.tools.definition import Definition, JsonObject
from apps.firewall.tools.running import Command, Place, ToolOutcome

Run = Callable[[JsonObject, Place, Command | None], Awaitable[ToolOutcome]]


@dataclass(frozen=True, slots=True)
class BuiltinTool:
    """A definition and what runs it; `by_release` has the definitions of releases where it is another one."""

    definition: Definition
    run: Run
    by_release: dict[str, Definition] = field(default_factory=dict)

    def definition_in(self, release: str) -> Definition:
        """Give the definition that a release of OpenClaw has."""
        return self.by_release.get(release, self.definition)


BUILTINS: Final[dict[str, BuiltinTool]] = {
    "read": BuiltinTool(read.DEFINITION, read.run),
    "write": BuiltinTool(write.DEFINITION, write.run),
    "edit": BuiltinTool(edit.DEFINITION, edit.run, {OLDER: edit.OLDER_DEFINITION}),
    "apply_patch": BuiltinTool(apply_patch.DEFINITION, apply_patch.run),
    "exec": BuiltinTool(exec_tool.DEFINITION, exec_tool.run),
    "process": BuiltinTool(process.DEFINITION, process.run),
}
