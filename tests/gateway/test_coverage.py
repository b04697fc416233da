"""Each way to run a call is tried and proved to be on record; the probes leave nothing else behind."""

import asyncio
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import ApiToken
from apps.approvals.models import Approval
from apps.audit.proofs import APPROVAL, COMMAND, call_proof
from apps.audit.selectors import call_record
from apps.firewall.identifiers import new_id, read_id
from apps.gateway import coverage
from apps.gateway.coverage import DOORS, ProbeError, probes_begin, probes_run
from apps.gateway.lifecycle import gateway
from apps.gateway.models import BackgroundCommand, DoorProbe
from apps.gateway.seeing import may_list, may_see
from apps.gateway.wiring import live_snapshots
from apps.openclaw_gateways.models import OpenClawGateway
from apps.registry.probing import PROBES
from apps.registry.selectors import environments
from apps.runs.models import ToolRun
from apps.sessions.models import Session
from tests import database
from tests.gateway.server import Server

ENDS = {"rpc": ("approval_asked", "approval_answered"), "background": ("call_intent", "command_ended")}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def server(transactional_db: None, environment: Any, tmp_path: Any, settings: Any) -> Any:
    settings.VAR_DIR = tmp_path / "var"
    running = Server(live_snapshots()).start()
    yield running
    running.stop()


def _probe(server: Server) -> dict[str, DoorProbe]:
    assert probes_begin(by="test", at=timezone.now())
    server.run(probes_run(gateway()))
    return {row.door: row for row in DoorProbe.objects.all()}


def test_every_door_is_proved_to_be_on_record(server: Server) -> None:
    found = _probe(server)
    assert {door: (row.state, row.reason) for door, row in found.items()} == dict.fromkeys(DOORS, ("recorded", ""))
    for door, row in found.items():
        assert row.call_id is not None
        record = call_record(row.call_id)
        assert record is not None
        ends = ENDS.get(door, ("call_intent", "call_outcome"))
        assert (record.environment, record.entries[0].kind, record.entries[-1].kind) == (PROBES, *ends)
        assert (row.chain_id, row.seq) == (record.entries[-1].chain_id, record.entries[-1].seq)


@pytest.mark.slow
def test_probes_leave_no_token_and_no_environment_to_choose(server: Server) -> None:
    _probe(server)
    assert not ApiToken.objects.exists()
    assert not OpenClawGateway.objects.exists()
    assert not Approval.objects.exists()
    assert not Session.objects.exists()
    assert not BackgroundCommand.objects.exists()
    assert not ToolRun.objects.exists()
    assert PROBES not in [each.slug for each in environments()]


def test_nobody_else_comes_into_the_environment_of_probes(server: Server, token: Any) -> None:
    _, secret = token("calls_make")
    with server.client(secret) as client:
        body = {"agent": "probe", "tool": "read", "params": {"path": "x"}, "environment": PROBES}
        answered = client.post("/api/v1/calls", json=body)
    assert (answered.status_code, answered.json()["code"]) == (422, "environment_unknown")


def test_a_call_that_is_not_on_record_is_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unrecorded(_: Any) -> Any:
        return new_id()

    monkeypatch.setattr(coverage, "DOORS", {"calls": unrecorded})
    monkeypatch.setattr(coverage, "ANSWER_S", 0.5)
    row = _probe(server)["calls"]
    assert (row.state, row.reason) == ("missing", "intent, outcome")


@pytest.mark.slow
def test_a_command_whose_end_is_not_on_record_is_told(server: Server) -> None:
    call_id = _probe(server)["calls"].call_id
    assert call_id is not None
    assert call_proof(call_id, COMMAND).missing == ("end",)
    assert call_proof(call_id, APPROVAL).missing == ("request", "decision")


def test_nobody_else_is_told_what_a_probe_asks(
    server: Server, token: Any, monkeypatch: pytest.MonkeyPatch, admin: Any
) -> None:
    _, secret = token("approvals_read", by=admin)
    listed: list[Any] = []
    heard: list[str] = []

    async def looked_at(probing: coverage.Probing) -> Any:
        wanted = {"agentId": "probe", "command": "cat", "twoPhase": True}
        asked = await probing.post("/api/v1/rpc/exec.approval.request", wanted)
        with server.client(secret) as client:
            answer = await asyncio.to_thread(client.post, "/api/v1/rpc/exec.approval.list", json={})
        listed.append(answer.json())
        grant = await gateway().tokens.find(secret.encode())
        approval = await gateway().requests.now(read_id("ap", asked["approvalId"]))
        assert approval is not None
        heard.extend(name for name in ("list", "see") if {"list": may_list, "see": may_see}[name](grant, approval))
        raise ProbeError("looked at")

    monkeypatch.setattr(coverage, "DOORS", {"rpc": looked_at})
    row = _probe(server)["rpc"]
    assert (row.reason, listed, heard) == ("looked at", [{"approvals": []}], [])


@pytest.mark.slow
def test_a_changed_entry_is_told(server: Server) -> None:
    call_id = _probe(server)["calls"].call_id
    assert call_id is not None
    assert call_proof(call_id).is_whole
    with database.owner_connection() as owner, owner.transaction():
        owner.execute("SET LOCAL openclaw_admin.audit_maintenance = 'on'")
        owner.execute("UPDATE audit_entry SET agent = 'other' WHERE call_id = %s AND kind = 'call_outcome'", [call_id])
    assert call_proof(call_id).missing == ("hash",)


def test_two_do_not_try_the_doors_at_once(db: None) -> None:
    at = timezone.now()
    assert probes_begin(by="one", at=at)
    assert not probes_begin(by="two", at=at)
    assert probes_begin(by="two", at=at + coverage.STALE * 2)
