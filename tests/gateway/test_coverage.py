"""Each way to run a call is tried and proved to be on record; the probes leave nothing else behind."""

from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import ApiToken
from apps.audit.proofs import call_proof
from apps.audit.selectors import call_record
from apps.firewall.identifiers import new_id
from apps.gateway import coverage
from apps.gateway.coverage import DOORS, probes_begin, probes_run
from apps.gateway.lifecycle import gateway
from apps.gateway.models import DoorProbe
from apps.gateway.wiring import live_snapshots
from apps.openclaw_gateways.models import OpenClawGateway
from apps.registry.probing import PROBES
from apps.registry.selectors import environments
from tests import database
from tests.gateway.server import Server

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
    for row in found.values():
        assert row.call_id is not None
        record = call_record(row.call_id)
        assert record is not None
        assert (record.environment, record.entries[0].kind, record.entries[-1].kind) == (
            PROBES,
            "call_intent",
            "call_outcome",
        )
        assert (row.chain_id, row.seq) == (record.entries[-1].chain_id, record.entries[-1].seq)


def test_probes_leave_no_token_and_no_environment_to_choose(server: Server) -> None:
    _probe(server)
    assert not ApiToken.objects.exists()
    assert not OpenClawGateway.objects.exists()
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
