"""Which run an MCP client means, read from the address that it was given: `/api/v1/mcp?agent=bot&session=…`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from apps.firewall.identifiers import new_id
from apps.firewall.tools.providers import provider_for
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.runtime_api.http import Request, mistakes
from apps.gateway.runtime_api.reading import Details, environment_of, read_caller, read_query
from apps.gateway.runtime_api.speaking import MEMBERS, Speaker, read_speaker
from apps.gateway.tokens import TokenGrant
from apps.gateway.tool_runs.beginning import beginning_of, environment_read
from apps.gateway.tool_runs.reading import read_wishes
from apps.gateway.tool_runs.surface import surface_of
from apps.runs.models import ToolRun
from apps.runs.services import Beginning, run_begin, run_join, run_offered

MEMBERS_OF_QUERY: Final = (MEMBERS - {"form"}) | {"task", "takes_code", "wait_ms"}
UNKNOWN_PROVIDER: Final = "mcp"
"""Stands for the model's provider where a client does not say whose its model is; no policy speaks of it."""

WAIT_MS: Final = 30_000
WAIT_LIMIT_MS: Final = 600_000
TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What an address says.

    Args:
        wait_ms: how long a call waits for a person before its client is told so.
    """

    environment: str
    said: Beginning
    wait_ms: int


def read_meeting(current: Gateway, grant: TokenGrant, request: Request) -> Meeting:
    """Read the query of the address.

    Raises:
        Problem: 422, with every mistake in it; 403, the token may not speak for this agent.
    """
    details: Details = []
    body = read_query(request.scope["query_string"], MEMBERS_OF_QUERY, details)
    if "agent" not in body and len(grant.agents) == 1:
        body["agent"] = next(iter(grant.agents))
    if "takes_code" in body:
        body["takes_code"] = TRUTHS.get(body["takes_code"], body["takes_code"])
    wait_ms = _wait_ms(body, details)
    environment = environment_of(current, grant, body)
    speaker = read_speaker(grant, body, details) if "provider" in body else _speaker(grant, body, details)
    wishes = read_wishes(body, details)
    if speaker is None or details:
        raise mistakes(details)
    return Meeting(environment=environment, said=beginning_of(grant, speaker, wishes), wait_ms=wait_ms)


async def begun_run(current: Gateway, meeting: Meeting) -> ToolRun:
    """Begin a run."""
    return await _offered(current, meeting, run_begin)


async def joined_run(current: Gateway, meeting: Meeting) -> ToolRun:
    """Go on with the run that an address stands for, for clients of protocols without sessions."""
    return await _offered(current, meeting, run_join)


async def _offered(current: Gateway, meeting: Meeting, make: Callable[..., ToolRun]) -> ToolRun:
    run = await in_database(
        lambda: make(environment_read(meeting.environment), meeting.said, run_id=new_id(), at=timezone.now())
    )
    if not run.mode:
        await in_database(run_offered, run.pk, (await surface_of(current, run)).offer())
    return run


def _speaker(grant: TokenGrant, body: dict[str, Any], details: Details) -> Speaker | None:
    """Read who speaks where the model's provider is not known: nothing is put into the context in its place."""
    caller, form = read_caller(grant, body, details), provider_for(UNKNOWN_PROVIDER)
    if body.get("model") is not None:
        details.append({"path": "provider", "code": "required", "message": "`provider` is required beside `model`"})
    if caller is None or form is None:
        return None
    return Speaker(caller=caller, form=form, provider=UNKNOWN_PROVIDER, model="")


def _wait_ms(body: dict[str, Any], details: Details) -> int:
    text = body.get("wait_ms", str(WAIT_MS))
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= WAIT_LIMIT_MS:
        return int(text)
    rule = f"`wait_ms` must be a whole number from 0 to {WAIT_LIMIT_MS}"
    details.append({"path": "wait_ms", "code": "invalid", "message": rule})
    return WAIT_MS
