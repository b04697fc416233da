"""A line as a shell would take it apart: plain values that the shell room fills and the analysis judges."""

from dataclasses import dataclass
from typing import Final, Protocol

PIPE: Final = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command of a line.

    Args:
        text: as it was written; `start` and `end` are its place in the line, in characters.
        argv: its words, quotes taken off.
        assigns: variables are set in front of it.
        expands: a shell makes other words of it (`*`, `{a,b}`, `~`), so that `argv` is not what the program gets.
        is_inner: it stands inside another one (a substitution, the body of a function).
    """

    text: str
    start: int
    end: int
    argv: tuple[str, ...]
    assigns: bool = False
    expands: bool = False
    is_inner: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A line in its commands.

    Args:
        commands: in their order; those that are `is_inner` come last.
        joints: what stands between each command and the next: `&&`, `||`, `;` or `|`.
        fault: why nobody can say what the line does; empty when it can be said.
        fault_place: where the fault stands, when it stands somewhere and leaves the rest readable.
        dynamic: places (start, end) of arguments that only the shell knows, such as `$HOME`.
        sets: variables are set for everything that follows.
    """

    text: str
    commands: tuple[Command, ...] = ()
    joints: tuple[str, ...] = ()
    fault: str = ""
    fault_place: tuple[int, int] | None = None
    dynamic: tuple[tuple[int, int], ...] = ()
    sets: bool = False

    @property
    def outer(self) -> tuple[Command, ...]:
        return tuple(command for command in self.commands if not command.is_inner)


class ShellReader(Protocol):
    """The port behind which the grammar lives."""

    def script(self, text: str) -> Script:
        """Read a line by a shell's grammar; never fails, what cannot be read is a fault."""

    def scan(self, text: str) -> tuple[Script, ...]:
        """Read a line as release 2026.2 does, character by character: one script for each part of a chain."""
