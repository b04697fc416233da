"""Programs that a list names: what runs unasked is known to neither run, nor write, nor load anything."""

import posixpath
from pathlib import Path
from typing import Any, Final

import pytest

from apps.firewall.engine.exec_policy import ExecVerdict, Where, exec_rules, judge
from apps.firewall.engine.exec_policy.known_safe import RULES, find_doubt
from apps.firewall.engine.exec_policy.patterns import argument_expression, is_exact
from apps.firewall.engine.exec_settings import ExecSettings
from apps.firewall.shell import read_line

LINES: Final = Path(__file__).parent / "lines"
WHERE: Final = Where(cwd="/desk", workspace="/desk", home="/home/op", search_path=("/usr/bin",))
OWN: Final = ("/desk/scripts/job.sh", "/usr/local/bin/deploy", "/opt/tools/report", "/desk/e")
LINKS: Final = {"/usr/bin/vi": "/usr/bin/vim.basic", "/desk/ls": "/usr/bin/perl", "/usr/bin/awk": "/usr/bin/mawk"}


class Files:
    """Every program is there, under `/usr/bin`."""

    def is_program(self, path: str) -> bool:
        path = posixpath.normpath(path)
        return path.startswith("/usr/bin/") or path in OWN or path in LINKS

    def real_path(self, path: str) -> str:
        path = posixpath.normpath(path)
        return LINKS.get(path, path)


def verdict(command: str, *entries: Any, ask: str = "on-miss", dialect: str = "2026.9") -> ExecVerdict:
    approvals = {"agents": {"bot": {"allowlist": list(entries) or [{"pattern": "/usr/bin/*"}]}}}
    settings = ExecSettings("bot", security="allowlist", ask=ask, approvals=approvals)
    return judge(read_line(command), exec_rules(settings, dialect=dialect), files=Files(), where=WHERE)


def lines_of(name: str) -> list[str]:
    return [line for line in (LINES / name).read_text().splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("dialect", ["2026.9", "2026.2"])
@pytest.mark.parametrize("entries", [[], [{"pattern": "*"}], [{"pattern": "**"}]])
def test_no_line_runs_another_program_writes_or_loads_unasked(dialect: str, entries: list[Any]) -> None:
    lines = lines_of("must_wait.txt")
    assert len(lines) > 300
    assert len({line.split()[0] for line in lines}) > 100
    if entries == [{"pattern": "*"}]:  # which names ./e as well
        lines = [line for line in lines if not line.startswith("env ./e")]
    for line in lines:
        for ask in ("on-miss", "off"):
            outcomes = [verdict(each, *entries, ask=ask, dialect=dialect).outcome for each in line.split("|||")]
            assert set(outcomes) - {"run"}, line


def test_what_only_reads_runs_unasked() -> None:
    lines = lines_of("innocent.txt")
    assert len(lines) > 200
    assert [(line, answer.message) for line in lines if (answer := verdict(line)).outcome != "run"] == []


def test_a_line_that_the_release_admits_is_said_to_wait_by_our_own_rules() -> None:
    for command, reason in (
        ("perl e", "runs_by_nature"),
        ("sort -o out.txt a.txt", "not_known_safe"),
        ("frobnicate a", "program_not_described"),
        ("python3 -c pass", "inline_code"),
    ):
        answer = verdict(command)

        assert (answer.outcome, answer.reason, answer.is_stricter) == ("ask", reason, True)
        assert answer.message.startswith("stricter than OpenClaw: ")
        assert answer.parts[0].is_stricter
    miss = verdict("perl e", {"pattern": "/usr/bin/ls"})
    assert (miss.reason, miss.is_stricter, "stricter" in miss.message) == ("allowlist_miss", False, False)


@pytest.mark.parametrize(
    ("pattern", "arguments", "command", "outcome"),
    [
        ("/usr/bin/perl", "^e$", "perl e", "run"),
        ("/usr/bin/perl", r"^report_\d+\.pl$", "perl report_7.pl", "run"),
        ("/usr/bin/perl", r"^\S+$", "perl e", "ask"),
        ("/usr/bin/perl", "^.*$", "perl e", "ask"),
        ("/usr/bin/perl", "e", "perl e", "ask"),
        ("/usr/bin/npm", "^(test|run build)$", "npm run build", "run"),
        ("/usr/bin/npm", "^(test|run build)$", "npm run other", "ask"),
        ("/usr/bin/python3", "^-c pass$", "python3 -c pass", "run"),
        ("/usr/bin/tar", r"^-xf \w+\.tar$", "tar -xf a.tar", "run"),
        ("/usr/bin/tar", r"^-xf \w+\.tar$", "tar -xf a.tar --to-command=./e", "ask"),
        ("/usr/bin/tar", "(?i)^-xf a.tar$", "tar -xf a.tar", "ask"),
    ],
)
def test_an_entry_that_tells_every_word_admits_what_its_program_alone_does_not(
    pattern: str, arguments: str, command: str, outcome: str
) -> None:
    entries = [{"pattern": "*"}, {"pattern": pattern, "argPattern": arguments}]

    assert verdict(command, *entries).outcome == outcome


@pytest.mark.parametrize(
    "command", ["./scripts/job.sh --any -o x", "/usr/local/bin/deploy --now", "/opt/tools/report a b"]
)
def test_a_program_of_the_admins_own_runs_with_any_arguments(command: str) -> None:
    program = command.split()[0].replace("./", "/desk/")

    assert verdict(command, {"pattern": program}).outcome == "run"


def test_a_name_that_somebody_gave_a_link_says_nothing_of_the_program_behind_it() -> None:
    assert verdict("./ls e", {"pattern": "/usr/bin/*"}).reason == "runs_by_nature"
    assert verdict("vi e", {"pattern": "/usr/bin/*"}).outcome == "ask"
    assert verdict("vi --version", {"pattern": "/usr/bin/*"}).outcome == "run"


def test_a_program_of_another_machine_is_held_to_the_same_tables() -> None:
    for called, is_doubtful in (("ls", False), ("perl", True), ("frobnicate", True)):
        path = f"/../{called}"

        assert (find_doubt((called, "e"), called=called, path=path, real_path=path) is not None) is is_doubtful


def test_a_variable_of_the_call_keeps_a_listed_command_from_running_unasked() -> None:
    rules = exec_rules(
        ExecSettings("bot", approvals={"agents": {"bot": {"allowlist": [{"pattern": "*"}]}}}), dialect="2026.9"
    )
    for name, outcome in (("GIT_EXTERNAL_DIFF", "ask"), ("LANG", "run"), ("LC_ALL", "run"), ("TAR_OPTIONS", "ask")):
        answer = judge(read_line("git diff"), rules, files=Files(), where=WHERE, variables=[name])

        assert answer.outcome == outcome, name


def test_every_line_of_the_tables_can_be_read() -> None:
    assert len(RULES) > 150
    for name, rule in RULES.items():
        assert name == name.strip().lower() or name in {"R"}
        assert all(option.startswith("-") and len(option) > 1 for option in rule.options), name


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"^log -\d+ --since=\S+ --author=\S+$", "log -3 --since=a --author=b", True),
        (r"^log -\d+ --since=\S+ --author=\S+$", "log -3 --since=a --author=b --output=x", False),
        (r"^(a|b)+ (c|d)* [^x]{2,}$", "abab  yy", True),
        (r"^(a+)+$", "a" * 900 + "!", False),
        (r"x*y*z*w*$", "xyzw", True),
        (r"^a?b?c+d+e+$", "acde", True),
        (r"^(?:-v )*(?:-q )*[a-z]+ [a-z]+$", "-v -v -q ab cd", True),
    ],
)
def test_a_pattern_of_many_repetitions_is_searched_in_bounded_time(pattern: str, text: str, matches: bool) -> None:
    assert bool(argument_expression(pattern).search(text)) is matches


@pytest.mark.parametrize(
    ("pattern", "exact"),
    [
        ("^e$", True),
        (r"^a\d+$", True),
        ("^[a-z_]{3}$", True),
        ("^.$", False),
        ("^[^x]$", False),
        ("e$", False),
        ("^a|b$", False),
    ],
)
def test_a_pattern_is_exact_where_it_leaves_nothing_open_but_letters_and_digits(pattern: str, exact: bool) -> None:
    assert is_exact(pattern) is exact


def test_a_pattern_that_cannot_be_used_is_named_as_the_cause() -> None:
    answer = verdict("git status", {"pattern": "/usr/bin/git", "argPattern": "(?=s)"})

    assert (answer.outcome, answer.reason) == ("ask", "bad_pattern")
    assert "/usr/bin/git: look-around" in answer.message


@pytest.mark.parametrize(
    ("entry", "command"),
    [
        ("/usr/bin/busybox", "busybox sh -c 'rm x'"),
        ("/usr/bin/xargs", "nice xargs rm"),
        ("/usr/bin/ls", "A+=1 ls"),
        ("/usr/bin/ls", "A[0]=1 ls"),
        ("/usr/bin/ls", "ls$ x"),
        ("/usr/bin/ls", "ls {1..3}"),
        ("/usr/bin/ls", "ls $é"),
        ("/usr/bin/ls", "bash --unheard-of -c ls"),
        ("/usr/bin/ls", "ls $(sh -c id)"),
        ("/usr/bin/bash", "while bash -lc ls; do true; done"),
        ("/usr/bin/ls", "sh -c '$0 \"$@\"' ls -l"),
    ],
)
def test_what_the_release_admits_by_a_name_alone_waits_here(entry: str, command: str) -> None:
    assert verdict(command, {"pattern": entry}).outcome == "ask"


@pytest.mark.parametrize("command", ["env - ls", "env -- ls", "bash -c 'ls -l'", "'ls' 'a$'", "grep x$ f", "! ls"])
def test_what_is_no_more_than_its_program_runs(command: str) -> None:
    assert verdict(command, {"pattern": "/usr/bin/ls"}, {"pattern": "/usr/bin/grep"}).outcome == "run"
