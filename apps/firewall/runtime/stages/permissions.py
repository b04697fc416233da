"""Whether every permission that the tool asks for is granted to the caller, for what the call touches."""

from apps.firewall.engine.permissions import LAYER
from apps.firewall.runtime.permitting import asks, caller_in, permission_answers
from apps.firewall.runtime.stages.run import Run
from apps.firewall.tools.resources import ResourceUnreadableError

MISSING = "permission_missing"


async def permissions_stage(run: Run) -> None:
    """Refuse a call of which one permission is missing; name each that is, and what would grant it."""
    assert run.tool is not None and run.snapshot is not None  # noqa: S101 - the stages before
    if not asks(run.tool):
        return
    rules = run.snapshot.permissions
    role = await run.ports.people.role(run.call.requester) if rules.ask_for_roles else ""
    caller = caller_in(run.snapshot, run.call.context, agent=run.call.agent, actor=run.call.actor, role=role)
    try:
        answers = permission_answers(rules, run.tool, caller, run.call.params, sensitive=run.sensitive)
    except ResourceUnreadableError as exc:
        detail = {"path": exc.place, "code": exc.code, "message": exc.message}
        raise run.refuse(exc.code, exc.message, [detail], layer=LAYER) from exc
    missing = [answer for answer in answers if answer.verdict != "granted"]
    if not missing:
        return
    details = [{"path": "", "code": MISSING, "message": f"{each.reason}: needs {each.remedy}"} for each in missing]
    first = missing[0]
    message = f"the tool `{run.tool.name}` may not run: {first.reason}"
    raise run.refuse(MISSING, message, details, layer=LAYER, rule=first.permission)
