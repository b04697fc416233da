"""What a person is shown of a judged line, command by command; and where this firewall is stricter than the product.

A list that admits a command speaks of the words that were read. Where a shell would run something else than these
words, or the command runs more than its program, the list has not spoken.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from apps.firewall.engine.exec_policy.analysis import Analysis, Analyst, Segment
from apps.firewall.engine.exec_policy.known_safe import find_doubt
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence, names
from apps.firewall.engine.exec_policy.programs import indirections, plain_name
from apps.firewall.engine.exec_policy.script import Command
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.wrappers import tool_name

INVISIBLE: Final = "invisible_character"
READ_ALIKE: Final = frozenset(["", "dynamic-argument", "heredoc"])
SHOWN: Final = 120
HARMLESS_VARIABLES: Final = names("LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CI DEBIAN_FRONTEND")
"""What a call may set for a command that a list admits; any other variable may name a program."""
# Builtins of bash that take names of variables: `test -v 'a[$(rm x)]'` runs what stands in the brackets.
TAKES_NAMES: Final = names(
    "[ [[ declare export getopts let local mapfile printf read readarray readonly test typeset unset wait"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One command of a line.

    Args:
        text: as it was written; `start` and `end` are its place in the line, in characters.
        program: what it runs: a path, or a name that leads nowhere.
        wrappers: what it runs through, outermost first.
        satisfied_by: `allowlist`, `safeBins`, `safeBuiltins`, `skills` or `grant`; empty when nothing admits it.
        pattern: of the entry that admits it.
        joint: what joins it to the next one; empty after the last.
        why: why it asks; None when something admits it.
        is_stricter: the release's lists admit it; it asks here all the same.
    """

    text: str
    start: int
    end: int
    program: str
    wrappers: tuple[str, ...] = ()
    satisfied_by: str = ""
    pattern: str = ""
    joint: str = ""
    why: Evidence | None = None
    is_stricter: bool = False


def parts_of(
    line: CommandLine, analysis: Analysis, analyst: Analyst | None, *, variables: Iterable[str] = ()
) -> tuple[Part, ...]:
    """Describe every command of a line; a line that nobody could take apart has none.

    Args:
        analyst: who took it apart; None where nobody did.
        variables: that the call sets for the command.
    """
    if analyst is None:
        return ()
    tables = analyst.tables
    shared = _about_the_line(line, analysis, tables, variables)
    parts: list[Part] = []
    moves = False
    cursor = 0
    for number, segment in enumerate(analysis.segments):
        why = Evidence("not_understood", analysis.fault) if analysis.fault else None
        why = why or _why(segment, analyst, is_weighed=number < analysis.weighed)
        why = why or shared or (_moved(segment) if moves else None)
        start, end = _place(line.text, segment, cursor)
        cursor = max(cursor, start)
        moves = moves or tool_name(segment.unwrapped.argv[0]) in {"cd", "pushd", "popd"}
        parts.append(_part(segment, start, end, why, is_stricter=bool(why) and not analysis.fault))
    return tuple(parts)


def _part(segment: Segment, start: int, end: int, why: Evidence | None, *, is_stricter: bool) -> Part:
    return Part(
        text=segment.command.text,
        start=start,
        end=end,
        program=segment.program.real_path or segment.program.called,
        wrappers=segment.unwrapped.chain,
        satisfied_by="" if why else segment.satisfied_by or "",
        pattern=segment.entry.pattern if segment.entry and not why else "",
        joint=segment.joint or "",
        why=why,
        is_stricter=is_stricter and segment.satisfied_by is not None,
    )


def _place(text: str, segment: Segment, cursor: int) -> tuple[int, int]:
    """Find a command in its line; the whole line when quotes hide it there."""
    command = segment.command
    if text[command.start : command.end] == command.text and command.start >= cursor:
        return command.start, command.end
    start = text.find(command.text, cursor)
    return (start, start + len(command.text)) if start >= 0 else (0, len(text))


def _why(segment: Segment, analyst: Analyst, *, is_weighed: bool) -> Evidence | None:
    if segment.unwrapped.blocked_by:
        return Evidence("wrapper", segment.unwrapped.blocked_by)
    if segment.command.assigns or segment.command.has_prelude:
        return Evidence("assignment", segment.command.text[:SHOWN])
    if segment.trust == "exact-command" and segment.satisfied_by is None:
        return Evidence("shell", segment.command.text[:SHOWN])
    if segment.trust == "prompt-only":
        return Evidence("wrapper", segment.unwrapped.argv[0])
    if not is_weighed or segment.satisfied_by is None:
        fault = analyst.faulty_pattern(segment)
        if fault:
            return Evidence("bad_pattern", fault[:SHOWN])
        return Evidence("allowlist_miss", segment.program.real_path or segment.program.called)
    return next(_doubts(segment, analyst), None)


def _doubts(segment: Segment, analyst: Analyst) -> Iterator[Evidence]:
    """Find why an admitted command is put to a person all the same."""
    command, program, argv = segment.command, segment.program, _words(segment)
    tables = analyst.tables
    if command.passes_over or argv[0] != segment.unwrapped.argv[0]:
        yield Evidence("shell_syntax", command.text[:SHOWN])
    if argv[0] in TAKES_NAMES:
        yield from (Evidence("inline_code", word[:SHOWN]) for word in argv[1:] if _runs_in_brackets(word))
    if segment.satisfied_by == "safeBuiltins":
        return
    yield from _wrapped(segment)
    doubt = _more_than_its_program(segment)
    if doubt is not None and not analyst.tells_every_word(segment):
        yield doubt
    if not program.is_found and argv[0] not in tables.safe_builtins:
        yield Evidence("program_not_found", program.called)
    if argv[0].startswith("~") and not command.text.lstrip().startswith("~"):
        yield Evidence("shell_syntax", argv[0])
    if not tables.matches_real_path and ".." in program.path.split("/"):
        yield Evidence("allowlist_miss", program.path)
    holds_words = segment.satisfied_by == "safeBins" or (
        segment.entry is not None and (segment.entry.arg_pattern is not None or segment.entry.argv is not None)
    )
    if command.expands and holds_words:
        yield Evidence("shell_syntax", command.text[:SHOWN])


def _words(segment: Segment) -> tuple[str, ...]:
    """Return the words of a command without its wrappers, as bash has them."""
    argv, words = segment.unwrapped.argv, segment.command.words
    return words[-len(argv) :] if len(words) == len(segment.command.argv) >= len(argv) else argv


def _runs_in_brackets(word: str) -> bool:
    inside = word.partition("[")[2]
    return "$" in inside or "`" in inside


def _wrapped(segment: Segment) -> Iterator[Evidence]:
    """Find what a wrapper does besides starting the command: `flock` makes a file, `exec -a` gives another name."""
    wrapping = segment.command.argv[: -len(segment.unwrapped.argv)]
    for name in segment.unwrapped.chain:
        if name == "flock" or (name == "exec" and any(word.startswith("-") and "a" in word for word in wrapping)):
            yield Evidence("wrapper", name)


def _more_than_its_program(segment: Segment) -> Evidence | None:
    """Find what makes a command more than its program, by each name that the file has and those it was called by.

    What the tables of known-safe arguments do not know is doubtful. Where it is one of the things that have a name,
    that name is given.
    """
    program, argv = segment.program, _words(segment)
    if segment.satisfied_by == "safeBins":  # whose profile says which arguments are safe
        doubt = None
    else:
        doubt = find_doubt(argv, called=program.called, path=program.path, real_path=program.real_path)
        if doubt is None:
            return None
    behind = {plain_name(program.path), plain_name(program.real_path)} - {"busybox", "toybox", ""}
    called = {plain_name(program.called), plain_name(argv[0])}
    return next(iter(indirections(frozenset(behind | called), argv)), doubt)


def telling_variable(variables: Iterable[str]) -> str:
    """Name a variable that a call sets and that may name a program; empty for none."""
    return next((name for name in variables if name not in HARMLESS_VARIABLES and not name.startswith("LC_")), "")


def _about_the_line(line: CommandLine, analysis: Analysis, tables: Tables, variables: Iterable[str]) -> Evidence | None:
    """Find what speaks against every command of a line."""
    variable = telling_variable(variables)
    if variable:
        return Evidence("variables", variable[:SHOWN])
    for found in line.syntax:
        if found.code == INVISIBLE:
            return found
    if analysis.sets:
        return Evidence("assignment", line.text[:SHOWN])
    if not analysis.is_plain:
        return Evidence("shell", line.text[:SHOWN])
    if analysis.is_shaped:
        return Evidence("shell_syntax", line.text[:SHOWN])
    if not tables.reads_grammar and not _reads_alike(line, analysis):
        return Evidence("shell_syntax", line.text[:SHOWN])
    return None


def _reads_alike(line: CommandLine, analysis: Analysis) -> bool:
    """Say whether the grammar finds the same commands as the older release's scan.

    Bash runs the line, and knows quotes (`$'…'`) and comments that the scan does not.
    """
    script = None if line.shell is None else line.shell.script(line.text)
    if script is None or script.fault not in READ_ALIKE:
        return False
    scanned = [_telling(segment.command) for segment in analysis.segments]
    return [_telling(command) for command in script.commands] == scanned and not any(
        command.assigns for command in script.commands
    )


def _telling(command: Command) -> tuple[str, ...]:
    """Return the words that both readings tell: the scan loses empty ones, and keeps the marks of here-documents."""
    return tuple(word for word in command.words or command.argv if word and not word.startswith("<<"))


def _moved(segment: Segment) -> Evidence | None:
    """A path that starts in the working folder leads elsewhere once a command has changed it."""
    argv = segment.unwrapped.argv
    words = argv[:1] if segment.satisfied_by == "safeBuiltins" or len(argv) == 1 else argv[:2]
    relative = next((word for word in words if "/" in word and not word.startswith(("/", "~", "-"))), None)
    return None if relative is None else Evidence("shell_syntax", f"cd … {relative}"[:SHOWN])
