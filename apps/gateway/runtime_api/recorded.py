"""A call as the ledger has it, in the words for whoever made it: its result is the masked copy there."""

from collections.abc import Mapping
from typing import Any

from apps.approvals.selectors import approval_of_call
from apps.audit.rows import CallRecord
from apps.firewall.identifiers import show_id
from apps.firewall.runtime.results import shown_of
from apps.gateway.refusals import refusal_of

METADATA = ("characters", "shown", "truncated", "size_bytes", "masked", "media")


def recorded(record: CallRecord) -> dict[str, Any]:
    """Tell how a call ended, as `GET /calls/{id}` answers it."""
    facts = _facts(record)
    return {
        "id": show_id("call", record.id),
        "status": "denied" if _is_refusal(record) else record.status,
        "result": _shown(record.result, facts),
        "error": record.error or refusal_of(approval_of_call(record.id)),
        "duration_ms": record.duration_ms,
        "decision": {"verdict": record.decision, "reason": record.reason},
        **told_of(facts),
        **({"warnings": list(record.warnings)} if record.warnings else {}),
    }


def told_of(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Say of a result how much of it is shown and what was masked; nothing where there is none."""
    told = {name: facts[name] for name in METADATA if name in facts}
    return {"metadata": told} if told else {}


def _facts(record: CallRecord) -> Mapping[str, Any]:
    changes = [entry.changes for entry in record.entries if entry.kind == "call_outcome"]
    found: Any = next((each["result"] for each in changes if isinstance(each, dict) and "result" in each), {})
    return found if isinstance(found, dict) else {}


def _shown(result: Any, facts: Mapping[str, Any]) -> Any:
    """Cut what the ledger keeps to what callers got."""
    if not isinstance(result, dict) or not facts.get("truncated"):
        return result
    return shown_of(result, facts["limit"], go_on=lambda: facts.get("go_on", "")).value


def _is_refusal(record: CallRecord) -> bool:
    """Say whether a call was kept from running without an outcome of its own; one that was ended is `cancelled`."""
    return record.status in {"expired", "superseded", "joined"} or (
        record.status == "cancelled" and record.approval_state == "cancelled"
    )
