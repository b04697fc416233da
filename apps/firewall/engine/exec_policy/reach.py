"""Every command that a line may run: those of the line, of its substitutions, and of the lines that its shells get."""

from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.line import CommandLine
from apps.firewall.engine.exec_policy.script import PIPE, Command, Script
from apps.firewall.engine.exec_policy.shells import inline_of
from apps.firewall.engine.exec_policy.tables import exec_tables
from apps.firewall.engine.exec_policy.wrappers import carried_command, skip_options, tool_name
from apps.firewall.engine.names import fold

COMMANDS_LIMIT: Final = 200
WORDS_LIMIT: Final = 20
_TABLES: Final = exec_tables("")
_ASSIGNED: Final = "="


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One command, without what it runs through.

    Args:
        text: as it was written.
        argv: its words; a wrapper in front of it is taken off, also one that a list would stop at.
        inline: the line that it gives a shell, or `eval`; empty when there is none.
        piped_from: the commands whose output it reads.
        is_inner: it stands inside another command.
    """

    text: str
    argv: tuple[str, ...]
    inline: str = ""
    piped_from: tuple[str, ...] = ()
    is_inner: bool = False


def reached(line: CommandLine) -> tuple[Reached, ...]:
    """List what a line may run, as far as it can be read; at most 200 commands."""
    if line.shell is None:
        return (Reached(text=line.text, argv=_bare(line.argv)),) if line.argv else ()
    found: list[Reached] = []
    waiting = [(line.text, 0)]
    if not line.shell.script(line.text).commands:
        # Nothing could be taken apart: every word may be the beginning of a command.
        return tuple(
            Reached(text=word, argv=line.argv[at : at + WORDS_LIMIT])
            for at, word in enumerate(line.argv[:COMMANDS_LIMIT])
        )
    while waiting and len(found) < COMMANDS_LIMIT:
        text, depth = waiting.pop(0)
        for each in _commands(line.shell.script(text)):
            found.append(each)
            if each.inline and depth < _TABLES.shell_inline_depth:
                waiting.append((each.inline, depth + 1))
    return tuple(found[:COMMANDS_LIMIT])


def _commands(script: Script) -> list[Reached]:
    outer = script.outer
    found: list[Reached] = []
    piped: tuple[str, ...] = ()
    for number, command in enumerate(outer):
        found.append(_reached(command, piped))
        goes_on = number < len(script.joints) and script.joints[number] == PIPE
        piped = (*piped, command.text) if goes_on else ()
    return found + [_reached(command, ()) for command in script.commands if command.is_inner]


def _reached(command: Command, piped: tuple[str, ...]) -> Reached:
    argv = _bare(command.argv)
    inline = inline_of(argv, _TABLES)
    if inline is None and argv and fold(argv[0]) == "eval":
        line = " ".join(argv[1:])
    else:
        line = inline.line if inline else ""
    return Reached(text=command.text, argv=argv, inline=line, piped_from=piped, is_inner=command.is_inner)


def _bare(argv: tuple[str, ...]) -> tuple[str, ...]:
    """Take off what a command runs through, generously: for a hint, `sudo -u x rm` is `rm`."""
    for _ in range(_TABLES.wrapper_depth):
        name = tool_name(argv[0]) if argv else ""
        wrapper = _TABLES.wrappers.get(name) or _TABLES.argv_carriers.get(name)
        if wrapper is None and name != "xargs":
            break
        rest = carried_command(argv, wrapper) if wrapper is not None else None
        rest = rest or _behind_options(argv, name)
        if not rest:
            break
        argv = rest
    return argv


def _behind_options(argv: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Guess where the command behind a wrapper begins that no list looks behind."""
    options = _TABLES.carrier_options.get(name)
    start = 1 if options is None else skip_options(argv, options) or 1
    words = argv[start:]
    return next((words[at:] for at, word in enumerate(words) if _may_be_a_program(word)), ())


def _may_be_a_program(word: str) -> bool:
    return bool(word) and not word.startswith("-") and _ASSIGNED not in word and not word.isdigit()
