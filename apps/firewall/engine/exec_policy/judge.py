"""The verdict on a command: run it, ask a person, or refuse it."""

from dataclasses import dataclass
from typing import Final, Literal

from apps.firewall.engine.exec_policy.allowlist import (
    AllowEntry,
    FileSystem,
    Program,
    find_program,
    matching_entry,
)
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence
from apps.firewall.engine.exec_policy.modes import requires_approval
from apps.firewall.engine.exec_policy.programs import indirections, plain_name
from apps.firewall.engine.exec_policy.risks import risk_hints
from apps.firewall.engine.exec_policy.rules import ExecRules

SHELLS: Final = ("/bin/bash", "/usr/bin/bash")
MULTIPLEXERS: Final = frozenset(["busybox", "toybox"])
HOSTS_WE_ARE: Final = frozenset([None, "auto", "gateway", "sandbox"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where a command would run, as absolute paths. `home` is what `~` means in a pattern: the server's own home."""

    cwd: str
    workspace: str
    home: str
    search_path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecVerdict:
    """What became of a command, and why.

    Args:
        outcome: `run`, `ask` or `deny`.
        reason: stable code; `message` says it to people and agents.
        evidence: what in the line led here.
        risks: hints for the person who is asked.
        matched: the entry that admits the command.
        is_granted: that entry is a standing answer of a person.
        argv, executable: what would run; with shell syntax `bash -c` and the line, exactly.
        may_be_remembered: an "always" for it can be stated as a pattern that says what it allows.
    """

    outcome: Literal["run", "ask", "deny"]
    reason: str
    message: str
    evidence: tuple[Evidence, ...] = ()
    risks: tuple[Evidence, ...] = ()
    matched: AllowEntry | None = None
    is_granted: bool = False
    argv: tuple[str, ...] = ()
    executable: str = ""
    may_be_remembered: bool = False


def judge(line: CommandLine, rules: ExecRules, *, files: FileSystem, where: Where) -> ExecVerdict:
    """Judge one command of one agent.

    A line that no allowlist can speak for (shell syntax, a wrapper, code in an argument) is never satisfied by one:
    it waits for a person, or is refused where nobody is asked.
    """
    refused = _refused_at_once(line, rules)
    if refused is not None:
        return refused
    program = _program(line, files, where)
    if not program.is_found:
        return _deny("program_not_found", f"no program `{program.called}` was found")
    evidence = line.syntax or indirections(_names(program), line.argv)
    entry = None if evidence else _matching(rules.allowlist, program, line, rules, where)
    grant = None if evidence else _matching(rules.grants, program, line, rules, where)
    outcome, reason, message = _weigh(rules, evidence, entry, grant)
    return ExecVerdict(
        outcome=outcome,
        reason=reason,
        message=message,
        evidence=evidence,
        risks=risk_hints(line, workspace=where.workspace),
        matched=entry or grant,
        is_granted=entry is None and grant is not None,
        argv=("bash", "-c", line.text) if line.syntax else line.argv,
        executable=program.real_path,
        may_be_remembered=not evidence and rules.ask != "always",
    )


def _refused_at_once(line: CommandLine, rules: ExecRules) -> ExecVerdict | None:
    if rules.security == "deny":
        return _deny("security_deny", f"commands are switched off for this agent ({rules.security_from})")
    if rules.host not in HOSTS_WE_ARE:
        return _deny("host_unavailable", f"commands of this agent belong on the host `{rules.host}`, which is not here")
    if line.unreadable:
        return _deny("unreadable", f"the command cannot be read: {line.unreadable}")
    if not line.argv and not line.syntax:
        return _deny("unreadable", "the command is empty")
    return None


def _program(line: CommandLine, files: FileSystem, where: Where) -> Program:
    if not line.syntax:
        return find_program(line.argv[0], files=files, cwd=where.cwd, search_path=where.search_path)
    for path in SHELLS:
        if files.is_program(path):
            return Program(called="bash", path=path, real_path=files.real_path(path))
    return Program(called="bash")


def _names(program: Program) -> frozenset[str]:
    """Every name that tells what a program is; a multiplexer behind a link is the tool that it was called as."""
    behind = {plain_name(program.path), plain_name(program.real_path)}
    return frozenset({plain_name(program.called)} | (behind - MULTIPLEXERS))


def _matching(
    entries: tuple[AllowEntry, ...], program: Program, line: CommandLine, rules: ExecRules, where: Where
) -> AllowEntry | None:
    return matching_entry(entries, program, line.argv, dialect=rules.dialect, home=where.home)


ASKED: Final = {
    "wrapper": "it runs another program (`{}`)",
    "shell": "it starts a shell (`{}`)",
    "inline_code": "it carries code in its arguments (`{}`)",
}


def _weigh(
    rules: ExecRules, evidence: tuple[Evidence, ...], entry: AllowEntry | None, grant: AllowEntry | None
) -> tuple[Literal["run", "ask", "deny"], str, str]:
    is_satisfied, is_granted = entry is not None, grant is not None
    if requires_approval(rules.ask, rules.security, is_satisfied=is_satisfied, is_durably_allowed=is_granted):
        if rules.ask == "always":
            return "ask", "ask_always", f"every command of this agent waits for a person ({rules.ask_from})"
        return ("ask", *_why(evidence))
    if rules.security == "full":
        return "run", "security_full", f"commands run unasked for this agent ({rules.security_from})"
    if entry is not None:
        return "run", "allowlist", f"the allowlist admits it (`{entry.pattern}`)"
    if is_granted:
        return "run", "grant", "a standing approval covers it"
    _, message = _why(evidence)
    return "deny", "allowlist_miss", f"{message}, and nobody is asked for this agent ({rules.ask_from})"


def _why(evidence: tuple[Evidence, ...]) -> tuple[str, str]:
    if not evidence:
        return "allowlist_miss", "no entry of the allowlist admits this command"
    words = ASKED.get(evidence[0].code)
    if words is None:
        return "shell_syntax", f"it needs a shell (`{evidence[0].text}`)"
    return evidence[0].code, words.format(evidence[0].text)


def _deny(reason: str, message: str) -> ExecVerdict:
    return ExecVerdict(outcome="deny", reason=reason, message=message)
