"""A command as the shell room read it: plain values that the judge needs no grammar for."""

from dataclasses import dataclass, field

from apps.firewall.engine.exec_policy.script import ShellReader


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing found in a command. `code` is stable; `text` is the piece of the line that shows it."""

    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """One line of an agent.

    Args:
        text: the line, exactly as it came.
        argv: its words when it is one plain command; with shell syntax, the words as far as they can be told.
        syntax: everything that needs a shell to mean what it says; empty for one plain argv.
        unreadable: why not even a shell could run it; empty when it can be read.
        shell: takes the line apart as a shell would; without it no list can speak for more than one plain command.
    """

    text: str
    argv: tuple[str, ...]
    syntax: tuple[Evidence, ...] = ()
    unreadable: str = ""
    shell: ShellReader | None = field(default=None, repr=False, compare=False)


def names(text: str) -> frozenset[str]:
    """Read a set of names separated by blanks."""
    return frozenset(text.split())
