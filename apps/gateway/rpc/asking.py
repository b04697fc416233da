"""What a program asks people about: a command that it runs itself once somebody allowed it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from apps.approvals.answering import environment_asking
from apps.approvals.drafts import ApprovalDraft
from apps.approvals.models import WAIT_LEAST_S, WAIT_MOST_S
from apps.approvals.selectors import BY_PROGRAMS
from apps.approvals.states import Decision
from apps.audit.drafts import EntryDecision
from apps.firewall.engine.decide import decide
from apps.firewall.engine.exec_policy import CommandLine, Part, exec_rules
from apps.firewall.engine.exec_policy.reads import Unbound
from apps.firewall.engine.exec_policy.risks import risk_hints
from apps.firewall.engine.recorded import record_context
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.stages.at_host import judge_unseen
from apps.firewall.shell import read_line
from apps.gateway.lifecycle import Gateway
from apps.gateway.people import HARMFUL, environment_named
from apps.gateway.runtime_api.http import Problem, mistakes
from apps.gateway.runtime_api.reading import KEY_LIMIT, Caller, Details, environment_of, held_caller, read_caller
from apps.gateway.tokens import TokenGrant

TOOL = "exec"
COMMAND_LIMIT = 65_536
TEXT_LIMIT = 4096
VARIABLES_LIMIT = 200
WORDS_LIMIT = 4096
REASON = "a program asks before it runs a command itself"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A question as it was sent.

    Args:
        timeout_s: how long people have; None for what the environment gives.
        is_two_phase: the answer is that it was asked, not what was said.
    """

    caller: Caller
    environment: str
    snapshot: Snapshot
    command: str
    argv: tuple[str, ...]
    cwd: str
    host: str
    env: Mapping[str, str]
    given_id: str
    timeout_s: float | None
    is_two_phase: bool


async def read_wanted(current: Gateway, grant: TokenGrant, params: Mapping[str, Any]) -> Wanted:
    """Read the params of `exec.approval.request`.

    Raises:
        Problem: they have mistakes, or the agent has no commands in this environment.
    """
    details: Details = []
    environment = environment_of(current, grant, params)
    caller = read_caller(grant, {"agent": params.get("agentId"), "session": params.get("sessionKey")}, details)
    command = _text(params, "command", details, most=COMMAND_LIMIT)
    argv = _words(params.get("commandArgv"), details)
    if not command.strip() and not argv:
        details.append({"path": "command", "code": "required", "message": "`command` is required"})
    cwd = _text(params, "cwd", details, most=TEXT_LIMIT)
    host, given_id = (_text(params, name, details, most=KEY_LIMIT) for name in ("host", "id"))
    env = _variables(params.get("env"), details)
    timeout_s = _timeout(params.get("timeoutMs"), details)
    is_two_phase = _truth(params, "twoPhase", details)
    if details or caller is None:
        raise mistakes(details)
    snapshot = current.snapshots.live(environment)
    caller = await held_caller(current, environment, caller)
    if snapshot is None or not decide(snapshot, caller.context, TOOL).allowed:
        raise Problem(404, "tool_not_found", f"no tool named `{TOOL}`")
    return Wanted(
        caller=caller,
        environment=environment,
        snapshot=snapshot,
        command=command or " ".join(argv),
        argv=argv,
        cwd=cwd,
        host=host,
        env=env,
        given_id=given_id,
        timeout_s=timeout_s,
        is_two_phase=is_two_phase,
    )


def draft_of(wanted: Wanted, grant: TokenGrant, *, approval_id: UUID, trace_id: str) -> ApprovalDraft:
    """Draft the request; only whoever asked can run it, so nothing is remembered beyond one answer."""
    line = read_line(wanted.command)
    hints = risk_hints(line, workspace=wanted.cwd or "/")
    evidence = [{"code": hint.code, "text": hint.text} for hint in (*line.syntax, *hints)]
    if wanted.env:
        evidence.append({"code": "variables", "text": ", ".join(sorted(wanted.env))})
    context = wanted.caller.context
    action = {
        "tool": TOOL,
        "command": wanted.command,
        "argv": list(wanted.argv),
        "cwd": wanted.cwd,
        "host": wanted.host,
        "env": dict(wanted.env),
        "environment": wanted.environment,
        "agent": wanted.caller.agent,
        "session": context.session_key or "",
        "actor": grant.actor,
        "snapshot": wanted.snapshot.digest,
    }
    return ApprovalDraft(
        environment=environment_named(wanted.environment, find=environment_asking),
        call_id=new_id(),
        approval_id=approval_id,
        kind="exec",
        tool=TOOL,
        action=action,
        agent=wanted.caller.agent,
        session_key=context.session_key or "",
        actor=grant.actor,
        requester=grant.requester,
        given_id=wanted.given_id,
        runs_here=False,
        severity="high" if any(hint.code in HARMFUL for hint in hints) else "normal",
        command=wanted.command,
        argv=wanted.argv or line.argv,
        cwd=wanted.cwd,
        host=wanted.host,
        params={"command": wanted.command},
        evidence=evidence,
        parts=_parts(wanted, line),
        unbound=[Unbound("other_machine")],
        asked=EntryDecision(verdict="ask", layer=BY_PROGRAMS, rule="exec.approval.request", reason=REASON),
        snapshot_digest=wanted.snapshot.digest,
        trace_id=trace_id,
        decisions=(Decision.ALLOW_ONCE, Decision.DENY),
        context=record_context(context),
    )


def _parts(wanted: Wanted, line: CommandLine) -> tuple[Part, ...]:
    """Tell what the agent's rules say of each command of a line, as far as its words show."""
    settings = wanted.snapshot.exec_settings(wanted.caller.agent)
    rules = exec_rules(settings, dialect=wanted.snapshot.dialect)
    return judge_unseen(line, replace(rules, host=None), cwd=wanted.cwd).parts


def _text(params: Mapping[str, Any], name: str, details: Details, *, most: int) -> str:
    value = params.get(name)
    if value is None:
        return ""
    if isinstance(value, str) and len(value) <= most and "\0" not in value:
        return value
    details.append(_mistake(name, f"must be a text of at most {most} characters"))
    return ""


def _words(value: Any, details: Details) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, list) and len(value) <= WORDS_LIMIT and all(isinstance(each, str) for each in value):
        return tuple(value)
    details.append(_mistake("commandArgv", f"must be a list of at most {WORDS_LIMIT} texts"))
    return ()


def _variables(value: Any, details: Details) -> dict[str, str]:
    if value is None:
        return {}
    if isinstance(value, dict) and len(value) <= VARIABLES_LIMIT and all(isinstance(v, str) for v in value.values()):
        return dict(value)
    details.append(_mistake("env", f"must be an object of at most {VARIABLES_LIMIT} texts"))
    return {}


def _timeout(value: Any, details: Details) -> float | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and WAIT_LEAST_S * 1000 <= value <= WAIT_MOST_S * 1000:
        return value / 1000
    details.append(_mistake("timeoutMs", f"must be a whole number from {WAIT_LEAST_S * 1000} to {WAIT_MOST_S * 1000}"))
    return None


def _truth(params: Mapping[str, Any], name: str, details: Details) -> bool:
    value = params.get(name, False)
    if not isinstance(value, bool):
        details.append(_mistake(name, "must be true or false"))
    return value is True


def _mistake(path: str, rule: str) -> dict[str, str]:
    return {"path": path, "code": "invalid", "message": f"`{path}` {rule}"}
