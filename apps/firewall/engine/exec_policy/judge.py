"""The verdict on a command: run it, ask a person, or refuse it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from apps.firewall.engine.exec_policy.allowlist import AllowEntry, FileSystem
from apps.firewall.engine.exec_policy.analysis import Analysis, Analyst, Lists
from apps.firewall.engine.exec_policy.line import CommandLine, Evidence
from apps.firewall.engine.exec_policy.modes import requires_approval
from apps.firewall.engine.exec_policy.parts import Part, parts_of, telling_variable
from apps.firewall.engine.exec_policy.remembered import line_entry
from apps.firewall.engine.exec_policy.risks import risk_hints
from apps.firewall.engine.exec_policy.rules import ExecRules
from apps.firewall.engine.exec_policy.standing import granting, needs_shell, program_of, shows
from apps.firewall.engine.exec_policy.strict import inline_code_in
from apps.firewall.engine.exec_policy.tables import Tables, exec_tables
from apps.firewall.engine.exec_policy.where import Where

__all__ = ["ExecVerdict", "Where", "judge"]

HOSTS_WE_ARE: Final = frozenset([None, "auto", "gateway", "sandbox"])


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
        parts: every command of the line, for the person who is asked.
        is_stricter: OpenClaw's lists admit the line; `reason` says why it waits here.
        bound: words that may name files besides those of `argv`; an approval is bound to their content, too.
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
    parts: tuple[Part, ...] = ()
    bound: tuple[str, ...] = ()
    is_stricter: bool = False


def judge(
    line: CommandLine, rules: ExecRules, *, files: FileSystem, where: Where, variables: Iterable[str] = ()
) -> ExecVerdict:
    """Judge one command of one agent.

    A list speaks for a line when it admits every command of it, as OpenClaw's does, and when nothing in the line makes
    a command more than the words that were read; otherwise the line waits for a person, or is refused where nobody is
    asked.

    Args:
        variables: names that the call sets for the command.
    """
    refused = _refused_at_once(line, rules)
    if refused is not None:
        return refused
    program = program_of(line, files=files, where=where)
    if not program.is_found:
        return _deny("program_not_found", f"no program `{program.called}` was found")
    evidence = shows(line, program)
    tables = exec_tables(rules.dialect)
    analyst = _analyst(line, rules, tables, files, where)
    analysis = Analysis(fault="nobody took it apart") if analyst is None else analyst.analyse(line.text)
    parts = parts_of(line, analysis, analyst, variables=variables)
    is_admitted = analysis.is_satisfied and all(part.why is None for part in parts)
    entries = [segment.entry for segment in analysis.segments if segment.entry] if is_admitted else []
    answer = None if is_admitted or telling_variable(variables) else line_entry(rules.allowlist, line.text, tables)
    grant = None if evidence else granting(rules.grants, program, line.argv, where=where)
    is_granted = grant is not None and not is_admitted
    why = tuple(part.why for part in parts if part.why)
    if analysis.fault:
        why = (*evidence, Evidence("not_understood", analysis.fault))
    outcome, reason, message = _weigh(rules, why, parts if is_admitted else (), grant, answer)
    is_stricter = analysis.is_satisfied and not is_admitted and outcome != "run" and rules.ask != "always"
    if is_stricter:
        message = f"stricter than OpenClaw: {message}"
    if outcome == "run" and rules.strict_inline_eval and rules.elevated != "full":
        code = inline_code_in(line, evidence)
        if code is not None:
            outcome, reason = "ask", code.code
            message = f"code in arguments waits for a person (`{code.text}`, tools.exec.strictInlineEval)"
    return ExecVerdict(
        outcome=outcome,
        reason=reason,
        message=message,
        evidence=evidence,
        risks=risk_hints(line, workspace=where.workspace),
        matched=grant if is_granted else next(iter(entries), answer),
        is_granted=is_granted,
        argv=("bash", "-c", line.text) if needs_shell(line, files=files, where=where) else line.argv,
        executable=program.real_path,
        may_be_remembered=not evidence and rules.ask != "always",
        parts=tuple(_granted(part, grant) for part in parts) if grant is not None and is_granted else parts,
        bound=_bound(line, analysis),
        is_stricter=is_stricter,
    )


def _analyst(line: CommandLine, rules: ExecRules, tables: Tables, files: FileSystem, where: Where) -> Analyst | None:
    if line.shell is None:
        return None
    lists = Lists(
        entries=rules.allowlist,
        safe_bins=rules.safe_bins,
        profiles=rules.safe_bin_profiles,
        trusted_folders=rules.safe_bin_folders,
        skills=rules.skills if rules.auto_allow_skills else frozenset(),
    )
    return Analyst(shell=line.shell, files=files, where=where, tables=tables, lists=lists)


def _bound(line: CommandLine, analysis: Analysis) -> tuple[str, ...]:
    """Gather what the commands of a line name, when a shell runs it: their programs, and their words unquoted."""
    if not line.syntax and not analysis.is_unwrapped:
        return ()
    programs = [segment.program.real_path for segment in analysis.segments if segment.program.real_path]
    words = [word for segment in analysis.segments for word in segment.unwrapped.argv[1:]]
    return tuple(dict.fromkeys([*programs, *words]))


def _granted(part: Part, grant: AllowEntry) -> Part:
    return replace(part, satisfied_by="grant", pattern=grant.pattern, why=None)


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


MISS: Final = "allowlist_miss"
NEEDS_SHELL: Final = ("shell_syntax", "it needs a shell (`{}`)")
ASKED: Final = {
    MISS: (MISS, "no entry of the allowlist admits `{}`"),
    "wrapper": ("wrapper", "it runs another program (`{}`)"),
    "shell": ("shell", "it starts a shell (`{}`)"),
    "inline_code": ("inline_code", "it carries code in its arguments (`{}`)"),
    "program_not_found": (MISS, "no program `{}` was found"),
    "assignment": ("shell_syntax", "it sets variables (`{}`)"),
    "runs_by_nature": ("runs_by_nature", "a list does not admit by name a program that runs what it is given (`{}`)"),
    "not_known_safe": (
        "not_known_safe",
        "nothing says that it neither runs a program, nor writes a file, nor loads code (`{}`)",
    ),
    "program_not_described": (
        "program_not_described",
        "nobody has described what this program of the system may be given (`{}`)",
    ),
    "bad_pattern": ("bad_pattern", "the pattern of arguments of an entry cannot be used (`{}`)"),
    "variables": ("variables", "the call sets a variable that may name a program (`{}`)"),
    "not_understood": ("shell_syntax", "nobody can tell what it does ({})"),
}


def _weigh(
    rules: ExecRules,
    why: tuple[Evidence, ...],
    admitted: tuple[Part, ...],
    grant: AllowEntry | None,
    answer: AllowEntry | None,
) -> tuple[Literal["run", "ask", "deny"], str, str]:
    is_granted = grant is not None or answer is not None
    if requires_approval(rules.ask, rules.security, is_satisfied=bool(admitted), is_durably_allowed=is_granted):
        if rules.ask == "always":
            return "ask", "ask_always", f"every command of this agent waits for a person ({rules.ask_from})"
        return ("ask", *_why(why))
    if rules.security == "full":
        return "run", "security_full", f"commands run unasked for this agent ({rules.security_from})"
    if admitted:
        return "run", "allowlist", _admission(admitted)
    if grant is not None:
        return "run", "grant", "a standing approval covers it"
    if answer is not None:
        return "run", "allowlist", f"an answer that OpenClaw remembered is for exactly this line (`{answer.pattern}`)"
    _, message = _why(why)
    return "deny", MISS, f"{message}, and nobody is asked for this agent ({rules.ask_from})"


SKILLS: Final = "it runs programs of the agent's skills (autoAllowSkills)"


def _admission(admitted: tuple[Part, ...]) -> str:
    patterns = list(dict.fromkeys(part.pattern for part in admitted if part.pattern))
    if len(admitted) == 1 and patterns:
        return f"the allowlist admits it (`{patterns[0]}`)"
    if any(part.satisfied_by == "skills" for part in admitted):
        return SKILLS
    if not patterns:
        return "it only reads what it is given"
    return f"the allowlist admits every command of it (`{'`, `'.join(patterns)}`)"


def _why(evidence: tuple[Evidence, ...]) -> tuple[str, str]:
    if not evidence:
        return MISS, "no entry of the allowlist admits this command"
    reason, message = ASKED.get(evidence[0].code, NEEDS_SHELL)
    return reason, message.format(evidence[0].text)


def _deny(reason: str, message: str) -> ExecVerdict:
    return ExecVerdict(outcome="deny", reason=reason, message=message)
