"""Calls in the ledger as the agents' door writes them, for replays."""

from typing import Any

from apps.audit.drafts import EntryDecision, EntryDraft
from apps.audit.services import entry_record
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import decide
from apps.firewall.engine.recorded import record_context
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.identifiers import new_id
from apps.policies.services import document_import, publish

DOCUMENT = """{
  "agents": {"ownership": "explicit", "entries": {"bot": {"tools": {"deny": ["ls"]}}, "ops": {}}}
}"""


def publish_first(environment: Any, document: str = DOCUMENT) -> Any:
    """Make a document the first publication of an environment."""
    document_import(environment, document, by=None)
    return publish(environment, by=None, message="first", expected_live=None)


def call_record_write(
    snapshot: Snapshot, tool: str, *, with_context: bool = True, params: Any = None, **said: Any
) -> None:
    """Decide a call and put it on record."""
    context = CallContext(**{"agent_id": "bot", **said})
    decision = decide(snapshot, context, tool)
    entry_record(
        EntryDraft(
            kind="call_intent" if decision.allowed else "denial",
            actor="token:test",
            environment=snapshot.environment,
            agent=context.agent_id or "",
            session_key=context.session_key or "",
            channel=context.channel or "",
            sender=context.sender_id or "",
            tool=tool,
            call_id=new_id(),
            params=params or {"path": "a.md"},
            status="started" if decision.allowed else "denied",
            decision=EntryDecision(
                verdict="allow" if decision.allowed else "deny",
                layer=decision.layer or "",
                label=decision.label or "",
                rule=decision.rule or "",
                reason=decision.reason,
            ),
            snapshot_digest=snapshot.digest,
            changes=record_context(context) if with_context else None,
        )
    )
