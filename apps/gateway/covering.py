"""What an "always" would have covered: past calls, read as the runtime reads them and matched as it matches them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from apps.approvals.models import Approval
from apps.approvals.scopes import Reach, entry_of, reaches_of
from apps.approvals.selectors import commands_before, past_calls_like
from apps.audit.selectors import PastCommand
from apps.firewall.engine.exec_policy import CommandLine, Where
from apps.firewall.engine.exec_policy.resolution import find_program
from apps.firewall.engine.exec_policy.standing import covering
from apps.firewall.errors import FirewallError
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.stages.host_env import asked_variables
from apps.firewall.runtime.stages.place import place_of_command
from apps.firewall.shell import read_line
from apps.gateway.wiring import executors
from apps.openclaw_gateways.selectors import actors_of_gateways

PLAIN_WORD: Final = re.compile(r"[ \t\n]*([A-Za-z0-9_./+-]+)(?=[ \t\n]|\Z)")


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many past calls a reach would have covered, and how many of these were denied."""

    reach: Reach
    calls: int
    denied: int


def coverage(approval: Approval, *, every_agent: bool = False) -> list[Coverage]:
    """Count for each reach that is offered what it would have covered before the request, by one agent or by any.

    Commands are matched by the judge's own rules: real path, words, no shell, no variables. A secret in the words is
    compared as it is shown. What an OpenClaw Gateway or another program ran itself is left out: no standing answer
    speaks for that.
    """
    reaches = reaches_of(approval)
    if approval.kind != Approval.Kind.EXEC:
        like = past_calls_like(approval, every_agent=every_agent) if reaches else None
        return [Coverage(reach, like.calls, like.denied) for reach in reaches if like is not None]
    if not reaches or not approval.resolved_path:
        return []
    entries = [entry_of(approval, reach) for reach in reaches]
    calls, denied = [0] * len(reaches), [0] * len(reaches)
    executor = executors()
    for past, line, where in _past(approval, executor, every_agent=every_agent):
        for number, entry in enumerate(entries):
            if covering((entry,), line, files=executor.files, where=where) is not None:
                calls[number] += past.calls
                denied[number] += past.denied
    return [Coverage(*counted) for counted in zip(reaches, calls, denied, strict=True)]


def _past(
    approval: Approval, executor: Executors, *, every_agent: bool
) -> Iterator[tuple[PastCommand, CommandLine, Where]]:
    """Read past commands again; those that set variables are left out, as no standing answer speaks for them."""
    found: dict[tuple[str, str], str] = {}
    gateways = actors_of_gateways(approval.environment)
    for past in commands_before(approval, every_agent=every_agent, but_of=gateways):
        command = past.params.get("command")
        if not isinstance(command, str) or asked_variables(past.params):
            continue
        call = Call(environment=approval.environment.slug, agent=past.agent, tool=approval.tool, params=past.params)
        try:
            where = place_of_command(executor, call)
        except FirewallError:  # the folder that it ran in is gone: it could not run again
            continue
        if _may_run(approval.resolved_path, command, executor, where, found):
            yield past, read_line(command), where


def _may_run(path: str, command: str, executor: Executors, where: Where, found: dict[tuple[str, str], str]) -> bool:
    """Say whether a line may be a plain call of a program: where its first word is plain, the word tells.

    Most lines are about something else; taking each of them apart would take seconds.
    """
    word = PLAIN_WORD.match(command)
    if word is None:
        return True
    key = (word[1], where.cwd if "/" in word[1] else "")
    if key not in found:
        program = find_program(word[1], files=executor.files, cwd=where.cwd, search_path=where.search_path)
        found[key] = program.real_path
    return found[key] == path
