"""Fills the port `RunsOfAgents`: search, describe and code of a run, and the tools that its caller runs.

The row says what the run is, so that a call which a person allowed goes on in any process. What the run may use is
worked out anew for each call.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from apps.accounts.access import Permission
from apps.events.waiters import waiters
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id, read_id, show_id
from apps.firewall.runtime.call import Action, Call, error_object
from apps.firewall.runtime.code_mode.results import CodeResult
from apps.firewall.tools.definition import JsonObject
from apps.firewall.tools.running import ToolOutcome, failed
from apps.firewall.tools.search.controls import CODE, SEARCH
from apps.firewall.tools.search.queries import found_by, read_queries, told
from apps.firewall.tools.search.rerank import Reranker, reranker_named
from apps.firewall.tools.search.selecting import describe, find
from apps.firewall.tools.search.settings import ToolSearchSettings
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway, gateway
from apps.gateway.runtime_api.performing import end_unheard, until_answered
from apps.gateway.tool_runs.calls import begun, bridge_of, meant_by_id
from apps.gateway.tool_runs.catalogues import RunCatalogue
from apps.gateway.tool_runs.surface import catalogue_of, settings_of
from apps.runs.client_calls import client_call_close, client_call_outcome, client_call_tell
from apps.runs.errors import RunNotFoundError
from apps.runs.models import ToolRun
from apps.runs.selectors import run_find
from apps.runs.services import code_record, describe_record, searches_record

REREAD_S: Final = 5.0
FOREVER_S: Final = 24 * 3600.0
NO_CATALOGUE: Final = ("no_publication", "nothing was published for this environment")


class LiveRuns:
    """Fills the port `RunsOfAgents` with the gateway of this process."""

    async def control(self, action: Action) -> ToolOutcome:
        current = gateway()
        run = await _run_of(action)
        catalogue = await catalogue_of(current, run)
        if catalogue is None:
            return failed(*NO_CATALOGUE)
        searching = Searching(run, catalogue)
        if action.tool == SEARCH:
            return ToolOutcome(result=_object(await searching.search(action.params)))
        if action.tool == CODE:
            return await _code(current, searching, action)
        return ToolOutcome(result=_object(await searching.describe(str(action.params.get("id", "")))))

    async def client(self, action: Action) -> ToolOutcome:
        current = gateway()
        run = await _run_of(action)
        call_id = UUID(action.call_id)
        async with waiters.watch(call_id) as watch:
            await in_database(client_call_tell, run, call_id, tool=action.tool, params=action.params, at=timezone.now())
            current.desk.background(_close_after(current, call_id))
            while True:
                outcome = await in_database(client_call_outcome, call_id, at=timezone.now())
                if outcome is not None:
                    return outcome
                await watch.changed(timeout_s=REREAD_S)


class Searching:
    """What a run asks of its catalogue, kept as it is asked."""

    def __init__(self, run: ToolRun, catalogue: RunCatalogue) -> None:
        self.run = run
        self.catalogue = catalogue

    @property
    def settings(self) -> ToolSearchSettings:
        return settings_of(self.catalogue.snapshot, self.run)

    async def search(self, params: JsonObject) -> Any:
        """Answer one query or several.

        Raises:
            SearchRequestError: they cannot be read.
            RunEndedError: the run has ended.
        """
        asked = read_queries(params, self.settings)
        found = await asyncio.to_thread(found_by, self.catalogue.index, asked, rerank=reranker())
        ids = [[hit.descriptor.id for hit in hits] for hits in found]
        pairs = [(query.text, each) for query, each in zip(asked.queries, ids, strict=True)]
        await in_database(searches_record, self.run, pairs, at=timezone.now())
        return told(asked, found)

    async def describe(self, selector: str) -> dict[str, Any]:
        """Tell all of one tool.

        Raises:
            ToolUnknownError, SelectorAmbiguousError: it names none, or several.
            RunEndedError: the run has ended.
        """
        tool = find(self.catalogue.tools, selector)
        await in_database(describe_record, self.run, tool.id, at=timezone.now())
        return describe(tool)


class Own:
    """Reads the calls that one credential made through a run."""

    environment = ""
    agents: frozenset[str] = frozenset()

    def __init__(self, actor: str) -> None:
        self.actor = actor

    def may(self, permission: Permission) -> bool:  # noqa: ARG002
        return False


class CodeCallError(FirewallError):
    """What a call from code ended as, when it has no result."""

    def __init__(self, error: JsonObject) -> None:
        super().__init__(str(error.get("message", "")))
        self.code = str(error.get("code", "call_failed"))


class CodeBridge:
    """What code may ask: search and describe its run's catalogue, and call, each call through the whole runtime."""

    def __init__(self, current: Gateway, run: ToolRun, action: Action) -> None:
        self._current = current
        self._run = run
        self._parent = action.call()
        self._own = Own(action.actor)
        self.unanswered: list[dict[str, str]] = []
        self._methods: dict[str, Callable[[JsonObject], Awaitable[Any]]] = {
            "search": self._search,
            "describe": self._describe,
            "call": self._call,
        }

    async def __call__(self, method: str, params: JsonObject) -> Any:
        return await self._methods[method](params)

    async def _search(self, params: JsonObject) -> Any:
        return await (await self._now()).search(params)

    async def _describe(self, params: JsonObject) -> Any:
        return await (await self._now()).describe(str(params.get("id", "")))

    async def _now(self) -> Searching:
        """Give what the run may use by now: the policy may be another than when its code began."""
        catalogue = await catalogue_of(self._current, self._run)
        if catalogue is None:
            raise CodeCallError(error_object(*NO_CATALOGUE))
        return Searching(self._run, catalogue)

    async def _call(self, params: JsonObject) -> Any:
        """Make a call of the code's run, and wait for its end; when the code is ended, so is the call."""
        run, parent, arguments = self._run, self._parent, params.get("args") or {}
        catalogue = await catalogue_of(self._current, run)
        meant = meant_by_id(catalogue, str(params.get("id", "")), arguments, "code")
        bridge = bridge_of(run, meant, parent=parent)
        call = Call(
            environment=parent.environment,
            agent=parent.agent,
            tool=meant.tool,
            params=meant.params,
            context=parent.context,
            actor=parent.actor,
            requester=parent.requester,
            trace_id=parent.trace_id,
            run=run.shown_id,
            bridge=bridge,
            id=new_id(),
        )
        call = await begun(run, meant, call)
        task = self._current.desk.start(call)
        try:
            performed = await until_answered(self._current, self._own, call, task, time.monotonic() + FOREVER_S)
        except asyncio.CancelledError:
            asked = task.result().asked if task.done() and not task.cancelled() else None
            if asked is not None:
                waiting = {"tool": meant.tool, "call": show_id("call", call.id), "approval": show_id("ap", asked.id)}
                self.unanswered.append(waiting)
            await asyncio.shield(end_unheard(self._current, self._own, call, reason="code_ended"))
            raise
        content = performed.content
        if performed.status != 200 or content.get("status") != "completed":
            error = content.get("error") if performed.status == 200 else content
            raise CodeCallError(error or {"code": "call_failed", "message": f"the call is {content.get('status')}"})
        told = {} if meant.descriptor is None else {"id": meant.descriptor.id, "source": meant.descriptor.source}
        return {
            "tool": {**told, "name": meant.tool},
            "call": show_id("call", call.id),
            "result": content.get("result"),
        }


async def _code(current: Gateway, searching: Searching, action: Action) -> ToolOutcome:
    await in_database(code_record, searching.run, at=timezone.now())
    code = str(action.params.get("code", ""))
    bridge = CodeBridge(current, searching.run, action)
    ran = await current.code.run(code, bridge, timeout_ms=searching.settings.code_timeout_ms)
    return _outcome(ran, searching, bridge.unanswered)


def _outcome(ran: CodeResult, searching: Searching, unanswered: list[dict[str, str]]) -> ToolOutcome:
    """Say how code went, and for whose answer it waited when it was ended."""
    catalogue = searching.catalogue
    result: dict[str, Any] = {
        "value": ran.value,
        "logs": [{"level": each.level, "text": each.text} for each in ran.logs],
        "telemetry": {
            "catalogueSize": len(catalogue.tools.descriptors),
            "sources": catalogue.counts,
            "searchCount": ran.searches,
            "describeCount": ran.describes,
            "callCount": ran.calls,
        },
    }
    if ran.dropped_bytes:
        result["droppedLogBytes"] = ran.dropped_bytes
    if unanswered:
        result["unansweredApprovals"] = unanswered
    if ran.error is not None:
        waited = "; ".join(f"`{each['tool']}` waited for the approval {each['approval']}" for each in unanswered)
        message = f"{ran.error.message}; {waited}, which is withdrawn" if waited else ran.error.message
        return failed(ran.error.code, message, result)
    return ToolOutcome(result=result)


@cache
def reranker() -> Reranker | None:
    """Give the second ranking that this installation chose; None for none."""
    return reranker_named(settings.TOOL_SEARCH_RERANKER)


def _object(answer: Any) -> dict[str, Any]:
    """Put an answer into the one form of results: an object."""
    return answer if isinstance(answer, dict) else {"candidates": answer}


async def _run_of(action: Action) -> ToolRun:
    bridge = action.call().bridge
    if bridge is None:
        raise RunNotFoundError("no such run")
    return await in_database(run_find, read_id("trun", bridge.run))


async def _close_after(current: Gateway, call_id: UUID) -> None:
    """Destroy what was sealed of a call once its outcome is on record."""
    task = current.desk.task_of(call_id)
    if task is not None:
        await asyncio.wait({task})
    await in_database(client_call_close, call_id, at=timezone.now())
