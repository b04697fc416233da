"""Fills the ports of the runtime with the record rooms; the one place that crosses between async and sync."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from apps.audit.drafts import EntryDraft
from apps.audit.late_entries import late_entries
from apps.audit.services import entry_record_async
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.runtime.clock import SystemClock
from apps.firewall.runtime.executors.builtin import BuiltinRunner
from apps.firewall.runtime.executors.configured import ConfiguredRunner
from apps.firewall.runtime.executors.dispatch import Executors
from apps.firewall.runtime.executors.elsewhere import Elsewhere
from apps.firewall.runtime.executors.http import HttpRunner
from apps.firewall.runtime.executors.mcp import McpRunner
from apps.firewall.runtime.executors.of_runs import ClientRunner, RunsOfAgents, SearchRunner
from apps.firewall.runtime.executors.python import PythonRunner
from apps.firewall.runtime.executors.runner import Runner
from apps.firewall.runtime.executors.workspaces import Workspaces
from apps.firewall.runtime.ports import Note, Ports, Standing
from apps.firewall.runtime.results import ResultRules
from apps.firewall.runtime.skills import SkillFolders
from apps.firewall.tools.browser.slots import BrowserSlots
from apps.firewall.tools.connections import Connection, SourceUnknownError
from apps.firewall.tools.mcp.sessions import McpSessions
from apps.gateway.agent_sessions import SessionRecords
from apps.gateway.background.holder import Holder
from apps.gateway.background.port import Keeping
from apps.gateway.database import in_database
from apps.gateway.halting import LiveHalts
from apps.gateway.hooks import LiveHooks
from apps.gateway.limiting import LiveLimits
from apps.gateway.live import LiveSnapshots
from apps.gateway.openclaw.telling import ReportsOfGateways
from apps.gateway.people import QueueOfPeople, entry_decision, environment_named, sender_of
from apps.gateway.probe_snapshot import NO_LIMITS, probe_connection, probe_snapshot
from apps.gateway.progress import LiveProgress
from apps.gateway.queue.port import QueueOfCalls
from apps.gateway.roles import RolesOnRecord
from apps.gateway.spawns import LiveSpawns
from apps.gateway.tool_failures import FailuresOfTools
from apps.gateway.tool_states import LiveToolStates, Standings
from apps.keys.installation import mask_key
from apps.limits.selectors import limits_in_force
from apps.policies.selectors import live_snapshot
from apps.registry.databases import database_places
from apps.registry.looks import python_tools
from apps.registry.probing import PROBES
from apps.registry.sandboxing import installation_sandbox, installation_space
from apps.registry.selectors import environments, source_find
from apps.registry.source_settings import source_connection
from apps.registry.standing import standings


class AuditLedger:
    """Fills the port `Ledger`."""

    async def record(self, note: Note) -> None:
        await entry_record_async(_draft(note))

    async def keep(self, note: Note) -> None:
        await asyncio.to_thread(late_entries.keep, _draft(note))


def _draft(note: Note) -> EntryDraft:
    call = note.call
    return EntryDraft(
        kind=note.kind,
        actor=call.actor or "system",
        environment=call.environment,
        agent=call.agent,
        session_key=call.context.session_key or "",
        channel=call.channel,
        sender=sender_of(call),
        tool=note.tool,
        call_id=call.id,
        approval_id=note.approval_id,
        params=None if note.kind == "call_outcome" else dict(call.params),
        result=note.result,
        error=note.error,
        sensitive_fields=note.sensitive,
        result_masks=note.masked,
        status=note.status,
        duration_ms=note.duration_ms,
        phases=note.phases,
        decision=entry_decision(note.judgement),
        snapshot_digest=note.snapshot_digest,
        changes=note.changes,
        trace_id=call.trace_id,
    )


QUERY_PROGRAM = str(Path(__file__).with_name("query_program.py"))


def _live(slug: str) -> Snapshot | None:
    if slug == PROBES:
        return probe_snapshot()
    return live_snapshot(environment_named(slug))


def _standings() -> Standings:
    return {
        slug: {name: Standing(code=each.code, message=each.message) for name, each in tools.items()}
        for slug, tools in standings().items()
    }


def live_tool_states() -> LiveToolStates:
    """Make the memory of what was withdrawn."""
    return LiveToolStates(_standings)


def live_limits() -> LiveLimits:
    """Make the memory of rates and breakers."""
    return LiveLimits(lambda: {**limits_in_force(), PROBES: NO_LIMITS})


class SourcesOfTools:
    """Fills the port `Connections`."""

    async def connection(self, environment: str, source: str) -> Connection:
        return await in_database(_connection, environment, source)


def _connection(environment: str, source: str) -> Connection:
    if environment == PROBES:
        return probe_connection(source)
    found = source_find(environment_named(environment), source)
    if found is None or not found.is_enabled:
        raise SourceUnknownError(f"no source named `{source}` is switched on")
    return source_connection(found)


def live_snapshots() -> LiveSnapshots:
    """Make the memory of what is live."""
    return LiveSnapshots(_live, lambda: [*environments().values_list("slug", flat=True), PROBES])


def runners(
    sessions: McpSessions | None = None, holder: Holder | None = None, runs: RunsOfAgents | None = None
) -> tuple[Runner, ...]:
    """Make what runs tools, one of each kind."""
    connections = SourcesOfTools()
    sandbox = installation_sandbox()
    return (
        BuiltinRunner(python=sys.executable, sandbox=sandbox, keeper=None if holder is None else Keeping(holder)),
        ConfiguredRunner(
            connections,
            python=sys.executable,
            sandbox=sandbox,
            query_program=QUERY_PROGRAM,
            database_places=database_places,
            browsers=browser_slots(),
        ),
        PythonRunner(python_tools(), connections, FailuresOfTools()),
        HttpRunner(connections),
        McpRunner(connections, sessions),
        *(() if runs is None else (SearchRunner(runs), ClientRunner(runs))),
    )


def browser_slots() -> BrowserSlots:
    """Say how many browsers may be open at once."""
    limit, most_of_environment = settings.BROWSER_LIMIT, settings.BROWSER_ENVIRONMENT_LIMIT
    return BrowserSlots(
        folder=Path(settings.VAR_DIR) / "browsers", limit=limit, environment_limit=min(limit, most_of_environment)
    )


def executors(
    sessions: McpSessions | None = None, holder: Holder | None = None, runs: RunsOfAgents | None = None
) -> Executors:
    """Make what runs tools, each agent in its own folder.

    Args:
        sessions: MCP servers that are kept between calls; without them each call starts one.
        holder: holds commands that run on; without it every command runs in the foreground.
        runs: the runs of agents; without them nothing is searched, and no tool of a caller called.
    """
    space = installation_space()
    return Executors(Workspaces(space.folder), runners(sessions, holder, runs), space)


def skill_folders() -> SkillFolders:
    """Say where people put the skills of agents."""
    return SkillFolders(Path(settings.VAR_DIR) / "skills")


def result_rules() -> ResultRules:
    """Say what becomes of results here. They are masked with the ledger's own key, which need not do it again."""
    return ResultRules(key=mask_key(), limit=settings.RESULT_LIMIT, kept_bytes=settings.RESULT_KEPT_BYTES)


def live_hooks_of_all() -> LiveHooks:
    """Make the memory of hooks."""
    return LiveHooks()


def ports_with(
    snapshots: LiveSnapshots,
    tool_states: LiveToolStates,
    limits: LiveLimits,
    halts: LiveHalts,
    hooks: LiveHooks,
    sessions: McpSessions | None = None,
    holder: Holder | None = None,
    runs: RunsOfAgents | None = None,
    spawns: LiveSpawns | None = None,
) -> Ports:
    """Make the runtime's ports of this process."""
    rules = result_rules()
    return Ports(
        snapshots=snapshots,
        ledger=AuditLedger(),
        approvals=QueueOfPeople(),
        executor=executors(sessions, holder, runs),
        clock=SystemClock(),
        tool_states=tool_states,
        people=RolesOnRecord(),
        sessions=SessionRecords(spawns or LiveSpawns()),
        limits=limits,
        halts=halts,
        hooks=hooks,
        results=rules,
        progress=LiveProgress(rules),
        queue=QueueOfCalls(),
        skills=skill_folders(),
    )


def ports_elsewhere(ports: Ports) -> Ports:
    """Make the ports of calls that OpenClaw Gateways run: all the same, but nothing of them runs here."""
    return replace(ports, executor=Elsewhere(ReportsOfGateways()))
