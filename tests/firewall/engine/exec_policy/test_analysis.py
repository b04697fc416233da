"""Whole lines against an allowlist: cases beside the recorded ones, and what holds for any text."""

import posixpath
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.firewall.engine.exec_policy.analysis import Analysis, Analyst, Lists
from apps.firewall.engine.exec_policy.index import AllowEntry, Index
from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.modes import requires_approval
from apps.firewall.engine.exec_policy.tables import RELEASES, exec_tables
from apps.firewall.engine.exec_policy.where import Where
from apps.firewall.shell.reader import READER

WHERE = Where(cwd="/desk", workspace="/desk", home="/home/op", search_path=("/bin",))
NAMES = names(
    "ls cat git echo head wc bash sh env nice sudo timeout npx npm pnpm find xargs busybox python3 rm fish flock time"
)
LISTED = tuple(AllowEntry(pattern=f"/bin/{name}") for name in ("ls", "cat", "git", "echo", "npm"))
NEW, OLD = "2026.9", "2026.2"


class Files:
    def is_program(self, path: str) -> bool:
        return posixpath.normpath(path) in {f"/bin/{name}" for name in NAMES} | {"/desk/run.sh", "/desk/tool"}

    def real_path(self, path: str) -> str:
        return posixpath.normpath(path)


def analyse(command: str, *entries: AllowEntry, release: str = NEW, **lists: Any) -> Analysis:
    held = Lists(entries=entries or LISTED, trusted_folders=("/bin",), **lists)
    return Analyst(shell=READER, files=Files(), where=WHERE, tables=exec_tables(release), lists=held).analyse(command)


def is_satisfied(command: str, *entries: AllowEntry, release: str = NEW) -> bool:
    return analyse(command, *entries, release=release).is_satisfied


@pytest.mark.parametrize(
    "command",
    [
        "ls | cat && git status; echo done",
        "ls\ncat x\r\n",
        "nice -n5 timeout -k 1 5 ls",
        "nice nice nice nice ls",
        "bash -c 'ls | cat'",
        "bash -exc ls",
        "bash -ce ls",
        "bash -eo pipefail -c ls",
        "bash -o pipefail --noprofile -c ls",
        "fish -c ls",
        "bash --norc -c 'nice ls'",
        "npx --yes git status",
        "pnpm exec git status",
        "pnpm dlx -- git status",
        "npm exec -- git status",
        "npm exec --yes git status",
        "nice -n-5 ls",
        "exec -a name ls",
        "! ls",
        "cd /tmp && pwd",
        "ls 'a;b' \"c|d\" e\\&f",
        "echo $'a\\tb'",
        "ls # && rm x",
        "env - ls",
        "env -- ls",
        "NICE -N 5 ls",
        "A+=1 ls",
        "bash -sc ls",
        "bash --unheard-of -c ls",
        "'' ; ls",
    ],
)
def test_what_every_command_of_a_line_is_listed_for_is_satisfied(command: str) -> None:
    assert is_satisfied(command)


@pytest.mark.parametrize(
    "command",
    [
        "nice nice nice nice nice ls",
        "timeout 5 -x ls",
        "flock lock -c ls",
        "env -i ls",
        "env A=1 ls",
        "time -o out ls",
        "command -v ls",
        "command -p ls",
        "bash -lc ls",
        "bash -c /bin/ls",
        "bash -c -x ls",
        "fish -C 'rm x' -c ls",
        "bash --login -c ls",
        "bash -c 'ls > x'",
        "bash -c 'ls &'",
        "bash -c '(ls)'",
        'bash -c "ls $HOME"',
        "bash -c 'ls $HOME'",
        "bash -s",
        "bash -c 'ls; rm x'",
        "bash -c 'bash -c ls'",
        "env bash -c ls",
        "exec bash -c ls",
        "command eval ls",
        "nice xargs ls",
        "env find . -exec ls",
        "busybox ls",
        "busybox sh -c ls",
        "npx -p other git status",
        "npx -c 'git status'",
        "npm exec --unknown git",
        "npm exec --yes -- git",
        "npm --prefix x exec git",
        "npx -- git",
        "pnpm git",
        "A=1 ls",
        "alias ls=rm",
        "source x",
    ],
)
def test_a_line_that_is_understood_can_still_be_admitted_by_nothing(command: str) -> None:
    answer = analyse(command)

    assert not answer.is_satisfied
    assert not answer.fault or command.startswith('""')


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        ("ls $HOME", "dynamic-argument"),
        ("ls ${x:-y}", "dynamic-argument"),
        ("$X ls", "dynamic-executable"),
        ("l* x", "dynamic-executable"),
        ("ls `id`", "command-substitution"),
        ("A=$(id) ls", "command-substitution"),
        ("ls > x", "redirect"),
        ("ls <<E\nE", "heredoc"),
        ("ls <<< x", "here-string"),
        ("ls <(id)", "process-substitution"),
        ("ls \\\n-l", "line-continuation"),
        ("f() { ls; }", "function-definition"),
        ("ls & cat", "background"),
        ("if ls; then cat; fi", "if"),
        ("until ls; do cat; done", "while"),
        ("case x in x) ls;; esac", "case"),
        ("(ls)", "subshell"),
        ("{ ls; }", "group"),
        ("ls 'x", "syntax-error"),
        ("ls \0 x", "syntax-error"),
        ("ls |", "unable to parse command"),
        ("A=1", "no commands to authorize"),
        ("unset A", "no commands to authorize"),
        ("bash -c ls & ls", "background"),
        ("(bash -c ls; ls)", "subshell"),
        ("bash -c ls > x", "redirect"),
        ("bash -c 'ls |'", "syntax-error"),
        ("ls " + "x" * 20_000, "too large to read"),
        ("ls " + "| cat " * 600, "too large to read"),
        ("ls \ud800", "no text"),
    ],
)
def test_what_nobody_can_tell_is_a_fault_whatever_is_listed(command: str, fault: str) -> None:
    answer = analyse(command, AllowEntry(pattern="*"))

    assert (answer.fault, answer.is_satisfied) == (fault, False)


@pytest.mark.parametrize(
    ("entry", "command", "expected"),
    [
        (AllowEntry(pattern="/bin/bash"), "bash", True),
        (AllowEntry(pattern="/bin/bash"), "bash run.sh", False),
        (AllowEntry(pattern="/desk/run.sh"), "bash run.sh a", True),
        (AllowEntry(pattern="/desk/run.sh", arg_pattern="^a$"), "./run.sh a", True),
        (AllowEntry(pattern="/desk/run.sh", arg_pattern="^a$"), "bash run.sh a", True),
        (AllowEntry(pattern="/desk/run.sh", arg_pattern="^a$"), "bash run.sh a b", False),
        (AllowEntry(pattern="*", source="allow-always"), "ls", False),
        (AllowEntry(pattern="/bin/ls", arg_pattern=""), "ls -l", True),
        (AllowEntry(pattern="/bin/busybox"), "busybox sh -c 'rm x'", True),
        (AllowEntry(pattern="/bin/sh"), "busybox sh -c 'rm x'", False),
        (AllowEntry(pattern="/bin/ls"), "sh -c '$0 \"$@\"' ls -l", True),
        (AllowEntry(pattern="/bin/rm"), "sh -c '$0 \"$@\"' ls -l", False),
        (AllowEntry(pattern="/bin/sudo"), "sh -c '$0 \"$@\"' sudo ls", False),
        (AllowEntry(pattern="/bin/xargs"), "nice xargs rm", True),
        (AllowEntry(pattern="/bin/xargs"), "xargs rm", False),
        (AllowEntry(pattern="/desk/run.sh"), "bash --rcfile x run.sh", False),
        (AllowEntry(pattern="/bin/bash", arg_pattern="^-lc ls$"), "bash -lc ls", True),
        (AllowEntry(pattern="*"), "bash -lc ls", True),
        (AllowEntry(pattern="*"), "exec bash -c ls", False),
        (AllowEntry(pattern="*", arg_pattern="."), "ls x", False),
        (AllowEntry(pattern="*"), "sudo ls", False),
        (AllowEntry(pattern="ls"), "nice ls", True),
        (AllowEntry(pattern="ls"), "/bin/ls", False),
        (AllowEntry(pattern="/BIN/LS"), "ls", False),
        (AllowEntry(pattern="/bin/ls", argv=("ls", "-l")), "ls -l", True),
        (AllowEntry(pattern="/bin/ls", argv=("ls", "-l")), "ls -la", False),
        (AllowEntry(pattern="/bin/ls", source="allow-always"), "ls", False),
        (AllowEntry(pattern="/bin/ls", arg_pattern="("), "ls (", False),
    ],
)
def test_an_entry_admits_what_it_says(entry: AllowEntry, command: str, expected: bool) -> None:
    assert is_satisfied(command, entry) is expected


def test_the_segments_say_where_they_stand_and_what_joins_them() -> None:
    answer = analyse("ls é | cat && nice git log")

    assert [segment.command.text for segment in answer.segments] == ["ls é", "cat", "nice git log"]
    assert [(each.command.start, each.command.end) for each in answer.segments] == [(0, 4), (7, 10), (14, 26)]
    assert [segment.joint for segment in answer.segments] == ["|", "&&", None]
    assert answer.segments[2].unwrapped.chain == ("nice",)
    assert answer.segments[2].program.path == "/bin/git"


def test_the_older_release_stops_at_the_first_command_that_is_not_admitted() -> None:
    answer = analyse("ls && rm x && $(", release=OLD)

    assert (answer.fault, answer.is_satisfied, answer.weighed) == ("", False, 2)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat <<E\nit's\nE", True),
        ("cat <<E\n$(id)\nE", False),
        ("cat <<'E'\n$(id)\nE", True),
        ("cat <<E\nx", False),
        ("ls; 'a", False),
        ("ls ;; ls", False),
        ('ls "a\nb"', False),
        ("ls $HOME", True),
        ("bash -c ls", False),
        ("ls\n", False),
        ("\nls", False),
        ("ls && cat\n", True),
        ("cat <<E\nx\nE\n", True),
        ("cat <<E\nx\nE\n\n", False),
        ("cat <<E\nx\nE ", False),
        ("ls | ", True),
    ],
)
def test_the_older_release_reads_characters(command: str, expected: bool) -> None:
    assert is_satisfied(command, release=OLD) is expected


def test_ten_thousand_patterns_answer_as_one_by_one() -> None:
    patterns = [f"/opt/{number % 7}/p{number}*" for number in range(300)] + ["**/p12?", "/opt/*/p2", "p*", "/OPT/1/p1"]
    for release in RELEASES:
        tables = exec_tables(release)
        whole = Index([AllowEntry(pattern=each) for each in patterns], home="/h", tables=tables)
        single = [Index([AllowEntry(pattern=each)], home="/h", tables=tables) for each in patterns]
        for path in ("/opt/1/p1", "/opt/5/p12x", "/opt/3/p129", "/opt/x/p2", "/else"):
            assert whole.of_path(path) == [number for number, index in enumerate(single) if index.of_path(path)]


WORDS = sorted(names("ls rm cat bash -c env nice sudo | && || ; & $ $( ${ ) } ( { ' \" ` \\ << E > < # A=1 * ~ é"))
PIECES = st.sampled_from([*WORDS, " ", " ", "\n", "\0", "\u202e", "\ud800"])
HOSTILE = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))


def test_characters_past_the_tables_of_the_parser_are_read() -> None:
    # the parser looks up what kind of character it sees in tables of the C library, without asking for their end
    for text in ("{\U0010cafc\n({!a", "@;E\U000bb53d_-{\U0006b2c7\\#\U00045681=\\", "ls \U0010ffff | \u3000cat"):
        for cut in range(len(text)):
            assert READER.script(text[cut:]).text == text[cut:]


@given(HOSTILE, st.sampled_from(sorted(RELEASES)))
@settings(max_examples=400, deadline=None)
def test_no_text_makes_the_analysis_fail(command: str, release: str) -> None:
    answer = analyse(command, AllowEntry(pattern="*"), release=release)

    assert isinstance(answer.is_satisfied, bool)
    assert not (answer.fault and answer.is_satisfied)


@given(
    st.sampled_from(["ls", "ls -la x", "cat 'a b'", "nice git status", "bash -c ls"]),
    st.sampled_from(["&&", "||", "|", ";", "\n", "|&", "&", ";;", " && ! "]),
    st.sampled_from(["rm x", "nice rm", "bash -c 'rm x'", "env rm", "/bin/rm", "./tool", "A=1 ls", "sudo ls", "x"]),
    st.booleans(),
    st.sampled_from(sorted(RELEASES)),
)
@settings(max_examples=300, deadline=None)
def test_a_command_that_is_not_listed_is_carried_in_by_no_operator(
    allowed: str, operator: str, other: str, other_first: bool, release: str
) -> None:
    line = f"{other} {operator} {allowed}" if other_first else f"{allowed} {operator} {other}"

    assert not is_satisfied(line, release=release)


@given(st.text(max_size=20), st.sampled_from(["ls {}", "rm {}", "bash -c {}", "nice {}", "git {} | cat", "{} ls"]))
@settings(max_examples=400, deadline=None)
def test_quoting_an_argument_admits_nothing_that_is_not_listed(argument: str, line: str) -> None:
    quoted = "'" + argument.replace("'", "'\\''") + "'"
    answer = analyse(line.format(quoted))

    listed = {entry.pattern for entry in LISTED}
    for segment in answer.segments:
        if segment.satisfied_by == "allowlist":
            assert segment.entry is not None and segment.entry.pattern in listed
    if "rm" in line:
        assert not answer.is_satisfied


@pytest.mark.parametrize(
    "unit", ["|", "a|", "x=(", ">", "<<", "<<a\n", "${", "((", "for ((;;", "(", "$(", "`", "a;", "a "]
)
@pytest.mark.parametrize("release", sorted(RELEASES))
def test_a_hostile_line_of_a_megabyte_is_read_in_bounded_time(unit: str, release: str) -> None:
    for length in (1_000_000, 16_000, 1_200):
        started = time.thread_time()
        answer = analyse((unit * length)[:length], AllowEntry(pattern="*"), release=release)
        assert time.thread_time() - started < 5
        assert length < 20_000 or not answer.is_satisfied


def test_a_tower_of_shells_is_not_followed_for_ever() -> None:
    line = "ls"
    for _ in range(6):
        line = "bash -c '" + line.replace("'", "'\\''") + "'"

    assert not is_satisfied(line, AllowEntry(pattern="/bin/**"))


@pytest.mark.parametrize("ask", ["off", "on-miss", "always"])
def test_only_a_miss_waits_for_a_person(ask: str) -> None:
    answer = analyse("rm x")

    assert requires_approval(ask, "allowlist", is_satisfied=answer.is_satisfied) is (ask != "off")
