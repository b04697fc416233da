"""How a call is judged that another machine runs: by what it says. Paths there are not ours to follow."""

from dataclasses import replace
from typing import Final

from apps.firewall.engine.exec_policy import CommandLine, ExecRules, ExecVerdict, Where, judge
from apps.firewall.runtime.definitions import definition_of
from apps.firewall.runtime.executors.dispatch import executor_of
from apps.firewall.runtime.executors.elsewhere import UnseenFiles
from apps.firewall.runtime.stages.command_rules import command_rules
from apps.firewall.runtime.stages.run import Run
from apps.firewall.shell import read_line
from apps.firewall.tools.executors import BuiltinExecutor, SearchExecutor
from apps.firewall.tools.mistakes import in_order
from apps.firewall.tools.parameters import FAILED, needs_folders, prepare_params

ROOM_OF_PATHS: Final = frozenset("/\\~")
HOSTS_IT_IS: Final = frozenset([None, "", "auto", "gateway", "sandbox"])
FOLDER: Final = "/.."
"""Where programs of another machine are looked for: a folder that no pattern names."""


def check_at_host(run: Run) -> None:
    """Refuse params with mistakes and change nothing: what is judged is exactly what the other machine will run.

    A core tool's params are checked where it runs, and those of tool search: the one there may take others than ours of
    that name.
    """
    assert run.tool is not None and run.snapshot is not None  # noqa: S101 - the stages before
    definition = definition_of(run.tool)
    if isinstance(executor_of(run.tool), BuiltinExecutor | SearchExecutor) or needs_folders(definition):
        return
    problems = prepare_params(definition, run.call.params, release=run.snapshot.dialect).problems
    if problems:
        message = f"the parameters of `{run.tool.name}` have mistakes: {len(problems)}"
        raise run.refuse(FAILED, message, in_order(problems), layer="parameters")


def judge_at_host(run: Run) -> ExecVerdict:
    """Judge a command that another machine runs.

    Entries of the allowlist with a bare name hold for a program called by that name. Entries with a path, and standing
    answers, speak of files that nobody here can look at: they admit nothing.
    """
    assert run.tool is not None and run.call.host is not None  # noqa: S101 - the caller looked
    command, host = _command(run), run.call.host
    rules = command_rules(run, run.tool)
    verdict = judge_unseen(read_line(command), rules, cwd=workdir_at_host(run))
    if verdict.outcome != "deny" and run.call.params.get("elevated"):
        message = f"it asks to run elevated on `{host.name or host.id}`"
        verdict = replace(verdict, outcome="ask", reason="elevated", message=message)
    if verdict.outcome == "deny":
        raise run.refuse(verdict.reason, verdict.message, layer="exec_policy", rule=rules.security_from)
    return replace(verdict, executable="", may_be_remembered=False)


def judge_unseen(line: CommandLine, rules: ExecRules, *, cwd: str) -> ExecVerdict:
    """Judge a line by its words alone: what its programs are, and where its paths lead, nobody here can see."""
    named = tuple(entry for entry in rules.allowlist if not ROOM_OF_PATHS & set(entry.pattern))
    where = Where(cwd=cwd, workspace=cwd or "/", home="", search_path=(FOLDER,))
    return judge(line, replace(rules, allowlist=named), files=UnseenFiles(), where=where)


def workdir_at_host(run: Run) -> str:
    """Give the folder that the call names; nobody here knows whether it is one."""
    wanted = run.call.params.get("workdir")
    return wanted if isinstance(wanted, str) else ""


def _command(run: Run) -> str:
    params = run.call.params
    command = params.get("command")
    if not isinstance(command, str) or not command.strip():
        raise run.refuse(FAILED, "a command must be a text: nothing else of this tool is judged", layer="parameters")
    for name in ("host", "node"):
        asked = params.get(name)
        if asked not in HOSTS_IT_IS:
            message = f"it asks for the {name} `{asked}`: only commands on the gateway itself are judged"
            raise run.refuse("host_unavailable", message, layer="exec_policy", rule=name)
    return command
