"""`/api/v1/runs`: begin a run, see what it is offered, search its catalogue, and call what it finds."""

import hashlib
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone

from apps.accounts.access import Permission
from apps.events.waiters import waiters
from apps.firewall.engine.context import CallContext
from apps.firewall.identifiers import new_id, show_id
from apps.firewall.tools.model_calls import ModelCall, ToolChoice
from apps.firewall.tools.providers import PROVIDERS
from apps.firewall.tools.search.controls import CODE
from apps.firewall.tools.wire_names import tool_behind
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.calls import WAIT_LIMIT_MS
from apps.gateway.runtime_api.http import Problem, Request, mistakes
from apps.gateway.runtime_api.performing import Performed, follow, perform
from apps.gateway.runtime_api.reading import Caller, Details, environment_of, read_key, require, whole_number
from apps.gateway.runtime_api.speaking import Speaker, read_speaker
from apps.gateway.runtime_api.turns import Wanted, read_turn, runs_alone, turn_make
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs import reading
from apps.gateway.tool_runs.beginning import beginning_of, check_open, environment_read, run_of
from apps.gateway.tool_runs.calls import (
    CONTROLS_OF_PATHS,
    Meant,
    begun,
    call_of,
    checked_control,
    meant_by,
    meant_by_call,
)
from apps.gateway.tool_runs.surface import NO_ISOLATION, Surface, surface_of
from apps.runs.client_calls import client_call_report
from apps.runs.models import ToolRun
from apps.runs.selectors import run_told
from apps.runs.services import Beginning, run_begin, run_end, run_offered

CALL_MEMBERS = frozenset({"wait_ms", "idempotency"})
HANDED = frozenset({"client_call", "awaiting_approval"})
REREAD_S = 1.0
STATES_OF_OFF = frozenset({"off", "no_publication"})


async def begin(current: Gateway, grant: TokenGrant, request: Request, _: str) -> tuple[int, Any]:
    """Begin a run, and say what its model is offered."""
    require(grant, Permission.CALLS_MAKE)
    body = await request.json()
    details: Details = []
    environment = environment_of(current, grant, body)
    speaker = read_speaker(grant, body, details)
    wishes = reading.read_wishes(body, details)
    if speaker is None or details:
        raise mistakes(details)
    run = await in_database(_begin, environment, beginning_of(grant, speaker, wishes))
    surface = await surface_of(current, run)
    clashing = reading.collisions(wishes.client_tools, surface.catalogue)
    if clashing:
        await in_database(run.delete)
        raise mistakes(clashing)
    await in_database(run_offered, run.pk, surface.offer())
    return 201, _shown(run, surface)


async def read(_: Gateway, grant: TokenGrant, __: Request, identifier: str) -> tuple[int, Any]:
    """Tell of a run: what it was offered, searched and called."""
    run = await run_of(grant, identifier)
    return 200, await in_database(run_told, run)


async def offered(current: Gateway, grant: TokenGrant, _: Request, identifier: str) -> tuple[int, Any]:
    """Say what the model of a run is offered now, in its provider's form."""
    run = await run_of(grant, identifier)
    return 200, _shown(run, await surface_of(current, run))


def control(path: str) -> Callable[[Gateway, TokenGrant, Request, str], Awaitable[tuple[int, Any]]]:
    """Make the endpoint that answers with a control of tool search."""
    name = CONTROLS_OF_PATHS[path]

    async def answer(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
        run, body = await run_of(grant, identifier), await request.json()
        surface = await _searching(current, run)
        if name == CODE and surface.mode != "code" and surface.why != NO_ISOLATION:
            raise Problem(409, "mode_differs", f"this run has the mode `{surface.mode}`: it takes no code")
        params = {each: value for each, value in body.items() if each not in CALL_MEMBERS}
        return await _call(current, grant, request, run, checked_control(surface, name, params), body)

    return answer


async def call(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Call a tool of the catalogue by its id or name, exactly as a direct call goes."""
    run, body = await run_of(grant, identifier), await request.json()
    surface = await _searching(current, run)
    params = {each: value for each, value in body.items() if each not in CALL_MEMBERS}
    return await _call(current, grant, request, run, meant_by_call(surface, params), body)


async def outcome(_: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Take what the caller reports of a call that it ran itself; the first report counts."""
    run, body = await run_of(grant, identifier), await request.json()
    details: Details = []
    call_id, report = reading.read_report(body, details)
    if details:
        raise mistakes(details)
    row = await in_database(client_call_report, run, call_id, report)
    return 200, {"id": show_id("call", row.call_id), "status": row.state}


async def turn(current: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """Make what the model of a run asked for, controls of tool search too, and answer in its provider's form."""
    run, body = await run_of(grant, identifier), await request.json()
    check_open(run)
    details: Details = []
    speaker = _speaker(run)
    path = f"/api/v1/runs/{run.shown_id}/turns"
    made = read_turn(speaker, body, request, details, path=path)
    surface = await surface_of(current, run)
    return await turn_make(current, grant, request, made, partial(_wanted, grant, request, run, surface))


async def end(_: Gateway, grant: TokenGrant, request: Request, identifier: str) -> tuple[int, Any]:
    """End a run, and say how it went."""
    run, body = await run_of(grant, identifier), await request.json()
    details: Details = []
    said = reading.read_outcome(body, details)
    if details:
        raise mistakes(details)
    run = await in_database(lambda: run_end(run, outcome=said, at=timezone.now()))
    return 200, await in_database(run_told, run)


async def _searching(current: Gateway, run: ToolRun) -> Surface:
    check_open(run)
    surface = await surface_of(current, run)
    if surface.why in STATES_OF_OFF:
        raise Problem(409, "tool_search_off", "tool search is off in this environment, or nothing is published")
    return surface


def _begin(environment: str, said: Beginning) -> ToolRun:
    return run_begin(environment_read(environment), said, run_id=new_id(), at=timezone.now())


def _speaker(run: ToolRun) -> Speaker:
    return Speaker(
        caller=Caller(run.agent, CallContext.from_json(run.context)),
        form=PROVIDERS[run.form],
        provider=run.provider,
        model=run.model,
    )


def _wanted(grant: TokenGrant, request: Request, run: ToolRun, surface: Surface, asked: ModelCall) -> Wanted:
    rule = PROVIDERS[run.form].NAMES
    known = () if surface.catalogue is None else tuple(each.name for each in surface.catalogue.tools.descriptors)
    name = tool_behind(asked.name, known, rule)
    meant = meant_by(surface, name, asked.arguments or {}, unreadable=asked.problem)
    made = call_of(run, grant, meant, trace_id=request.trace_id)
    snapshot = None if surface.catalogue is None else surface.catalogue.snapshot
    return Wanted(call=made, runs_alone=runs_alone(snapshot, meant.tool), begin=partial(begun, run, meant))


async def _call(
    current: Gateway, grant: TokenGrant, request: Request, run: ToolRun, meant: Meant, body: dict[str, Any]
) -> tuple[int, Any]:
    """Make a call of a run, and wait for its end as long as the caller wants; what the caller runs is handed over."""
    details: Details = []
    wait_ms = whole_number(body.get("wait_ms"), "wait_ms", details, default=WAIT_LIMIT_MS, maximum=WAIT_LIMIT_MS)
    key = read_key(body, request, details)
    if details:
        raise mistakes(details)
    deadline = time.monotonic() + wait_ms / 1000
    digest = hashlib.sha256(orjson.dumps([run.shown_id, meant.tool, meant.params], option=orjson.OPT_SORT_KEYS))
    is_handed = meant.descriptor is not None and meant.descriptor.source == "client"
    performed = await perform(
        current,
        grant,
        call_of(run, grant, meant, trace_id=request.trace_id),
        key=key,
        body_digest=digest.hexdigest(),
        deadline=time.monotonic() if is_handed else deadline,
        gone=None if key or is_handed else request.gone,
        begin=partial(begun, run, meant),
    )
    if is_handed:
        return await _until_handed(current, grant, performed, deadline)
    return performed.status, performed.content


async def _until_handed(
    current: Gateway, grant: TokenGrant, performed: Performed, deadline: float
) -> tuple[int, dict[str, Any]]:
    """Wait until a call is handed to its caller, or has ended, or its time is over."""
    call_id: UUID = performed.call_id
    async with waiters.watch(call_id) as watch:
        while True:
            status, content = await follow(current, grant, call_id, time.monotonic())
            left = deadline - time.monotonic()
            if status != 202 or content["status"] in HANDED or left <= 0:
                return status, content
            await watch.changed(timeout_s=min(left, REREAD_S))


def _shown(run: ToolRun, surface: Surface) -> dict[str, Any]:
    form, listing = PROVIDERS[run.form], surface.listing
    permitted = frozenset() if surface.catalogue is None else frozenset(each.name for each in surface.catalogue.clients)
    refused = [
        {"tool": each["name"], "code": "not_permitted", "message": f"the policy does not permit `{each['name']}`"}
        for each in run.client_tools
        if each["name"] not in permitted
    ]
    offer = surface.offer()
    return {
        "id": run.shown_id,
        "mode": surface.mode,
        "asked_mode": surface.settings.mode,
        "why": surface.why,
        "snapshot": offer.snapshot_digest or None,
        "provider": run.provider,
        "form": form.KEY,
        "request": form.request_json(listing.fragment, ToolChoice("auto")) if listing.wire_names else {},
        "directory": "" if surface.told is None else surface.told.text,
        "renamed": listing.renamed,
        "left_out": [*listing.left_out, *refused],
        "catalogue": {"size": offer.catalogue_size, "sources": dict(offer.sources), "visible": offer.visible},
        "bytes": {"direct": surface.direct_bytes, "offered": surface.surface_bytes},
    }
