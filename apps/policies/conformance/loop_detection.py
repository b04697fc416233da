"""Adapter of the area `loop_detection`: a session is made of the calls of a vector, one after the other."""

from collections.abc import Mapping
from typing import Any

from apps.firewall.engine.dialect import Dialect
from apps.firewall.runtime.loops import (
    Finding,
    LoopCall,
    LoopHistory,
    LoopSettings,
    admit,
    check,
    loop_settings,
    merged_loop_config,
    record_error,
    record_result,
)
from apps.firewall.runtime.loops.history import with_call
from apps.policies.conformance.shapes import agent_tools, inside


def run(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a row without kind."""
    settings = loop_settings(dialect, given["config"])
    history, events = LoopHistory(), []
    for at, index in enumerate(given["sequence"]):
        recorded = given["palette"][index]
        call = LoopCall(
            tool=recorded["tool"],
            params=recorded.get("params"),
            run_id=recorded.get("runId") or "",
            call_id=f"call-{at}",
        )
        admission = (admit if given["mode"] == "enforce" else check)(settings, history, call)
        history = admission.history
        if admission.finding is not None:
            events.append(_event(at, admission.finding))
        if given["mode"] == "enforce" and admission.is_refused:
            continue
        if given["mode"] != "enforce":
            history = with_call(settings, history, call)
        history = _ended(settings, history, call, recorded.get("outcome") or {})
    return {"events": events, "historyLength": len(history.records)}


def _ended(settings: LoopSettings, history: LoopHistory, call: LoopCall, outcome: Mapping[str, Any]) -> LoopHistory:
    if "error" in outcome:
        return record_error(settings, history, call, outcome["error"])
    return record_result(settings, history, call, outcome["result"]) if "result" in outcome else history


def _event(at: int, finding: Finding) -> dict[str, Any]:
    event: dict[str, Any] = {"at": at, "level": finding.level, "detector": finding.detector, "count": finding.count}
    if finding.level == "warning":
        event["emit"] = finding.emit
    if finding.paired_tool:
        event["pairedToolName"] = finding.paired_tool
    if finding.is_churn:
        event["livenessSignal"] = "argument_churn"
    return event


def config_merge(dialect: Dialect, given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Answer `config_merge`."""
    own = inside(agent_tools(dialect, given["config"], given["agentId"]), "loopDetection")
    return merged_loop_config(dialect, inside(given["config"], "tools", "loopDetection"), own)
