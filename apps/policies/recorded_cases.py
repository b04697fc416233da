"""A policy test made from a recorded call: its context as far as the ledger keeps it, its params, its verdict."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from apps.audit.rows import CallRecord
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.cases import CASE_LAYERS, EXEC_POLICY, PolicyCase, Verdict, answer_case
from apps.firewall.runtime.executors.workspaces import HostFiles

VERDICTS: Final[Mapping[str, Verdict]] = {"allow": "allowed", "deny": "denied", "ask": "asks"}


def case_fields(call: CallRecord, snapshot: Snapshot | None) -> dict[str, Any]:
    """Return the fields of a policy test that say of a call what became of it.

    A call that something else than policy ended (a limit, a session, a hook) says nothing about policy: then the case
    expects what `snapshot` answers.
    """
    context = call.context.context
    if context.agent_id is None and context.session_key is None:
        context = replace(context, agent_id=call.agent or None)
    params = dict(call.params) if isinstance(call.params, Mapping) and call.params else None
    verdict, layer = _expected(call)
    if verdict is None:
        verdict, layer = _answered(snapshot, call, context, params)
    return {"tool": call.tool, "context": context.to_json(), "params": params, "verdict": verdict, "layer": layer}


def _expected(call: CallRecord) -> tuple[Verdict | None, str]:
    """Read what policy said; None where something else had the last word."""
    if call.approval_state:
        return "asks", EXEC_POLICY if call.layer == EXEC_POLICY else ""
    verdict = VERDICTS.get(call.decision)
    if verdict == "denied" and call.layer not in CASE_LAYERS:
        return None, ""
    return verdict, call.layer if verdict != "allowed" and call.layer in CASE_LAYERS else ""


def _answered(
    snapshot: Snapshot | None, call: CallRecord, context: CallContext, params: Mapping[str, Any] | None
) -> tuple[Verdict, str]:
    if snapshot is None:
        return "denied", ""
    case = PolicyCase(name="", context=context, tool=call.tool, verdict="denied", params=params)
    answer = answer_case(snapshot, case, files=HostFiles())
    return answer.verdict, answer.layer if answer.layer in CASE_LAYERS else ""
