"""The page of coverage: each door's state and why, the button for administrators, alarms, the same for programs."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.console.coverage import NAMES
from apps.firewall.identifiers import new_id, show_id
from apps.gateway.coverage import DOORS, STALE
from apps.gateway.doors import doors
from apps.gateway.models import DoorProbe
from apps.registry.probing import PROBES
from openclaw_admin.health import PARTS

ClientOf = Callable[..., Client]
PATH = "/audit/coverage/"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What would have been handed to the worker."""
    told: list[bool] = []
    monkeypatch.setattr("apps.gateway.tasks.probes_run_task.delay", lambda: told.append(True))
    return told


def _probe(door: str, state: str, **fields: Any) -> None:
    at = timezone.now()
    DoorProbe.objects.create(
        **({"door": door, "state": state, "asked_by": "anna", "started_at": at, "finished_at": at} | fields)
    )


def test_every_door_has_its_words() -> None:
    assert set(NAMES) == set(DOORS)


def test_nothing_was_tried_yet(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    page = client_of(auditor).get(PATH).content.decode()
    assert page.count("Nobody has tried it yet.") == len(DOORS)
    assert "Try all now" not in page


def test_a_proved_door_leads_to_its_entry(
    client_of: ClientOf, auditor: Any, environment: Any, called: Callable[..., Any]
) -> None:
    call_id = called(environment=PROBES)
    _probe("calls", "recorded", call_id=call_id, chain_id=new_id(), seq=7)
    client = client_of(auditor)
    assert f'href="/audit/calls/{show_id("call", call_id)}/">#7<' in client.get(PATH).content.decode()
    assert client.get(f"/audit/calls/{show_id('call', call_id)}/").status_code == 200


def test_what_is_not_recorded_is_an_alarm(client_of: ClientOf, auditor: Any, published: Any) -> None:
    _probe("turns", "missing", reason="outcome, link", call_id=new_id())
    client = client_of(auditor)
    page = client.get(PATH).content.decode()
    assert "Turns of a model: a call was not recorded." in page
    assert "its end is missing" in page
    assert "an entry is not linked to the one before it" in page
    assert "A probe found a call that is not on record." in client.get("/").content.decode()
    assert PARTS["coverage"]() == "ALARM: not recorded: turns"


def test_an_administrator_has_them_tried_once(
    client_of: ClientOf, admin: Any, environment: Any, asked: list[bool]
) -> None:
    client = client_of(admin)
    assert "Try all now" in client.get(PATH).content.decode()
    assert client.post(f"{PATH}probe/").status_code == 302
    page = client.get(PATH).content.decode()
    assert f"0 of {len(DOORS)} tried" in page
    assert 'hx-trigger="every 1s"' in page
    again = client.post(f"{PATH}probe/")
    assert (again.status_code, "being tried already" in again.content.decode()) == (409, True)
    assert asked == [True]


@pytest.mark.parametrize("name", ["operator", "auditor"])
def test_who_reads_may_not_probe(
    name: str, request: pytest.FixtureRequest, client_of: ClientOf, environment: Any
) -> None:
    client = client_of(request.getfixturevalue(name))
    assert client.get(PATH).status_code == 200
    assert client.post(f"{PATH}probe/").status_code == 403


def test_a_probe_that_no_worker_took_is_said(db: None) -> None:
    at = timezone.now()
    _probe("calls", "running", started_at=at - STALE - timedelta(seconds=1), finished_at=None)
    (door,) = (each for each in doors(at) if each.name == "calls")
    assert (door.state, door.why) == ("failed", "no_worker")


def test_hostile_reasons_are_shown_as_text(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    _probe("calls", "failed", reason="<script>\u202e")
    page = client_of(auditor).get(PATH).content.decode()
    assert "<script>\u202e" not in page
    assert "\u202e" not in page


def test_programs_see_and_ask_the_same(environment: Any, token: Callable[..., Any], asked: list[bool]) -> None:
    _probe("calls", "recorded", call_id=new_id(), chain_id=new_id(), seq=7)
    reading = {"Authorization": f"Bearer {token('audit_read')[1]}"}
    managing = {"Authorization": f"Bearer {token('audit_read', 'audit_manage')[1]}"}
    body = Client().get("/api/v1/audit/coverage", headers=reading).json()
    assert {each["name"] for each in body["doors"]} == set(NAMES)
    assert next(each for each in body["doors"] if each["name"] == "calls")["seq"] == 7
    assert Client().post("/api/v1/audit/coverage", headers=reading).status_code == 403
    assert Client().post("/api/v1/audit/coverage", headers=managing).status_code == 202
    assert Client().post("/api/v1/audit/coverage", headers=managing).status_code == 409
    assert asked == [True]


def test_the_command_fails_where_a_call_is_missing(db: None) -> None:
    _probe("calls", "recorded", call_id=new_id(), chain_id=new_id(), seq=7)
    told = StringIO()
    call_command("coverage", "status", stdout=told)
    assert "#7" in told.getvalue()
    _probe("turns", "missing", reason="outcome")
    with pytest.raises(CommandError, match="not every call is on record"):
        call_command("coverage", "status", stdout=StringIO())
