"""A line as a shell would take it apart: plain values that the shell room fills and the analysis judges."""

from dataclasses import dataclass
from typing import Final, Protocol

PIPE: Final = "|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One simple command of a line.

    Args:
        text: as it was written; `start` and `end` are its place in the line, in characters.
        argv: its words, quotes taken off, as the release reads them; `words`: as bash does, none left out.
        assigns: variables are set in front of it; `has_prelude`: in the way that the release sees.
        expands: a shell makes other words of it (`*`, `{a,b}`, `~`), so that `argv` is not what the program gets.
        passes_over: it has words that the release does not see, such as `{1..3}`; `argv` lacks them.
        untold: those of its words that a shell decides about.
        is_inner: it stands inside another one (a substitution, the body of a function).
    """

    text: str
    start: int
    end: int
    argv: tuple[str, ...]
    words: tuple[str, ...] = ()
    assigns: bool = False
    has_prelude: bool = False
    passes_over: bool = False
    untold: frozenset[str] = frozenset()
    expands: bool = False
    is_inner: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of a line, and what it is."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A line in its commands.

    Args:
        commands: in their order; those that are `is_inner` come last.
        joints: what stands between each command and the next: `&&`, `||`, `;` or `|`.
        fault: why nobody can say what the line does; empty when it can be said.
        faults, shapes: all that makes it so, in the order in which it is met.
        has_error: the grammar rejects it.
        dynamic: places (start, end) of arguments that only the shell knows, such as `$HOME`.
        sets: variables are set for everything that follows.
    """

    text: str
    commands: tuple[Command, ...] = ()
    joints: tuple[str, ...] = ()
    fault: str = ""
    faults: tuple[Place, ...] = ()
    shapes: tuple[Place, ...] = ()
    has_error: bool = False
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
