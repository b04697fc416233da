"""`POST /api/v1/decisions`: may this agent use this tool now? Asked, counted, nothing runs.

With `params` the question is what the call would be answered, and the stages of the call answer it. Without them it is
whether the agent has the tool: what no param can change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from apps.accounts.access import Permission
from apps.firewall.engine.decide import decide, remark_on
from apps.firewall.engine.permissions import PermissionAnswer
from apps.firewall.engine.resolve import CONTEXT_CODES
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import NOT_FOUND, Call
from apps.firewall.runtime.permitting import asks, caller_in, permission_answers
from apps.firewall.runtime.ports import Standing
from apps.firewall.runtime.rehearse import StagedVerdict
from apps.firewall.runtime.stages.decide import group_warning
from apps.firewall.runtime.stages.halt import CODE, told
from apps.firewall.runtime.stages.permissions import MISSING
from apps.firewall.tools.members import unknown_member
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.roles import role_of
from apps.gateway.runtime_api.http import Problem, Request, mistakes
from apps.gateway.runtime_api.reading import (
    Asker,
    Caller,
    Details,
    environment_of,
    held_caller,
    read_asker,
    require,
)
from apps.gateway.tokens import TokenGrant

BATCH_LIMIT = 1000
BATCH = frozenset({"decisions", "environment"})
REASONS = {NOT_FOUND: "not_offered"}
StandingOf = Callable[[str], Standing | None]
MissingOf = Callable[[Snapshot, Asker, str], PermissionAnswer | None]


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it was sent.

    Args:
        params: of the call; None where only the tool is asked about.
    """

    asker: Asker
    params: dict[str, Any] | None


async def ask(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Answer one decision, or as many as `decisions` lists, in their order."""
    require(grant, Permission.DECISIONS_ASK)
    body = await request.json()
    environment = environment_of(current, grant, body)
    snapshot = current.snapshots.live(environment)
    may_explain = grant.may(Permission.EXPLAIN)
    asks_for_roles = snapshot is not None and snapshot.permissions.ask_for_roles
    role = await in_database(role_of, grant.requester) if asks_for_roles else ""
    missing = partial(_missing, grant.actor, role)

    async def answer(asker: Asker) -> dict[str, Any]:
        caller = await held_caller(current, environment, Caller(asker.agent, asker.context))
        asker = Asker(asker.agent, asker.tool, caller.context)
        standing = partial(current.tool_states.standing, environment)
        answered = _answer(snapshot, asker, may_explain, standing, missing)
        return _halted(current, environment, asker, answered) if answered["allowed"] else answered

    async def judge(asker: Asker, params: dict[str, Any]) -> dict[str, Any]:
        call = _call(asker, params, environment, grant, request.trace_id)
        return _judged(await current.desk.verdict(call), asker, may_explain)

    async def answered(question: Question) -> dict[str, Any]:
        if question.params is None:
            return await answer(question.asker)
        return await judge(question.asker, question.params)

    if "decisions" not in body:
        details: Details = []
        question = _question(grant, body, details)
        if question is None:
            raise mistakes(details)
        return 200, await answered(question) | {"snapshot": _digest(snapshot)}
    _check_batch(body)
    questions = _questions(grant, body["decisions"])
    return 200, {"decisions": [await answered(each) for each in questions], "snapshot": _digest(snapshot)}


def _check_batch(body: dict[str, Any]) -> None:
    """Refuse what is said beside a batch: it would be taken for something that holds for each of its members."""
    strangers = [unknown_member("", name, BATCH) for name in sorted(body.keys() - BATCH)]
    if strangers:
        raise mistakes(strangers)


def _call(asker: Asker, params: dict[str, Any], environment: str, grant: TokenGrant, trace_id: str) -> Call:
    return Call(
        environment=environment,
        agent=asker.agent,
        tool=asker.tool,
        params=params,
        context=asker.context,
        actor=grant.actor,
        requester=grant.requester,
        trace_id=trace_id,
        id=new_id(),
    )


def _judged(said: StagedVerdict, asker: Asker, may_explain: bool) -> dict[str, Any]:
    """Tell what the call would be answered. `allowed` is a yes that needs nobody else's."""
    counters.add("decisions.allowed" if said.verdict == "allow" else "decisions.denied")
    is_hidden = said.code == NOT_FOUND and not may_explain
    answer: dict[str, Any] = {
        "tool": asker.tool,
        "allowed": said.verdict == "allow",
        "verdict": said.verdict,
        "stage": said.stage,
        "reason": REASONS.get(said.code, said.code) or ("allowed" if said.verdict == "allow" else "approval_required"),
    }
    if said.verdict != "allow" and not is_hidden:
        answer["message"] = said.message
    if said.details:
        answer["details"] = [dict(each) for each in said.details]
    if said.warnings:
        answer["warnings"] = [dict(each) for each in said.warnings]
    if may_explain:
        why = said.judgement
        answer |= {"layer": why.layer or None, "label": why.label or None, "rule": why.rule or None}
        answer["message"] = why.reason or said.message
    return answer


def _halted(current: Gateway, environment: str, asker: Asker, answer: dict[str, Any]) -> dict[str, Any]:
    """Take back a yes to what the kill switch stopped; say where every call waits for a person."""
    halt = current.halts.meets(environment, asker.context, agent=asker.agent, tool=asker.tool)
    if halt is None:
        return answer
    if halt.state == "stopped":
        counters.add("decisions.stopped")
        return {"tool": asker.tool, "allowed": False, "reason": CODE, "message": told(halt)}
    warning = {"path": "", "code": "every_call_asks", "message": told(halt)}
    return answer | {"warnings": [*answer.get("warnings", []), warning]}


def _question(grant: TokenGrant, body: Any, details: Details, *, place: str = "") -> Question | None:
    asker = read_asker(grant, body, details, place=place)
    params = body.get("params") if isinstance(body, dict) else None
    if params is not None and not isinstance(params, dict):
        path = f"{place}.params" if place else "params"
        details.append({"path": path, "code": "invalid", "message": f"`{path}` must be an object"})
        return None
    return None if asker is None else Question(asker, params)


def _questions(grant: TokenGrant, batch: Any) -> list[Question]:
    if not isinstance(batch, list) or not batch:
        raise mistakes([{"path": "decisions", "code": "invalid", "message": "`decisions` must be a list with members"}])
    if len(batch) > BATCH_LIMIT:
        raise Problem(422, "batch_too_large", f"at most {BATCH_LIMIT} decisions at once")
    details: Details = []
    found = [_question(grant, item, details, place=f"decisions[{number}]") for number, item in enumerate(batch)]
    if details:
        raise mistakes(details)
    return [question for question in found if question is not None]


def _digest(snapshot: Snapshot | None) -> str | None:
    return None if snapshot is None else snapshot.digest


def _missing(actor: str, role: str, snapshot: Snapshot, asker: Asker, name: str) -> PermissionAnswer | None:
    """Find a permission that a call of a tool would lack whatever its params."""
    tool = snapshot.tool(name)
    if tool is None or not asks(tool):
        return None
    caller = caller_in(snapshot, asker.context, agent=asker.agent, actor=actor, role=role)
    answers = permission_answers(snapshot.permissions, tool, caller, None)
    return next((each for each in answers if each.verdict == "missing"), None)


def _answer(
    snapshot: Snapshot | None, asker: Asker, may_explain: bool, standing: StandingOf, missing: MissingOf
) -> dict[str, Any]:
    """Say yes or no. Why is told to tokens with the right to explain; to others a tool that exists and one that does
    not look the same."""
    if snapshot is None:
        counters.add("decisions.denied")
        return {"tool": asker.tool, "allowed": False, "reason": "no_publication"}
    decision = decide(snapshot, asker.context, asker.tool)
    stands = standing(decision.tool) if decision.allowed else None
    if stands is not None and stands.code:
        counters.add("decisions.denied")
        return {"tool": asker.tool, "allowed": False, "reason": stands.code, "message": stands.message}
    lacking = missing(snapshot, asker, decision.tool) if decision.allowed else None
    if lacking is not None:
        counters.add("decisions.denied")
        message = f"{lacking.reason}: needs {lacking.remedy}"
        return {"tool": asker.tool, "allowed": False, "reason": MISSING, "message": message}
    counters.add("decisions.allowed" if decision.allowed else "decisions.denied")
    answer: dict[str, Any] = {
        "tool": asker.tool,
        "allowed": decision.allowed,
        "reason": "allowed" if decision.allowed else "not_offered",
    }
    if decision.layer in CONTEXT_CODES:
        answer |= {"reason": decision.layer, "message": decision.reason}
    remark = remark_on(snapshot, asker.context)
    warnings = [group_warning(remark)] if remark else []
    if stands is not None:
        warnings.append({"path": "", "code": "tool_deprecated", "message": stands.message})
    if warnings:
        answer["warnings"] = warnings
    if may_explain:
        answer |= {
            "layer": decision.layer,
            "label": decision.label,
            "rule": decision.rule,
            "message": decision.reason,
        }
    return answer
