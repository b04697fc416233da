"""What is decided besides about a call that another machine runs: what it does not know, who spawned its session."""

from typing import Final

from apps.firewall.engine.answers import Decision
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import ERROR, decide
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.unknown_facts import FactUnknownError, check_facts
from apps.firewall.runtime.call import Call

INHERITED: Final = LAYERS["inherited"]
THEIRS: Final = "of the session that spawned this one "


def decided_at_host(snapshot: Snapshot, call: Call, decision: Decision) -> Decision:
    """Take back a yes that no longer holds: a layer lacks a fact, or who spawned the session may not use the tool."""
    if call.host is None or not decision.allowed:
        return decision
    try:
        check_facts(snapshot, call.context, decision.tool, call.host.known)
        for spawner in call.host.spawners:
            context = CallContext.from_json(spawner["context"])
            theirs = decide(snapshot, context, decision.tool)
            if not theirs.allowed:
                return _inherited(theirs)
            check_facts(snapshot, context, decision.tool, spawner["known"], of=THEIRS)
    except FactUnknownError as exc:
        return Decision(decision.tool, False, exc.code, exc.unknown.label, exc.unknown.fact, exc.message)
    except Exception as exc:  # noqa: BLE001 - fail closed, as `decide` does
        return Decision(decision.tool, False, ERROR, None, None, f"the decision failed: {exc}")
    return decision


def _inherited(theirs: Decision) -> Decision:
    reason = f"the session that spawned this one may not use it: {theirs.reason}"
    return Decision(theirs.tool, False, INHERITED.key, INHERITED.label, theirs.rule, reason)
