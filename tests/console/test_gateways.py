"""The pages of OpenClaw Gateways: what they show to whom, enrolling, revoking, alarms."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.openclaw_gateways.alarms import Ungoverned, ungoverned_report
from apps.openclaw_gateways.models import Alarm, Enrolment, OpenClawGateway
from apps.openclaw_gateways.services import Heartbeat, enrolment_create, enrolment_redeem, gateway_heard

ClientOf = Callable[..., Client]


@pytest.fixture
def gateway(environment: Any) -> OpenClawGateway:
    at = timezone.now()
    _, secret = enrolment_create(environment, name="office <b>", by=None, at=at)
    made, _ = enrolment_redeem(secret, Heartbeat(boot="boot-1"), at=at)
    return gateway_heard(made, Heartbeat(boot="boot-1", openclaw="2026.9.6", plugin="1.0.0", node="24.19.0"), at=at)


def alarm_of(gateway: OpenClawGateway) -> Alarm:
    alarm = ungoverned_report(gateway, Ungoverned(tool="exec", agent="main", tool_call="c1"), at=timezone.now())
    assert alarm is not None
    return alarm


def test_the_list_shows_how_each_gateway_stands(client_of: ClientOf, viewer: Any, gateway: OpenClawGateway) -> None:
    page = client_of(viewer).get("/gateways/").content.decode()
    assert "office &lt;b&gt;" in page
    assert "2026.9.6" in page
    assert "live" in page
    assert "Make enrolment token" not in page


def test_it_is_refreshed_by_its_part(client_of: ClientOf, viewer: Any, gateway: OpenClawGateway) -> None:
    part = client_of(viewer).get("/gateways/", headers={"HX-Request": "true"}).content.decode()
    assert part.startswith('<div class="stack" id="gateway-list"')
    assert "<html" not in part


def test_the_pages_ask_the_database_a_bounded_number_of_times(
    client_of: ClientOf, viewer: Any, gateway: OpenClawGateway, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    for path in ("/gateways/", f"/gateways/{gateway.shown_id}/"):
        browser.get(path)
        with django_assert_max_num_queries(16):
            assert browser.get(path).status_code == 200


def test_an_enrolment_token_is_shown_once_with_the_commands(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    page = browser.post("/gateways/enrol/", {"name": "home"}).content.decode()
    secret = re.search(r"oce_[0-9a-z]{26}_[0-9a-f]{64}", page)
    assert secret is not None
    assert "install.mjs --server" in page
    assert secret[0] not in browser.get("/gateways/").content.decode()
    assert Enrolment.objects.get().created_by == admin
    entry = Entry.objects.filter(kind="gateway_change", status="enrolment_made").latest("at")
    assert entry.actor == "user:admin"
    assert secret[0] not in str(entry.changes)


def test_the_record_of_a_new_gateway_names_its_token(gateway: OpenClawGateway) -> None:
    entry = Entry.objects.filter(kind="gateway_change", status="enrolled").latest("at")
    assert gateway.token is not None and entry.changes is not None
    assert entry.changes["reports_by"] == gateway.token.shown_id


def test_the_page_says_first_that_something_must_be_published(
    client_of: ClientOf, admin: Any, environment: Any, request: pytest.FixtureRequest
) -> None:
    told = "Publish before you enrol a gateway"
    browser = client_of(admin)
    for page in (browser.get("/gateways/"), browser.post("/gateways/enrol/", {"name": "home"})):
        text = page.content.decode()
        assert told in text and text.index(told) < text.index("Make enrolment token")
    request.getfixturevalue("published")
    assert told not in browser.get("/gateways/").content.decode()


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("silent", "A gateway stopped reporting."),
        ("not_loaded", "A gateway was enrolled, but its plugin has never reported."),
    ],
)
def test_an_alarm_of_silence_says_what_to_look_for(
    kind: str, told: str, client_of: ClientOf, admin: Any, gateway: OpenClawGateway
) -> None:
    Alarm.objects.create(gateway=gateway, kind=kind, first_at=timezone.now(), last_at=timezone.now())
    for path in ("/gateways/", f"/gateways/{gateway.shown_id}/"):
        page = client_of(admin).get(path).content.decode()
        assert told in page and "asked about" in page


def test_a_gateway_needs_a_name(client_of: ClientOf, admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/gateways/enrol/", {"name": "  "})
    assert answer.status_code == 422
    assert not Enrolment.objects.exists()


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_administrators_enrol_revoke_and_clear(
    name: str, request: pytest.FixtureRequest, client_of: ClientOf, gateway: OpenClawGateway
) -> None:
    alarm = alarm_of(gateway)
    browser = client_of(request.getfixturevalue(name))
    for path in ("enrol/", f"{gateway.shown_id}/revoke/", f"alarms/{alarm.shown_id}/clear/"):
        assert browser.post(f"/gateways/{path}", {"name": "x"}).status_code == 403, path
    gateway.refresh_from_db()
    assert gateway.revoked_at is None


def test_a_revoked_gateway_stays_in_the_list(client_of: ClientOf, admin: Any, gateway: OpenClawGateway) -> None:
    browser = client_of(admin)
    browser.post(f"/gateways/{gateway.shown_id}/revoke/")
    gateway.refresh_from_db()
    gateway.token.refresh_from_db()
    assert gateway.revoked_by_label == "user:admin"
    assert gateway.token.revoked_at is not None
    assert "revoked" in browser.get("/gateways/").content.decode()
    assert Entry.objects.filter(kind="gateway_change", status="revoked", changes__gateway=gateway.shown_id).count() == 1


def test_an_alarm_stands_on_the_pages_and_the_overview_until_somebody_has_seen_to_it(
    client_of: ClientOf, admin: Any, gateway: OpenClawGateway, published: Any
) -> None:
    alarm = alarm_of(gateway)
    browser = client_of(admin)
    told = "A call ran that was never asked about."
    for path in ("/", "/gateways/", f"/gateways/{gateway.shown_id}/"):
        assert told in browser.get(path).content.decode(), path

    browser.post(f"/gateways/alarms/{alarm.shown_id}/clear/")

    for path in ("/", "/gateways/", f"/gateways/{gateway.shown_id}/"):
        assert told not in browser.get(path).content.decode(), path
    assert (
        Entry.objects.filter(kind="gateway_change", status="alarm_cleared", changes__alarm=alarm.shown_id).count() == 1
    )
    assert alarm_of(gateway).pk != alarm.pk


def test_a_gateway_of_another_environment_is_not_found(
    client_of: ClientOf, admin: Any, gateway: OpenClawGateway
) -> None:
    from apps.registry.services import environment_create

    other = environment_create(slug="staging")
    browser = client_of(admin)
    browser.post("/environment/", {"environment": other.slug})
    assert browser.get(f"/gateways/{gateway.shown_id}/").status_code == 404
