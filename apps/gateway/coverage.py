"""Whether every way to run a call is on record: a harmless call through each door, then a look at the ledger.

A probe comes through the door as an agent's request does, with a token of the installation's own: no person's, open to
the environment of probes alone, and gone when the probes are over. What it calls changes nothing.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, transaction
from django.utils import timezone
from mcp_types import CLIENT_CAPABILITIES_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import LATEST_MODERN_VERSION

from apps.accounts.access import Permission
from apps.accounts.models import ApiToken
from apps.accounts.services import token_create, token_end
from apps.accounts.telling import Told, tell, token_told
from apps.approvals.errors import ApprovalNotFoundError
from apps.approvals.probing import requests_of_probes_forget
from apps.approvals.selectors import approval_now
from apps.audit.proofs import APPROVAL, CALL, COMMAND, Wanted, call_has_ended, call_proof
from apps.firewall.errors import FirewallError
from apps.firewall.identifiers import new_id, read_id
from apps.firewall.runtime.call import Call
from apps.gateway.database import in_database
from apps.gateway.lifecycle import Gateway
from apps.gateway.models import BackgroundCommand, DoorProbe
from apps.gateway.probe_snapshot import AGENT, COMMAND_TOOL, MCP_TOOL, TOOL
from apps.gateway.probe_snapshot import COMMAND as COMMAND_LINE
from apps.gateway.trials import call_make
from apps.openclaw_gateways.probing import gateway_for_probes, gateway_forget
from apps.registry.probing import PROBES, environment_of_probes
from apps.runs.probing import runs_of_probes_forget
from apps.sessions.probing import sessions_of_probes_forget

log = structlog.get_logger(__name__)

State = DoorProbe.State
PARAMS: Final = {"path": "probe.txt"}
REFUSED: Final = "refused"
"""The call was refused, by the kill switch for instance; that is on record, too."""
ANSWER_S: Final = 60.0
STALE: Final = timedelta(minutes=5)
LOOK_S: Final = 0.1
ANSWERING: Final = (Permission.APPROVALS_READ, Permission.APPROVALS_RESOLVE)


class ProbeError(FirewallError):
    """A door did not answer as it should, so that nothing can be said of its record."""

    code = "probe_failed"


@dataclass(frozen=True, slots=True)
class Probing:
    """What a probe has at hand: the gateway of this process, its own secret, and how it is named in the ledger."""

    current: Gateway
    secret: str
    actor: str

    async def post(self, path: str, body: Mapping[str, Any], **headers: str) -> dict[str, Any]:
        """Send a request through the whole door of agents, but for the network before it.

        Args:
            headers: besides the usual ones, `_` in their names for `-`.
        Raises:
            ProbeError: it was refused.
        """
        from apps.gateway.runtime_api.app import application  # the door is above this module

        sent: list[Any] = []
        named = {"authorization": f"Bearer {self.secret}", "content_type": "application/json", **headers}
        sent_headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()]
        given = {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": sent_headers}
        waiting = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not given:
                await waiting.wait()  # it stays until it was answered
            message = dict(given)
            given.clear()
            return message

        async def send(message: Any) -> None:
            sent.append(message)

        await application(scope, receive, send)
        status, content = sent[0]["status"], json.loads(b"".join(part.get("body", b"") for part in sent[1:]))
        if status not in {200, 201, 202}:
            raise ProbeError(f"{status} {content.get('code', '')}: {content.get('message', '')}")
        return dict(content)


async def _calls(probing: Probing) -> UUID:
    answered = await probing.post("/api/v1/calls", {"agent": AGENT, "tool": TOOL, "params": PARAMS})
    return read_id("call", answered["id"])


async def _turns(probing: Probing) -> UUID:
    asked = {"id": "probe", "type": "function", "function": {"name": TOOL, "arguments": json.dumps(PARAMS)}}
    message = {"role": "assistant", "content": None, "tool_calls": [asked]}
    response = {"id": f"probe-{new_id()}", "choices": [{"message": message, "finish_reason": "tool_calls"}]}
    speaker = {"agent": AGENT, "provider": "probe", "form": "openai-chat"}
    answered = await probing.post("/api/v1/turns", {**speaker, "response": response})
    return read_id("call", answered["calls"][0]["id"])


async def _async(probing: Probing) -> UUID:
    body = {"agent": AGENT, "tool": TOOL, "params": PARAMS, "mode": "async"}
    answered = await probing.post("/api/v1/calls", body)
    await probing.current.taker.take()  # where no other worker was faster
    return read_id("call", answered["id"])


async def _trial(probing: Probing) -> UUID:
    call = Call(environment=PROBES, agent=AGENT, tool=TOOL, params=dict(PARAMS), actor=probing.actor)
    await asyncio.to_thread(call_make, call)
    return call.id


async def _mcp(probing: Probing) -> UUID:
    answered = await probing.post("/api/v1/calls", {"agent": AGENT, "tool": MCP_TOOL, "params": {"text": "probe"}})
    return read_id("call", answered["id"])


async def _runs(probing: Probing) -> UUID:
    begun = await probing.post("/api/v1/runs", {"agent": AGENT, "provider": "probe"})
    tool = {"id": f"core:{TOOL}", "args": PARAMS}
    answered = await probing.post(f"/api/v1/runs/{begun['id']}/tools/call", tool)
    return read_id("call", answered["id"])


async def _mcp_server(probing: Probing) -> UUID:
    """Call as a client of MCP without a session; the token says which agent."""
    from apps.gateway.mcp.answers import CALL_KEY  # the door is above this module

    meta = {PROTOCOL_VERSION_META_KEY: LATEST_MODERN_VERSION, CLIENT_CAPABILITIES_META_KEY: {}}
    asked = {"name": TOOL, "arguments": PARAMS, "_meta": meta}
    answered = await probing.post(
        "/api/v1/mcp",
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked},
        host=settings.ALLOWED_HOSTS[0].lstrip("."),
        accept="application/json",
        mcp_protocol_version=LATEST_MODERN_VERSION,
        mcp_method="tools/call",
        mcp_name=TOOL,
    )
    if "result" not in answered:
        raise ProbeError(str(answered["error"]["message"]))
    return read_id("call", answered["result"]["_meta"][CALL_KEY])


async def _openclaw(probing: Probing) -> UUID:
    """Ask as the plugin does, and report as it does: what a gateway is told to run, nobody runs here."""
    asked = await probing.post(
        "/api/v1/openclaw/calls", {"key": f"probe-{new_id()}", "agent": AGENT, "tool": TOOL, "params": PARAMS}
    )
    if asked["status"] == "run":
        await probing.post(f"/api/v1/openclaw/calls/{asked['id']}/outcome", {"is_error": False, "result": {}})
    return read_id("call", asked["id"])


async def _rpc(probing: Probing) -> UUID:
    """Ask as a program does before it runs a command itself, and answer as another does: with a no, at once."""
    wanted = {"agentId": AGENT, "command": COMMAND_LINE, "twoPhase": True}
    asked = await probing.post("/api/v1/rpc/exec.approval.request", wanted)
    answer = {"id": asked["approvalId"], "decision": "deny", "reason": "a probe"}
    await probing.post("/api/v1/rpc/exec.approval.resolve", answer)
    approval_id = read_id("ap", asked["approvalId"])
    approval = await in_database(approval_now, approval_id)
    if approval is None:
        raise ApprovalNotFoundError(approval_id)
    return approval.call_id


async def _background(probing: Probing) -> UUID:
    """Leave a command running, then end its input, with which it ends."""
    speaker = {"agent": AGENT, "session": f"agent:{AGENT}:{new_id()}"}
    params = {"command": COMMAND_LINE, "background": True, "timeout": int(ANSWER_S)}
    begun = await probing.post("/api/v1/calls", {**speaker, "tool": COMMAND_TOOL, "params": params})
    _check_ran(begun)
    if begun["status"] == "completed":
        params = {"action": "write", "sessionId": begun["result"]["sessionId"], "data": "probe", "eof": True}
        _check_ran(await probing.post("/api/v1/calls", {**speaker, "tool": "process", "params": params}))
    return read_id("call", begun["id"])


def _check_ran(answered: Mapping[str, Any]) -> None:
    if answered["status"] not in {"completed", "denied"}:
        error = answered.get("error") or {}
        raise ProbeError(f"{answered['status']} {error.get('code', '')}: {error.get('message', '')}")


Make = Callable[[Probing], Awaitable[UUID]]
DOORS: Final[Mapping[str, Make]] = {
    "calls": _calls,
    "turns": _turns,
    "async": _async,
    "trial": _trial,
    "mcp": _mcp,
    "runs": _runs,
    "mcp_server": _mcp_server,
    "openclaw": _openclaw,
    "rpc": _rpc,
    "background": _background,
}
WANTED: Final[Mapping[str, Wanted]] = {"rpc": APPROVAL, "background": COMMAND}
"""What the ledger ought to hold, where it is not just a call's beginning and end."""


def probes_begin(*, by: str, at: datetime) -> bool:
    """Say that the doors are being tried now.

    Returns:
        False while somebody else tries them.
    """
    with transaction.atomic():
        for door in DOORS:
            values = {"state": State.FAILED, "started_at": at}
            DoorProbe.objects.get_or_create(door=door, defaults=values)
        rows = list(DoorProbe.objects.select_for_update().filter(door__in=DOORS).order_by("door"))
        if any(row.state == State.RUNNING and row.started_at > at - STALE for row in rows):
            return False
        DoorProbe.objects.filter(door__in=DOORS).update(
            state=State.RUNNING, reason="", asked_by=by, started_at=at, finished_at=None, call_id=None, seq=None
        )
    return True


async def probes_run(current: Gateway) -> None:
    """Try each door in turn; what is found of one is kept before the next is tried."""
    token, secret = await in_database(_token)
    try:
        for door, make in DOORS.items():
            found = await _tried(Probing(current, secret, token.actor), door, make)
            await in_database(_keep, door, found)
    finally:
        await in_database(_forget, token)


async def _tried(probing: Probing, door: str, make: Make) -> dict[str, Any]:
    try:
        wanted = WANTED.get(door, CALL)
        call_id = await asyncio.wait_for(make(probing), ANSWER_S)
        await _until_ended(call_id, wanted)
        proof = await in_database(call_proof, call_id, wanted)
    except (FirewallError, DatabaseError, TimeoutError, LookupError, ValueError) as exc:
        reason = exc.message if isinstance(exc, FirewallError) else type(exc).__name__
        log.warning("coverage.probe_failed", door=door, error=type(exc).__name__)
        return {"state": State.FAILED, "reason": reason}
    state = State.RECORDED if proof.is_whole else State.MISSING
    if not proof.is_whole:
        log.error("coverage.not_recorded", door=door, missing=proof.missing)
    place = {"call_id": call_id, "chain_id": proof.chain_id, "seq": proof.seq}
    reason = ", ".join(proof.missing) or (REFUSED if proof.is_refused else "")
    return {"state": state, "reason": reason, **place}


async def _until_ended(call_id: UUID, wanted: Wanted) -> None:
    """Wait until the end of a call is on record; one that never is, is what a probe looks for."""
    until = time.monotonic() + ANSWER_S
    while time.monotonic() < until and not await in_database(call_has_ended, call_id, wanted):
        await asyncio.sleep(LOOK_S)


def _keep(door: str, found: Mapping[str, Any]) -> None:
    DoorProbe.objects.filter(door=door).update(finished_at=timezone.now(), **found)


@transaction.atomic
def _token() -> tuple[ApiToken, str]:
    at = timezone.now()
    environment = environment_of_probes()
    for left in ApiToken.objects.filter(environment=PROBES, expires_at__lte=at):  # of probes that died
        _forget(left)
    token, secret = token_create(
        name="probes",
        scopes=[Permission.CALLS_MAKE, Permission.GATEWAY_CALLS, *ANSWERING],
        environment=PROBES,
        agents=[AGENT],
        expires_at=at + STALE,
        by=None,
    )
    gateway_for_probes(environment, token, at=at)
    tell(Told(kind="token", status="created", environment=PROBES, changes=token_told(token)))
    return token, secret


@transaction.atomic
def _forget(token: ApiToken) -> None:
    """Take the token away with all that came of it: no list shows it, no more comes of it."""
    told = token_told(token)
    token_end(token, at=timezone.now())
    gateway_forget(token)
    requests_of_probes_forget(token.actor)
    runs_of_probes_forget()
    running = BackgroundCommand.objects.filter(environment__slug=PROBES).exclude(state=BackgroundCommand.State.ENDED)
    sessions_of_probes_forget(running.values_list("session_key", flat=True))
    token.delete()
    tell(Told(kind="token", status="revoked", environment=PROBES, changes=told))
