"""What a standing answer of a person covers: one plain command, by the real path of its program.

It is ours, not OpenClaw's: it means the same under every release, which differ in what their own lists can say.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from apps.firewall.engine.exec_policy.allowlist import AllowEntry, FileSystem, Program, find_program, matching_entry
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence
from apps.firewall.engine.exec_policy.programs import indirections, plain_name
from apps.firewall.engine.exec_policy.tables import exec_tables
from apps.firewall.engine.exec_policy.where import Where

SHELLS: Final = ("/bin/bash", "/usr/bin/bash")
MULTIPLEXERS: Final = frozenset(["busybox", "toybox"])
RELEASE: Final = "2026.9"
"""The one whose lists know real paths and arguments."""


def program_of(line: CommandLine, *, files: FileSystem, where: Where) -> Program:
    """Find the file that a line would run; bash for what needs a shell."""
    if not line.syntax:
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


def granting(grants: Iterable[AllowEntry], program: Program, argv: tuple[str, ...], *, home: str) -> AllowEntry | None:
    """Find the standing answer that covers one plain command."""
    candidate = replace(program, candidate=program.real_path)
    return matching_entry(grants, candidate, argv, home=home, tables=exec_tables(RELEASE))


def covering(grants: Iterable[AllowEntry], line: CommandLine, *, files: FileSystem, where: Where) -> AllowEntry | None:
    """Find the standing answer that would speak for a line, by the rules by which the judge finds it."""
    if line.unreadable or line.syntax or not line.argv:
        return None
    program = program_of(line, files=files, where=where)
    if not program.is_found or shows(line, program):
        return None
    return granting(grants, program, line.argv, home=where.home)
