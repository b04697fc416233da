"""Programs that run what they read: to write to one is to give a command.

Nobody can tell line by line what such a program makes of its input: lines come in parts, and earlier ones change what
later ones mean. So there is one answer for all that is written to it, and it is the answer to a command that no list
admits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from apps.firewall.engine.exec_policy.hardened import INTERPRETERS
from apps.firewall.engine.exec_policy.line import names
from apps.firewall.engine.exec_policy.modes import requires_approval
from apps.firewall.engine.exec_policy.programs import (
    CODE_LETTERS,
    CODE_SUBCOMMANDS,
    PROGRAM_AS_ARGUMENT,
    SHELLS,
    SUBCOMMANDS_THAT_RUN,
    WRAPPERS,
    plain_name,
)
from apps.firewall.engine.exec_policy.rules import ExecRules

TAKE_COMMANDS: Final = names(
    # editors, pagers and monitors with a key that runs commands
    "ed ex vi vim nvim view emacs nano pico joe mc less more most man info top htop tar git "
    # lines to other machines, containers and screens
    "ssh telnet nc ncat netcat socat rlogin rsh ftp sftp lftp mosh screen tmux dtach docker podman nerdctl kubectl oc "
    # debuggers and clients with a shell or code of their own
    "gdb lldb pdb strace sqlite sqlite3 psql mysql mariadb mongo mongosh redis-cli sqlplus isql "
    # interpreters besides those that take code in their arguments
    "ipython bpython irb pry jshell sbcl clisp guile swipl ocaml utop ghci iex erl php psysh octave maxima gp tclsh "
    "wish deno bun ts-node tsx node nodejs racket janet fennel luajit kotlin kotlinc scala "
    # programs that carry out a list of jobs from their input
    "at batch crontab make gmake ninja xargs parallel m4 gnuplot"
)
RUNS_WHAT_IT_READS: Final = (
    SHELLS
    | WRAPPERS
    | INTERPRETERS
    | PROGRAM_AS_ARGUMENT
    | TAKE_COMMANDS
    | {*CODE_LETTERS, *CODE_SUBCOMMANDS, *SUBCOMMANDS_THAT_RUN}
)


@dataclass(frozen=True, slots=True)
class InputVerdict:
    """What became of an input, and why."""

    outcome: Literal["run", "ask", "deny"]
    message: str = ""
    rule: str = ""


def reads_code(called: Iterable[str]) -> str:
    """Name the program among these that runs what it reads; empty where none is known to.

    Args:
        called: a program by every name it has: as it was called, and the real path of its file.
    """
    return next((name for name in map(plain_name, called) if name in RUNS_WHAT_IT_READS), "")


def judge_input(rules: ExecRules, program: str) -> InputVerdict:
    """Judge what is written to a program that runs what it reads, whatever it is.

    Args:
        program: its name, for people.
    """
    what = f"`{program}` runs what it reads"
    if requires_approval(rules.ask, rules.security, is_satisfied=False):
        return InputVerdict(
            "ask", f"{what}: what is written to it waits for a person, as a command does", rules.ask_from
        )
    if rules.security != "full":
        message = f"{what}, and nobody is asked for this agent ({rules.ask_from})"
        return InputVerdict("deny", message, rules.security_from)
    if rules.strict_inline_eval and rules.elevated != "full":
        return InputVerdict("ask", f"{what}: code waits for a person (tools.exec.strictInlineEval)", rules.ask_from)
    return InputVerdict("run")
