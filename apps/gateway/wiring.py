"""Fills the ports of the runtime with the record rooms; the one place that crosses between async and sync."""

import sys
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from apps.approvals.drafts import ApprovalDraft
from apps.approvals.selectors import grants_for
from apps.approvals.services import approval_request
from apps.approvals.states import Decision
from apps.audit.drafts import EntryDecision, EntryDraft
from apps.audit.services import entry_record_async
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.call import Asked, Call, Judgement
from apps.firewall.runtime.clock import SystemClock
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.http import HttpRunner
from apps.firewall.runtime.executors.mcp import McpRunner
from apps.firewall.runtime.executors.python import PythonRunner
from apps.firewall.runtime.executors.runner import Runner
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.ports import ApprovalRequest, Note, Ports, Standing, StandingGrant
from apps.firewall.tools.connections import Connection, SourceUnknownError
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.gateway.database import in_database
from apps.gateway.live import LiveSnapshots
from apps.gateway.tool_states import LiveToolStates, Standings
from apps.policies.selectors import live_snapshot
from apps.registry.errors import RegistryError
from apps.registry.looks import python_tools
from apps.registry.models import Environment
from apps.registry.selectors import environment_find, environments, source_find
from apps.registry.source_settings import source_connection
from apps.registry.standing import standings

HARMFUL = frozenset({"destructive", "download_to_shell", "secret_in_arguments", "writes_outside_workspace"})


def sender_of(call: Call) -> str:
    """Name the person behind a call, as far as the caller says."""
    context = call.context
    return context.sender_id or context.sender_username or context.sender_e164 or context.sender_name or ""


def entry_decision(judgement: Judgement) -> EntryDecision:
    return EntryDecision(
        verdict=judgement.verdict,
        layer=judgement.layer,
        label=judgement.label,
        rule=judgement.rule,
        reason=judgement.reason,
    )


class AuditLedger:
    """Fills the port `Ledger`."""

    async def record(self, note: Note) -> None:
        call = note.call
        await entry_record_async(
            EntryDraft(
                kind=note.kind,
                actor=call.actor or "system",
                environment=call.environment,
                agent=call.agent,
                session_key=call.context.session_key or "",
                channel=call.context.channel or "",
                sender=sender_of(call),
                tool=note.tool,
                call_id=call.id,
                approval_id=note.approval_id,
                params=None if note.kind == "call_outcome" else dict(call.params),
                result=note.result,
                error=note.error,
                sensitive_fields=note.sensitive,
                status=note.status,
                duration_ms=note.duration_ms,
                phases=note.phases,
                decision=entry_decision(note.judgement),
                snapshot_digest=note.snapshot_digest,
                trace_id=call.trace_id,
            )
        )


class QueueOfPeople:
    """Fills the port `Approvals`."""

    async def grants(self, call: Call, tool: str) -> Sequence[StandingGrant]:
        return await in_database(_grants, call, tool)

    async def use(self, grant: StandingGrant, call: Call) -> None:
        await in_database(_use, grant, call)

    async def ask(self, request: ApprovalRequest) -> Asked:
        return await in_database(_ask, request)


def _environment(slug: str) -> Environment:
    environment = environment_find(slug)
    if environment is None:
        raise RegistryError(f"no environment named `{slug}`")
    return environment


def _grants(call: Call, tool: str) -> list[StandingGrant]:
    found = grants_for(_environment(call.environment), call.agent, at=timezone.now(), tool=tool)
    return [StandingGrant(grant.entry, grant) for grant in found]


def _use(grant: StandingGrant, call: Call) -> None:
    from apps.approvals.grants import grant_used

    grant_used(grant.key, at=timezone.now(), call_id=call.id, session_key=call.context.session_key or "")


def _ask(request: ApprovalRequest) -> Asked:
    call, action, verdict = request.call, request.action, request.verdict
    decisions = [decision for decision in Decision if verdict.may_be_remembered or decision != Decision.ALLOW_ALWAYS]
    draft = ApprovalDraft(
        environment=_environment(call.environment),
        call_id=call.id,
        kind="exec",
        tool=action.tool,
        action=action.to_json(),
        agent=call.agent,
        session_key=call.context.session_key or "",
        channel=call.context.channel or "",
        sender=sender_of(call),
        sender_name=call.context.sender_name or "",
        sender_is_owner=call.context.sender_is_owner,
        requester=call.requester or call.actor,
        severity="high" if any(hint.code in HARMFUL for hint in verdict.risks) else "normal",
        command=str(call.params.get("command", "")),
        argv=action.argv or (),
        resolved_path=action.executable,
        cwd=action.cwd,
        host="gateway",
        params=call.params,
        evidence=[{"code": hint.code, "text": hint.text} for hint in (*verdict.evidence, *verdict.risks)],
        warnings=[verdict.message],
        asked=entry_decision(request.judgement),
        snapshot_digest=action.snapshot,
        trace_id=call.trace_id,
        decisions=decisions,
        sensitive_fields=request.sensitive,
    )
    approval = approval_request(draft, at=timezone.now())
    return Asked(id=approval.pk, expires_at=approval.expires_at)


def _live(slug: str) -> Snapshot | None:
    return live_snapshot(_environment(slug))


def _standings() -> Standings:
    return {
        slug: {name: Standing(code=each.code, message=each.message) for name, each in tools.items()}
        for slug, tools in standings().items()
    }


def live_tool_states() -> LiveToolStates:
    """Make the memory of what was withdrawn."""
    return LiveToolStates(_standings)


class SourcesOfTools:
    """Fills the port `Connections`."""

    async def connection(self, environment: str, source: str) -> Connection:
        return await in_database(_connection, environment, source)


def _connection(environment: str, source: str) -> Connection:
    found = source_find(_environment(environment), source)
    if found is None or not found.is_enabled:
        raise SourceUnknownError(f"no source named `{source}` is switched on")
    return source_connection(found)


def live_snapshots() -> LiveSnapshots:
    """Make the memory of what is live."""
    return LiveSnapshots(_live, lambda: environments().values_list("slug", flat=True))


def runners(sessions: McpSessions | None = None) -> tuple[Runner, ...]:
    """Make what runs tools, one of each kind."""
    connections = SourcesOfTools()
    return (
        BuiltinRunner(python=sys.executable),
        PythonRunner(python_tools(), connections),
        HttpRunner(connections),
        McpRunner(connections, sessions),
    )


def executors(sessions: McpSessions | None = None) -> Executors:
    """Make what runs tools, each agent in its own folder.

    Args:
        sessions: MCP servers that are kept between calls; without them each call starts one.
    """
    return Executors(Workspaces(Path(settings.VAR_DIR) / "workspaces"), runners(sessions))


def ports_with(snapshots: LiveSnapshots, tool_states: LiveToolStates, sessions: McpSessions | None = None) -> Ports:
    """Make the runtime's ports of this process."""
    return Ports(
        snapshots=snapshots,
        ledger=AuditLedger(),
        approvals=QueueOfPeople(),
        executor=executors(sessions),
        clock=SystemClock(),
        tool_states=tool_states,
    )
