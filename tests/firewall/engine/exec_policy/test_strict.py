"""Strict inline evaluation: code in arguments waits for a person, also where everything else may run."""

import pytest

from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.engine.exec_policy import ExecRules, ExecVerdict, judge
from apps.firewall.engine.exec_policy.unanswered import runs_unanswered
from apps.firewall.shell import read_line
from tests.firewall.engine.exec_policy.test_judge import WHERE


class Everything:
    def is_program(self, path: str) -> bool:
        return path.startswith("/bin/")

    def real_path(self, path: str) -> str:
        return "/bin/python3" if path == "/bin/py" else path


def verdict(command: str, **rules: object) -> ExecVerdict:
    held = ExecRules(**{"security": "full", "ask": "off", "strict_inline_eval": True, **rules})  # type: ignore[arg-type]
    return judge(read_line(command), held, files=Everything(), where=WHERE)


@pytest.mark.parametrize("release", DIALECTS)
@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'print(1)'",
        "py -c 'print(1)'",
        "/bin/node --eval 1",
        "perl -ne 1 a",
        "env A=1 python3 -c 1",
        "sudo -u x ruby -e 1",
        "timeout 5 node -p 1",
        "bash -c 'python3 -c 1'",
        "ls | python3 -c 1",
        "ls && (node -e 1)",
        "echo $(perl -e 1)",
        "awk '{print}' a",
        "find . -exec rm {} +",
        "ls | xargs rm",
    ],
)
def test_code_waits_for_a_person(command: str, release: str) -> None:
    found = verdict(command, dialect=release)
    assert (found.outcome, found.reason) == ("ask", "inline_code")
    assert not found.may_be_remembered
    assert not runs_unanswered(found, ExecRules(security="full", ask="off", ask_fallback="full"))


@pytest.mark.parametrize("command", ["ls -l", "python3 run.py", "git status", "ls | wc -l", "echo a > b"])
def test_what_carries_no_code_runs_as_before(command: str) -> None:
    assert verdict(command).outcome == "run"


def test_it_is_off_unless_it_is_switched_on() -> None:
    assert verdict("python3 -c 1", strict_inline_eval=False).outcome == "run"


def test_elevated_full_asks_nobody_and_deny_stays_deny() -> None:
    assert verdict("python3 -c 1", elevated="full").outcome == "run"
    assert verdict("python3 -c 1", security="deny").outcome == "deny"
    assert verdict("python3 -c 1", security="allowlist").outcome == "deny"
