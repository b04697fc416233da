"""What a standing answer of a person covers: one plain command, by the real path of its program.

It is ours, not OpenClaw's: it means the same under every release, which differ in what their own lists can say.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from apps.firewall.engine.exec_policy.allowlist import AllowEntry, FileSystem, Program, find_program, matching_entry
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence, names
from apps.firewall.engine.exec_policy.programs import indirections, plain_name
from apps.firewall.engine.exec_policy.tables import exec_tables
from apps.firewall.engine.exec_policy.where import Where

SHELLS: Final = ("/bin/bash", "/usr/bin/bash")
MULTIPLEXERS: Final = frozenset(["busybox", "toybox"])
RELEASE: Final = "2026.9"
"""The one whose lists know real paths and arguments."""


BUILTINS: Final = names(
    ": . [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo "
    "enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf "
    "pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit "
    "umask unalias unset wait"
)
"""What bash knows without a file. Found as a program, it is that program."""


def needs_shell(line: CommandLine, *, files: FileSystem, where: Where) -> bool:
    """Say whether bash runs a line: one with syntax, and a command that no file stands for."""
    if line.syntax or not line.argv:
        return bool(line.syntax)
    called = line.argv[0]
    return (
        called in BUILTINS
        and not find_program(called, files=files, cwd=where.cwd, search_path=where.search_path).is_found
    )


def program_of(line: CommandLine, *, files: FileSystem, where: Where) -> Program:
    """Find the file that a line would run; bash for what needs a shell."""
    if not needs_shell(line, files=files, where=where):
        return find_program(line.argv[0], files=files, cwd=where.cwd, search_path=where.search_path)
    for path in SHELLS:
        if files.is_program(path):
            return Program(called="bash", path=path, real_path=files.real_path(path))
    return Program(called="bash")


def shows(line: CommandLine, program: Program) -> tuple[Evidence, ...]:
    """Tell what makes a line more than the words that were read; no standing answer speaks for such a line."""
    return line.syntax or indirections(_names(program), line.argv)


def _names(program: Program) -> frozenset[str]:
    """Every name that tells what a program is; a multiplexer behind a link is the tool that it was called as."""
    behind = {plain_name(program.path), plain_name(program.real_path)}
    return frozenset({plain_name(program.called)} | (behind - MULTIPLEXERS))


def granting(
    grants: Iterable[AllowEntry], program: Program, argv: tuple[str, ...], *, where: Where
) -> AllowEntry | None:
    """Find the standing answer that covers one plain command."""
    candidate = replace(program, candidate=program.real_path)
    tables = exec_tables(RELEASE)
    return matching_entry(grants, candidate, argv, home=where.home, cwd=where.cwd, tables=tables, is_ours=True)


def covering(grants: Iterable[AllowEntry], line: CommandLine, *, files: FileSystem, where: Where) -> AllowEntry | None:
    """Find the standing answer that would speak for a line, by the rules by which the judge finds it."""
    if line.unreadable or line.syntax or not line.argv:
        return None
    program = program_of(line, files=files, where=where)
    if not program.is_found or shows(line, program):
        return None
    return granting(grants, program, line.argv, where=where)
