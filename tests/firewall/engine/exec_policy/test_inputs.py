"""What is written to a command that runs: who reads commands, and what becomes of them."""

import pytest

from apps.firewall.engine.exec_policy import ExecRules
from apps.firewall.engine.exec_policy.inputs import judge_input, reads_code


@pytest.mark.parametrize(
    "program",
    [
        *("bash", "/bin/sh", "/usr/bin/Python3.11", "node", "ssh", "vim", "less", "gdb", "sqlite3", "env", "xargs"),
        *("psql", "make", "awk", "busybox", "tmux", "docker"),
    ],
)
def test_a_program_that_runs_what_it_reads_is_known_by_every_name(program: str) -> None:
    assert reads_code([program])
    assert reads_code(["tool", program])


@pytest.mark.parametrize("program", ["cat", "/usr/bin/grep", "sort", "/srv/serve", "tee"])
def test_other_programs_read_data(program: str) -> None:
    assert reads_code([program, f"/usr/bin/{program}"]) == ""


@pytest.mark.parametrize(
    ("rules", "outcome"),
    [
        (ExecRules(security="allowlist", ask="on-miss"), "ask"),
        (ExecRules(security="allowlist", ask="always"), "ask"),
        (ExecRules(security="allowlist", ask="off"), "deny"),
        (ExecRules(security="deny", ask="off"), "deny"),
        (ExecRules(security="full", ask="off"), "run"),
        (ExecRules(security="full", ask="on-miss"), "run"),
        (ExecRules(security="full", ask="always"), "ask"),
        (ExecRules(security="full", ask="off", strict_inline_eval=True), "ask"),
        (ExecRules(security="full", ask="off", strict_inline_eval=True, elevated="full"), "run"),
        (ExecRules(), "ask"),
    ],
)
def test_what_it_reads_is_taken_as_a_command_that_no_list_admits(rules: ExecRules, outcome: str) -> None:
    verdict = judge_input(rules, "bash")
    assert verdict.outcome == outcome
    assert ("`bash` runs what it reads" in verdict.message) is (outcome != "run")
