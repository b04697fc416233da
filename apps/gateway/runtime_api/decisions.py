"""`POST /api/v1/decisions`: may this agent use this tool now? Asked, counted, nothing runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

from apps.accounts.access import Permission
from apps.firewall.engine.decide import decide
from apps.firewall.engine.permissions import PermissionAnswer
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.permitting import asks, caller_in, permission_answers
from apps.firewall.runtime.ports import Standing
from apps.firewall.runtime.stages.halt import CODE, told
from apps.firewall.runtime.stages.permissions import MISSING
from apps.gateway.counters import counters
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.roles import role_of
from apps.gateway.runtime_api.http import Problem, Request, mistakes
from apps.gateway.runtime_api.reading import Asker, Details, environment_of, read_asker, require
from apps.gateway.tokens import TokenGrant

BATCH_LIMIT = 1000
StandingOf = Callable[[str], Standing | None]
MissingOf = Callable[[Snapshot, Asker, str], PermissionAnswer | None]


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

    def answer(asker: Asker) -> dict[str, Any]:
        standing = partial(current.tool_states.standing, environment)
        answered = _answer(snapshot, asker, may_explain, standing, missing)
        return _halted(current, environment, asker, answered) if answered["allowed"] else answered

    if "decisions" not in body:
        details: Details = []
        asker = read_asker(grant, body, details)
        if asker is None:
            raise mistakes(details)
        return 200, answer(asker) | {"snapshot": _digest(snapshot)}
    askers = _askers(grant, body["decisions"])
    return 200, {
        "decisions": [answer(asker) for asker in askers],
        "snapshot": _digest(snapshot),
    }


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


def _askers(grant: TokenGrant, batch: Any) -> list[Asker]:
    if not isinstance(batch, list) or not batch:
        raise mistakes([{"path": "decisions", "code": "invalid", "message": "`decisions` must be a list with members"}])
    if len(batch) > BATCH_LIMIT:
        raise Problem(422, "batch_too_large", f"at most {BATCH_LIMIT} decisions at once")
    details: Details = []
    found = [read_asker(grant, item, details, place=f"decisions[{number}]") for number, item in enumerate(batch)]
    if details:
        raise mistakes(details)
    return [asker for asker in found if asker is not None]


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
    if stands is not None:
        answer["warnings"] = [{"path": "", "code": "tool_deprecated", "message": stands.message}]
    if may_explain:
        answer |= {
            "layer": decision.layer,
            "label": decision.label,
            "rule": decision.rule,
            "message": decision.reason,
        }
    return answer
