"""What a standing answer covers: the preview's question and the judge's answer are one, command by command."""

import os
from typing import Final

import pytest

from apps.firewall.engine.exec_policy import AllowEntry, ExecRules, Where, judge
from apps.firewall.engine.exec_policy.standing import covering
from apps.firewall.runtime.executors.workspaces import HostFiles
from apps.firewall.shell import read_line
from apps.firewall.tools.builtin.exec import PATH
from tests.gateway.command_corpus import commands, seeds

FILES: Final = HostFiles()
WHERE: Final = Where(cwd="/", workspace="/", home="/root", search_path=tuple(PATH.split(":")))
PATTERNS: Final = {"exact": None, "first": "^-l( .*)?$", "any": "^.*$"}


def real_path_of(program: str) -> str:
    return next(
        os.path.realpath(f"{folder}/{program}")
        for folder in WHERE.search_path
        if FILES.is_program(f"{folder}/{program}")
    )


def grants_of(turn: int) -> tuple[AllowEntry, ...]:
    """Say "always" to one call of each program, each as far as its turn says."""
    return tuple(
        AllowEntry(
            pattern=real_path_of(program),
            arg_pattern=PATTERNS[reach],
            argv=None if PATTERNS[reach] else (program, *arguments),
            source="allow-always",
        )
        for program, arguments, reach in seeds(turn)
    )


@pytest.mark.unhurried
@pytest.mark.parametrize(("dialect", "turn"), [("2026.9", 0), ("2026.2", 1), ("2026.9", 2)])
@pytest.mark.slow
def test_two_thousand_commands_are_covered_as_the_judge_lets_them_run(dialect: str, turn: int) -> None:
    grants = grants_of(turn)
    rules = ExecRules(security="allowlist", ask="on-miss", safe_bins=frozenset(), dialect=dialect, grants=grants)
    ran: set[AllowEntry | None] = set()
    for command in commands(2_000):
        line = read_line(command)
        verdict = judge(line, rules, files=FILES, where=WHERE)
        covered = [entry for entry in grants if covering((entry,), line, files=FILES, where=WHERE) is not None]
        assert covered == ([verdict.matched] if verdict.is_granted else []), command
        assert (verdict.outcome == "run") is verdict.is_granted, command
        ran.add(verdict.matched)
    assert ran >= set(grants), "the corpus asks nothing of some grants"


def test_an_answer_means_the_same_under_the_release_that_knows_no_arguments() -> None:
    grant = AllowEntry(pattern=real_path_of("ls"), arg_pattern="^-l( .*)?$", source="allow-always")
    for dialect in ("2026.9", "2026.2"):
        rules = ExecRules(security="allowlist", ask="on-miss", safe_bins=frozenset(), dialect=dialect, grants=(grant,))
        outcomes = [
            judge(read_line(command), rules, files=FILES, where=WHERE).outcome
            for command in ("ls -l", "ls -l notes.txt", "ls -a", "ls", "ls -l | sort")
        ]
        assert outcomes == ["run", "run", "ask", "ask", "ask"]
