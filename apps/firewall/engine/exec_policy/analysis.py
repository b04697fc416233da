"""A whole line against an allowlist: what its commands are, and what each of them is admitted by.

The verdict is that of the recorded release, no more and no less; what this firewall is stricter about, the judge adds.
Source: conformance README, `exec_approval.jsonl`, kind `command`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from apps.firewall.engine.exec_policy.allowlist import matching_entry
from apps.firewall.engine.exec_policy.index import AllowEntry
from apps.firewall.engine.exec_policy.packages import managed_command
from apps.firewall.engine.exec_policy.resolution import FileSystem, Program, resolve
from apps.firewall.engine.exec_policy.safe_bins import arguments_are_safe, is_trusted, safe_bin_names
from apps.firewall.engine.exec_policy.script import PIPE, Command, Script, ShellReader
from apps.firewall.engine.exec_policy.shells import inline_of, is_shell, script_of
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.tables.shape import SafeBin
from apps.firewall.engine.exec_policy.where import Where
from apps.firewall.engine.exec_policy.wrappers import Unwrapped, tool_name, unwrap
from apps.firewall.engine.names import fold

NOTHING_TO_DO: Final = "no commands to authorize"
OPAQUE_ENDING: Final = "-wrapper"
SHELL_DEPTH: Final = "shell-wrapper-depth"

Trust = Literal["executable", "exact-command", "prompt-only"]
Satisfied = Literal["allowlist", "safeBins", "safeBuiltins", "skills"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """What a line is held against.

    Args:
        safe_bins: names that count as safe; None for the release's own.
        profiles: the arguments with which they do.
        trusted_folders: where the file of a safe bin must lie.
        skills: programs of skills, as (name, path); empty when skills allow nothing by themselves.
    """

    entries: tuple[AllowEntry, ...] = ()
    safe_bins: frozenset[str] | None = None
    profiles: Mapping[str, SafeBin] | None = None
    trusted_folders: tuple[str, ...] | None = None
    skills: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """One command of a line, and what became of it.

    Args:
        command: as the line has it.
        unwrapped: without its wrappers.
        program: the file that decides.
        trust: `executable`: patterns may speak for it; `exact-command`: a shell with a line of its own;
            `prompt-only`: nothing but a person can.
        satisfied_by, entry: what admits it.
    """

    command: Command
    unwrapped: Unwrapped
    program: Program
    trust: Trust = "executable"
    satisfied_by: Satisfied | None = None
    entry: AllowEntry | None = None
    joint: str | None = None  # what joins it to the next one


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """What is known about a line.

    Args:
        fault: why it cannot be understood; empty when it can.
        segments: its commands; of a line that cannot be understood, as far as they were found.
        weighed: how many of them were held against the lists; the older release stops at the first that fails.
        is_unwrapped: the segments are those of the line that a shell is given.
        sets: variables are set for everything that follows.
    """

    fault: str = ""
    segments: tuple[Segment, ...] = ()
    weighed: int = 0
    is_unwrapped: bool = False
    sets: bool = False

    @property
    def is_satisfied(self) -> bool:
        weighed = self.segments[: self.weighed]
        return not self.fault and bool(weighed) and all(segment.satisfied_by for segment in weighed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Analyst:
    """Answers for lines of one agent: the ports, the release and the lists it holds them against."""

    shell: ShellReader
    files: FileSystem
    where: Where
    tables: Tables
    lists: Lists = field(default_factory=Lists)

    def analyse(self, text: str) -> Analysis:
        """Take a line apart and hold its commands against the lists; never fails."""
        return self._by_grammar(text) if self.tables.reads_grammar else self._by_characters(text)

    # --- a release with a grammar ---

    def _by_grammar(self, text: str) -> Analysis:
        script = self.shell.script(text)
        outer = script.outer
        fault = self._fault(script, 0)
        if fault and not self._is_within_a_shell(script):
            return Analysis(fault=fault, segments=tuple(self._found(script)))
        if not outer:
            return Analysis(fault=NOTHING_TO_DO)
        inside = None if fault or len(outer) > 1 else self._inside(outer[0])
        chosen = script if inside is None else inside
        commands = chosen.outer
        segments = [self._segment(command, is_direct=inside is None) for command in commands]
        joined = [
            replace(self._weigh(segment), joint=joint)
            for segment, joint in zip(segments, (*chosen.joints, None), strict=False)
        ]
        return Analysis(
            segments=tuple(joined),
            weighed=len(joined),
            is_unwrapped=inside is not None,
            sets=script.sets or chosen.sets,
        )

    def _is_within_a_shell(self, script: Script) -> bool:
        """Say whether a line is one call of a shell, and all that nobody can tell is in the line that it is given.

        Such a call is understood as far as it goes: exactly it can be approved.
        """
        if len(script.outer) != 1 or (script.fault and script.fault_place is None):
            return False
        command = script.outer[0]
        inline = inline_of(command.argv, self.tables)
        if inline is None or not _contains(command, script.fault_place):
            return False
        if script.fault or not self._is_parseable(command.argv) or self._dynamic(script):
            return True
        return self._is_readable(inline.line, 1)

    def _is_readable(self, line: str, depth: int) -> bool:
        """Say whether a line, and each line that a shell in it is given, at least follows the grammar."""
        script = self.shell.script(line)
        if depth > self.tables.shell_inline_depth or (script.fault and script.fault_place is None):
            return False
        inner = (inline_of(unwrap(command.argv, self.tables).argv, self.tables) for command in script.commands)
        return all(inline is None or self._is_readable(inline.line, depth + 1) for inline in inner)

    def _is_parseable(self, argv: tuple[str, ...]) -> bool:
        return tool_name(argv[0]) in self.tables.shells.parseable

    def _inside(self, command: Command) -> Script | None:
        """Return the line behind a shell that decides in its place; None when it does not."""
        inline = inline_of(command.argv, self.tables)
        if inline is None or not inline.is_plain or command.assigns:
            return None
        if not self._is_parseable(command.argv) or not _by_name(command.argv[0]):
            return None
        script = self.shell.script(inline.line)
        usable = bool(script.outer) and all(
            _by_name(each.argv[0]) and not tool_name(each.argv[0]).endswith(OPAQUE_ENDING) for each in script.outer
        )
        return script if usable else None

    def _fault(self, script: Script, depth: int) -> str:
        """Say why a line, or a line that one of its shells is given, cannot be understood."""
        if script.fault:
            return script.fault
        if self._dynamic(script):
            return "dynamic-argument"
        for command in script.commands:
            argv = unwrap(command.argv, self.tables).argv
            inline = inline_of(argv, self.tables)
            if inline is None or not self._is_parseable(argv):
                continue
            if depth >= self.tables.shell_inline_depth:
                return SHELL_DEPTH
            fault = self._fault(self.shell.script(inline.line), depth + 1)
            if fault:
                return fault
        return ""

    def _dynamic(self, script: Script) -> bool:
        """Say whether the shell decides about an argument of a command that a pattern could speak for."""
        asked = [(command.start, command.end) for command in script.commands if self._asks(command.argv)]
        return any(not any(start <= at and end <= stop for start, stop in asked) for at, end in script.dynamic)

    def _found(self, script: Script) -> list[Segment]:
        """List the commands of a line that cannot be understood, and those of the lines that its shells are given."""
        segments = [self._segment(command, is_direct=True) for command in script.commands]
        for command in script.outer:
            inline = inline_of(command.argv, self.tables)
            if inline is not None and self._is_parseable(command.argv):
                segments += [self._segment(each, is_direct=True) for each in self.shell.script(inline.line).commands]
        return segments

    def _segment(self, command: Command, *, is_direct: bool) -> Segment:
        unwrapped = unwrap(command.argv, self.tables)
        deciding = unwrapped.multiplexer or unwrapped.argv
        program = resolve(deciding[0], files=self.files, where=self.where, tables=self.tables)
        return Segment(
            command=command,
            unwrapped=unwrapped,
            program=program,
            trust=self._trust(command, unwrapped, is_direct=is_direct),
        )

    def _trust(self, command: Command, unwrapped: Unwrapped, *, is_direct: bool) -> Trust:
        if unwrapped.blocked_by or command.assigns or self._asks(command.argv):
            return "prompt-only"
        inline = inline_of(unwrapped.argv, self.tables)
        if inline is None:
            return "executable"
        if self._carries_always_asked(inline.line, 0):
            return "prompt-only"
        return "exact-command" if is_direct and self._is_bound(unwrapped.argv) else "executable"

    def _is_bound(self, argv: tuple[str, ...]) -> bool:
        """Say whether an approval can be bound to exactly the line that a shell is given."""
        inline = inline_of(argv, self.tables)
        return inline is not None and (not self._is_parseable(argv) or inline.is_plain)

    def _asks(self, argv: tuple[str, ...]) -> bool:
        """Say whether a command is always put to a person, whatever a list says."""
        unwrapped = unwrap(argv, self.tables)
        name = tool_name(unwrapped.argv[0]) if unwrapped.argv else ""
        if unwrapped.blocked_by or name in self.tables.always_ask:
            return bool(self.tables.reads_grammar)
        options = self.tables.carriers_by_option.get(name, frozenset())
        if not options.isdisjoint(unwrapped.argv[1:]):
            return True
        carried = any(wrapper in self.tables.carrier_names for wrapper in unwrapped.chain)
        return carried and inline_of(unwrapped.argv, self.tables) is not None

    def _carries_always_asked(self, line: str, depth: int) -> bool:
        if depth >= self.tables.shell_inline_depth:
            return True
        for command in self.shell.script(line).commands:
            inline = inline_of(unwrap(command.argv, self.tables).argv, self.tables)
            if self._asks(command.argv) or (inline and self._carries_always_asked(inline.line, depth + 1)):
                return True
        return False

    # --- the older release ---

    def _by_characters(self, text: str) -> Analysis:
        segments: list[Segment] = []
        weighed = 0
        for part in self.shell.scan(text):
            if part.fault:
                return Analysis(fault=part.fault)
            found = [self._segment(command, is_direct=False) for command in part.commands]
            is_open = False
            for number, segment in enumerate(found):
                joint = part.joints[number] if number < len(part.joints) else None
                found[number] = replace(segment if is_open else self._weigh(segment), joint=joint)
                weighed += not is_open
                is_open = is_open or found[number].satisfied_by is None
            segments += found
            if is_open:
                break
        return Analysis(segments=tuple(segments), weighed=weighed)

    # --- one command against the lists ---

    def _weigh(self, segment: Segment) -> Segment:
        if segment.trust == "prompt-only":
            return segment
        entry = self._entry(segment)
        if entry is not None:
            return replace(segment, entry=entry, satisfied_by="allowlist")
        return replace(segment, satisfied_by=self._otherwise(segment))

    def _entry(self, segment: Segment) -> AllowEntry | None:
        argv = segment.unwrapped.argv
        managed = managed_command(argv, self.tables)
        if managed.argv is None:
            return None
        program = segment.program
        if managed.is_managed:
            argv = managed.argv
            program = resolve(argv[0], files=self.files, where=self.where, tables=self.tables)
        if not self.tables.reads_grammar:
            return self._match(program, argv)
        is_given = is_shell(argv, self.tables) and len(argv) > 1
        entry = self._match(program, argv, needs_arguments=is_given)
        script = script_of(argv, self.tables) if entry is None and inline_of(argv, self.tables) is None else None
        return entry if script is None else self._script_entry(script, argv)

    def _script_entry(self, script: tuple[str, ...], argv: tuple[str, ...]) -> AllowEntry | None:
        """Match a script that a shell is given; a pattern of arguments must fit the script's and the shell's."""
        path = script[0] if "/" in script[0] else f"./{script[0]}"
        program = resolve(path, files=self.files, where=self.where, tables=self.tables)
        entry = self._match(program, script)
        return entry if entry is None or entry.arg_pattern is None else self._match_both(entry, program, argv)

    def _match_both(self, entry: AllowEntry, program: Program, argv: tuple[str, ...]) -> AllowEntry | None:
        home, tables = self.where.home, self.tables
        return matching_entry((entry,), program, argv, home=home, tables=tables)

    def _match(self, program: Program, argv: tuple[str, ...], *, needs_arguments: bool = False) -> AllowEntry | None:
        return matching_entry(
            self.lists.entries,
            program,
            argv,
            home=self.where.home,
            tables=self.tables,
            needs_arguments=needs_arguments,
        )

    def _otherwise(self, segment: Segment) -> Satisfied | None:
        if self._is_safe_bin(segment):
            return "safeBins"
        argv = segment.command.argv
        head = fold(argv[0])
        if head in self.tables.safe_builtins and (head != "[" or segment.command.text.rstrip().endswith("]")):
            return "safeBuiltins"
        return "skills" if self._is_skill(segment.program) else None

    def _is_safe_bin(self, segment: Segment) -> bool:
        tables, program = self.tables, segment.program
        allowed = self.lists.safe_bins
        name = fold(program.name)
        if segment.unwrapped.multiplexer or name not in (safe_bin_names(None, tables) if allowed is None else allowed):
            return False
        profile = (tables.safe_bin_profiles if self.lists.profiles is None else self.lists.profiles).get(name)
        folders = self.lists.trusted_folders
        path = program.real_path if tables.matches_real_path else program.path
        return (
            profile is not None
            and is_trusted(path, tables.trusted_safe_bin_dirs if folders is None else folders)
            and arguments_are_safe(segment.unwrapped.argv[1:], profile, tables)
        )

    def _is_skill(self, program: Program) -> bool:
        path = program.real_path if self.tables.matches_real_path else program.path
        return bool(path) and program.is_called_by_name and (fold(program.name), path) in self.lists.skills


def _contains(command: Command, place: tuple[int, int] | None) -> bool:
    return place is None or (command.start <= place[0] and place[1] <= command.end)


def _by_name(word: str) -> bool:
    return "/" not in word and "\\" not in word


def groups(segments: tuple[Segment, ...]) -> list[str | None]:
    """Say what joins each pipeline of a line to the next; None after the last."""
    return [segment.joint for segment in segments if segment.joint != PIPE]
