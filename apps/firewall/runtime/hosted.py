"""What more than the policy decides about a call that another machine runs: what that machine does not know, and who
spawned the session that calls."""

from collections.abc import Collection
from typing import Final

from apps.firewall.engine.answers import Decision
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.layers import LAYERS
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.engine.unknown_facts import UnknownFact, unknown_fact
from apps.firewall.runtime.call import Call

FACT_UNKNOWN: Final = "fact_unknown"
INHERITED: Final = LAYERS["inherited"]
WORDS: Final = {
    "provider": "provider",
    "model_id": "model",
    "spawned_by": "session that spawned it",
    "account_id": "account",
    "group_channel": "group's name",
    "group_space": "guild or team",
    "channel": "channel",
    "sender_id": "sender's id",
    "sender_e164": "sender's phone number",
    "sender_username": "sender's username",
    "sender_name": "sender's name",
    "sender_is_owner": "answer whether the sender is an owner",
}
"""What facts are called in a sentence that ends "does not know the …"."""


def decided_at_host(snapshot: Snapshot, call: Call, decision: Decision) -> Decision:
    """Take back a yes that no longer holds: a layer lacks a fact, or who spawned the session may not use the tool."""
    if call.host is None or not decision.allowed:
        return decision
    unknown = unknown_fact(snapshot, call.context, decision.tool, call.host.known)
    if unknown is not None:
        return _unknown(decision.tool, unknown)
    for spawner in call.host.spawners:
        refusal = _refusal(snapshot, CallContext.from_json(spawner["context"]), decision.tool, spawner["known"])
        if refusal is not None:
            return refusal
    return decision


def _refusal(snapshot: Snapshot, context: CallContext, tool: str, known: Collection[str]) -> Decision | None:
    theirs = decide(snapshot, context, tool)
    if not theirs.allowed:
        reason = f"the session that spawned this one may not use it: {theirs.reason}"
        return Decision(tool, False, INHERITED.key, INHERITED.label, theirs.rule, reason)
    unknown = unknown_fact(snapshot, context, tool, known)
    return None if unknown is None else _unknown(tool, unknown, "of the session that spawned this one ")


def _unknown(tool: str, unknown: UnknownFact, of: str = "") -> Decision:
    fact = WORDS[unknown.fact]
    reason = f"`{unknown.label}` cannot be decided: the gateway does not know {of}the {fact}"
    return Decision(tool, False, FACT_UNKNOWN, unknown.label, unknown.fact, reason)
