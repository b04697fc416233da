"""A whole line against an allowlist: what its commands are, and what each of them is admitted by.

The verdict is that of the recorded release, no more and no less; what this firewall is stricter about, the judge adds.
Source: conformance README, `exec_approval.jsonl`, kind `command`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from apps.firewall.engine.exec_policy.allowlist import exact_entry, faulty_entry, matching_entry
from apps.firewall.engine.exec_policy.explanation import Explanation, Step, explain
from apps.firewall.engine.exec_policy.index import ANY, AllowEntry
from apps.firewall.engine.exec_policy.packages import managed_command
from apps.firewall.engine.exec_policy.resolution import FileSystem, Program, resolve
from apps.firewall.engine.exec_policy.safe_bins import arguments_are_safe, is_ever_safe, is_trusted, safe_bin_names
from apps.firewall.engine.exec_policy.script import PIPE, Command, ShellReader
from apps.firewall.engine.exec_policy.shells import Inline, carried_words, script_of, shell_call
from apps.firewall.engine.exec_policy.tables import Tables
from apps.firewall.engine.exec_policy.tables.shape import SafeBin
from apps.firewall.engine.exec_policy.where import Where
from apps.firewall.engine.exec_policy.wrappers import Unwrapped, classified, tool_name, unwrap
from apps.firewall.engine.names import fold, trim

NOTHING_TO_DO: Final = "no commands to authorize"
OPAQUE_ENDING: Final = "-wrapper"
LEAST_CARRIED: Final = 4  # a shell, its option, a line such as `$0 "$@"`, and what it starts

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
        program: the file that decides; `target`: the one that runs, which a multiplexer is asked for.
        trust: `executable`: patterns may speak for it; `exact-command`: a shell with a line of its own;
            `prompt-only`: nothing but a person can.
        satisfied_by, entry: what admits it.
    """

    command: Command
    unwrapped: Unwrapped
    program: Program
    target: Program
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
        is_unwrapped: the segments are those of the line that a shell is given; `is_plain`: it runs nothing else.
        is_shaped: it stands in a loop, a group or the background, and is one call of a shell.
        sets: variables are set for everything that follows.
    """

    fault: str = ""
    segments: tuple[Segment, ...] = ()
    weighed: int = 0
    is_unwrapped: bool = False
    is_plain: bool = True
    is_shaped: bool = False
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

    def tells_every_word(self, segment: Segment) -> bool:
        """Say whether an entry admits exactly this command, word by word."""
        entry = exact_entry(
            self.lists.entries,
            segment.program,
            segment.unwrapped.argv,
            home=self.where.home,
            cwd=self.where.cwd,
            tables=self.tables,
        )
        return entry is not None

    def faulty_pattern(self, segment: Segment) -> str:
        """Name the entry for a command's program whose pattern cannot be searched, and why; empty for none."""
        argv, home = segment.unwrapped.argv, self.where.home
        found = faulty_entry(self.lists.entries, segment.program, argv, home=home, tables=self.tables)
        return "" if found is None else f"{found[0].pattern}: {found[1]}"

    # --- a release with a grammar ---

    def _by_grammar(self, text: str) -> Analysis:
        explained = explain(text, self.shell, self.tables)
        fault = explained.fault()
        outer = explained.outer
        if explained.has_error or (fault and not _is_within_a_shell(explained)):
            found = tuple(self._segment(command, _by_wrappers) for command in explained.commands())
            return Analysis(fault=fault or "unable to parse command", segments=found)
        if not outer:
            return Analysis(fault=NOTHING_TO_DO)
        inside = None if fault or len(outer) > 1 else self._inside(outer[0])
        chosen = explained if inside is None else inside
        segments = [self._of_step(step, is_direct=inside is None) for step in chosen.outer]
        joined = tuple(
            replace(self._weigh(segment), joint=joint)
            for segment, joint in zip(segments, (*chosen.script.joints, None), strict=False)
        )
        return Analysis(
            segments=joined,
            weighed=len(joined),
            is_unwrapped=inside is not None,
            is_plain=inside is None or (outer[0].call is not None and outer[0].call.is_plain),
            is_shaped=bool(explained.script.shapes or chosen.script.shapes),
            sets=explained.script.sets or chosen.script.sets,
        )

    def _inside(self, step: Step) -> Explanation | None:
        """Return the line behind a shell that decides in its place; None when it does not."""
        argv, call = step.command.argv, step.call
        if call is None or step.inside is None or not call.is_bindable or step.command.has_prelude:
            return None
        if tool_name(argv[0]) not in self.tables.shells.parseable or not _by_name(argv[0]):
            return None
        inner = step.inside.outer
        usable = bool(inner) and all(
            _by_name(each.command.argv[0]) and not tool_name(each.command.argv[0]).endswith(OPAQUE_ENDING)
            for each in inner
        )
        return step.inside if usable else None

    def _of_step(self, step: Step, *, is_direct: bool) -> Segment:
        return self._segment(step.command, lambda unwrapped: _trust(step, unwrapped, is_direct=is_direct))

    def _segment(self, command: Command, trust: Callable[[Unwrapped], Trust]) -> Segment:
        unwrapped = unwrap(command.argv, self.tables)
        target = self._resolve(unwrapped.argv[0])
        program = self._resolve(unwrapped.multiplexer[0]) if unwrapped.multiplexer else target
        return Segment(command=command, unwrapped=unwrapped, program=program, target=target, trust=trust(unwrapped))

    def _resolve(self, called: str) -> Program:
        return resolve(called, files=self.files, where=self.where, tables=self.tables)

    # --- the older release ---

    def _by_characters(self, text: str) -> Analysis:
        segments: list[Segment] = []
        weighed = 0
        for part in self.shell.scan(text):
            if part.fault:
                return Analysis(fault=part.fault)
            found = [self._segment(command, _by_wrappers) for command in part.commands]
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
            program = self._resolve(argv[0])
        if not self.tables.reads_grammar:
            return self._match(program, argv)
        call = shell_call(argv, self.tables)
        line = call if call is not None and call.is_bindable else None
        entry = None if line is not None and line.carries_words else self._match(program, argv)
        if entry is not None and self._needs_more(entry, program, argv, has_line=line is not None):
            entry = None
        if entry is not None:
            return entry
        return self._script_entry(argv) if line is None else self._words_entry(argv, line)

    def _needs_more(self, entry: AllowEntry, program: Program, argv: tuple[str, ...], *, has_line: bool) -> bool:
        """Say whether an entry names a shell and not what it is given; one for a multiplexer is enough there."""
        if trim(entry.pattern) == ANY or trim(entry.arg_pattern or "") or entry.argv is not None:
            return False
        target = self._resolve(argv[0])
        if (target.called, target.path) != (program.called, program.path):
            return False
        is_called = any(tool_name(word) in self.tables.shells.every for word in (target.name, target.called))
        return has_line or (is_called and len(argv) > 1)

    def _script_entry(self, argv: tuple[str, ...]) -> AllowEntry | None:
        """Match a script that a shell is given."""
        script = script_of(argv, self.tables)
        if script is None:
            return None
        path = script[0] if script[0].startswith(("/", "~")) else f"./{script[0]}"
        program = self._resolve(path)
        return self._match(program, (program.candidate, *script[1:]))

    def _words_entry(self, argv: tuple[str, ...], line: Inline) -> AllowEntry | None:
        """Match the words that a line such as `$0 "$@"` starts."""
        direct = classified(argv, self.tables)
        words = () if direct is None or len(argv) < LEAST_CARRIED else carried_words(direct, line, self.tables)
        if not words:
            return None
        program = self._resolve(words[0])
        if not program.candidate:
            return None
        named = replace(program, called=program.candidate)
        entry = self._match(named, (program.candidate, *words[1:]))
        is_enough = line.carries_all_words or entry is None or entry.arg_pattern is None
        return entry if is_enough else None

    def _match(self, program: Program, argv: tuple[str, ...]) -> AllowEntry | None:
        return matching_entry(
            self.lists.entries,
            program,
            argv,
            home=self.where.home,
            cwd=self.where.cwd,
            tables=self.tables,
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
            and is_ever_safe(name, tables)
            and is_trusted(path, tables.trusted_safe_bin_dirs if folders is None else folders)
            and arguments_are_safe(segment.unwrapped.argv[1:], profile, tables)
        )

    def _is_skill(self, program: Program) -> bool:
        path = program.real_path if self.tables.matches_real_path else program.path
        return bool(path) and program.is_called_by_name and (fold(program.name), path) in self.lists.skills


def _by_wrappers(unwrapped: Unwrapped) -> Trust:
    return "prompt-only" if unwrapped.blocked_by else "executable"


def _trust(step: Step, unwrapped: Unwrapped, *, is_direct: bool) -> Trust:
    if unwrapped.blocked_by or step.command.has_prelude:
        return "prompt-only"
    if is_direct and step.call is not None and step.call.is_bindable:
        return "exact-command"
    return "prompt-only" if step.asks_anywhere else "executable"


def _is_within_a_shell(explained: Explanation) -> bool:
    """Say whether a line is one call of a shell, and all that nobody can tell is in the line that it is given.

    Such a call is understood as far as it goes: exactly it can be approved.
    """
    if len(explained.outer) != 1:
        return False
    step = explained.outer[0]
    first = next(explained.faults(), None)
    return step.starts_shell and (
        first is None or (step.command.start <= first.start and first.end <= step.command.end)
    )


def _by_name(word: str) -> bool:
    return "/" not in word and "\\" not in word


def groups(segments: tuple[Segment, ...]) -> list[str | None]:
    """Say what joins each pipeline of a line to the next; None after the last."""
    return [segment.joint for segment in segments if segment.joint != PIPE]
