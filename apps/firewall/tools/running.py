"""What a tool is given when it runs, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from apps.firewall.sandbox.limits import Limits
from apps.firewall.tools.definition import JsonObject

if TYPE_CHECKING:
    from apps.firewall.tools.background.ports import Background, Commands


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a tool works.

    Args:
        root: absolute path of the workspace folder.
        python: interpreter that runs the file tools.
        limits: for every process it starts.
        wall_s: seconds that a call may take.
        held: further arguments of `run_process` for commands, which say what holds them.
        command_timeout_s: seconds that a command may take whose call says nothing; 0 for its tool's own.
        background: the leave of this call to let its command run on; None for none.
        commands: those that the session of this call has in the background.
    """

    root: str
    python: str
    limits: Limits = field(default_factory=Limits)
    wall_s: float = 60.0
    held: Mapping[str, Any] = field(default_factory=dict)
    command_timeout_s: int = 0
    background: "Background | None" = None
    commands: "Commands | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command as it was judged: exactly this runs, nothing is looked up again.

    Args:
        argv: arguments, the name of the program first.
        executable: real path of the file.
        cwd: absolute path of the folder it starts in.
        env: its whole environment; empty for the one that every command has.
    """

    argv: tuple[str, ...]
    executable: str
    cwd: str
    env: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What a tool raised, for its author alone; `traceback` is as Python writes it."""

    exception: str
    message: str = ""
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """A tool's answer: a result, or an error `{"code", "message"}`, and sometimes both.

    `cause` is what its author needs to know beside, and nobody else. `ended` is `completed`, `failed` (the tool ran and
    could not do it), `cancelled` (somebody asked for its end) or `unknown` (nobody knows what was done).
    """

    ended: str = "completed"
    result: JsonObject | None = None
    error: Mapping[str, str] | None = None
    cause: Cause | None = None


def failed(code: str, message: str, result: JsonObject | None = None) -> ToolOutcome:
    """Answer that the tool could not do it."""
    return ToolOutcome(ended="failed", result=result, error={"code": code, "message": message})
