"""The first page: figures of the chosen time, what waits, what is live; each role sees what it may."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.audit.drafts import EntryDecision, EntryDraft, EntryKind
from apps.audit.following import follow
from apps.audit.services import entry_record
from apps.firewall.identifiers import new_id
from apps.openclaw_gateways.calls import Question, call_open
from apps.openclaw_gateways.models import OpenClawGateway
from apps.openclaw_gateways.services import (
    Heartbeat,
    enrolment_create,
    enrolment_redeem,
    gateway_heard,
    gateway_revoke,
    snapshot_asked,
)
from apps.policies.selectors import live_publication
from apps.policies.services import agent_create, document_import, publish
from apps.registry.services import environment_create

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def place() -> Any:
    """An environment of its own, for what other tests left in the ledger stays there: a draft, and its publication."""
    environment = environment_create(slug=f"e{new_id().hex[-10:]}")
    document_import(environment, '{"agents": {"entries": {"bot": {}}}}', by=None)
    publish(environment, by=None, message="first <i>one</i>", expected_live=None)
    return environment


def _denied(environment: Any, tool: str = "exec", layer: str = "agent") -> None:
    draft = EntryDraft(
        kind=EntryKind.DENIAL,
        environment=environment.slug,
        agent="bot",
        tool=tool,
        call_id=new_id(),
        status="denied",
        decision=EntryDecision(verdict="deny", layer=layer),
        at=timezone.now(),
    )
    entry_record(draft)


def test_it_counts_the_calls_of_the_chosen_time(client_of: ClientOf, auditor: Any, place: Any) -> None:
    _denied(place)
    _denied(place, tool="<svg onload=x>")
    page = client_of(auditor).get("/?span=1h").content.decode()
    assert "100.0 % of calls" in page
    assert 'aria-current="true">1 h</a>' in page
    assert "<svg onload" not in page
    assert "first <i>" not in page


def test_layers_wear_the_numbers_of_the_live_release(client_of: ClientOf, auditor: Any, place: Any) -> None:
    _denied(place, layer="agent")
    _denied(place, layer="no_layer")
    page = client_of(auditor).get("/").content.decode()
    assert '<span class="layer"><b>7</b>agent</span>' in page
    assert '<span class="layer">no_layer</span>' in page


def test_an_unknown_span_is_the_usual_one(client_of: ClientOf, auditor: Any, place: Any) -> None:
    assert 'aria-current="true">6 h</a>' in client_of(auditor).get("/?span=forever").content.decode()


def test_without_calls_it_says_how_to_make_the_first(client_of: ClientOf, admin: Any, place: Any) -> None:
    page = client_of(admin).get("/").content.decode()
    assert "manage.py demo_agent" in page
    assert "/api/v1/calls" in page
    assert "Make a token" in page


def test_it_says_that_nothing_is_published(client_of: ClientOf, viewer: Any, environment: Any) -> None:
    document_import(environment, '{"agents": {"entries": {"bot": {}}}}', by=None)
    page = client_of(viewer).get("/").content.decode()
    assert "Nothing is published." in page


def test_it_says_that_the_draft_differs(client_of: ClientOf, viewer: Any, place: Any) -> None:
    agent_create(place, "more", by=None)
    assert "The draft holds 1 unpublished change." in client_of(viewer).get("/").content.decode()


def test_what_waits_is_listed_by_its_end(client_of: ClientOf, operator: Any, place: Any, ask: Any) -> None:
    ask(environment=place, command="rm <b>-rf</b>", left_s=60)
    page = client_of(operator).get("/").content.decode()
    assert "rm &lt;b&gt;-rf&lt;/b&gt;" in page
    assert "next ends" in page


def test_a_viewer_sees_what_waits_and_no_calls(client_of: ClientOf, viewer: Any, place: Any) -> None:
    _denied(place)
    page = client_of(viewer).get("/").content.decode()
    assert "Calls are not shown to your role." in page
    assert "Pending approvals" in page
    assert "Denied by layer" not in page
    assert client_of(viewer).get("/overview/calls/", headers=HTMX).status_code == 403
    assert "calls-plot" not in client_of(viewer).get("/overview/figures/", headers=HTMX).content.decode()


def test_somebody_without_a_role_learns_whom_to_ask(client_of: ClientOf, outsider: Any, place: Any) -> None:
    answer = client_of(outsider).get("/")
    assert answer.status_code == 403
    assert "You have no role yet" in answer.content.decode()
    assert client_of(outsider).get("/overview/figures/").status_code == 403
    assert client_of().get("/").status_code == 302


def test_its_parts_refresh_alone(client_of: ClientOf, auditor: Any, place: Any) -> None:
    _denied(place)
    browser = client_of(auditor)
    figures = browser.get("/overview/figures/?span=24h", headers=HTMX).content.decode()
    assert figures.lstrip().startswith("<dl")
    assert 'hx-get="/overview/figures/?span=24h"' in figures
    assert "every 5s" in figures
    calls = browser.get("/overview/calls/?span=24h", headers=HTMX).content.decode()
    assert 'id="calls-data"' in calls
    assert "<html" not in calls


def test_figures_are_read_once_for_all_tabs(
    client_of: ClientOf, auditor: Any, place: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(auditor)
    follow(limit_s=5)  # what a reader finds missing it follows itself
    with django_assert_max_num_queries(45):
        assert browser.get("/").status_code == 200
    with django_assert_max_num_queries(12):
        assert browser.get("/overview/figures/", headers=HTMX).status_code == 200


def _gateway(environment: Any, name: str, digest: str, *, silent: bool = False) -> OpenClawGateway:
    at = timezone.now()
    _, secret = enrolment_create(environment, name=name, by=None, at=at)
    made, _ = enrolment_redeem(secret, Heartbeat(boot=name), at=at)
    heard = gateway_heard(made, Heartbeat(boot=name), at=at - timedelta(minutes=5) if silent else at)
    snapshot_asked(heard, digest)
    return heard


def _row(page: str, name: str) -> str:
    panel = page.split('id="overview-gateways"')[1].split("</section>")[0]
    return next(row for row in panel.split("<tr>") if f">{name}</a>" in row)


def test_gateways_are_told_by_what_they_last_had_an_answer_from(client_of: ClientOf, viewer: Any, place: Any) -> None:
    first = live_publication(place)
    assert first is not None
    _gateway(place, "behind", first.snapshot_id)
    agent_create(place, "more", by=None)
    second = publish(place, by=None, message="second", expected_live=first.snapshot_id)
    _gateway(place, "current", second.snapshot_id)
    _gateway(place, "away", second.snapshot_id, silent=True)
    _gateway(place, "unasked", "")
    page = client_of(viewer).get("/").content.decode()
    assert "v1 · 1 behind" in _row(page, "behind")
    assert "v2</span>" in _row(page, "current")
    assert "silent" in _row(page, "away")
    assert "v1" not in _row(page, "unasked") and "v2" not in _row(page, "unasked")
    places = [page.index(f">{name}</a>") for name in ("away", "behind", "current")]
    assert places == sorted(places)


def test_it_counts_what_a_gateway_asked_lately(client_of: ClientOf, viewer: Any, place: Any) -> None:
    busy, at = _gateway(place, "busy", ""), timezone.now()
    for number, (agent, minutes) in enumerate([("main", 0), ("main", 1), ("night", 2), ("past", 9)]):
        asked = Question(
            key=str(number),
            body_digest="",
            boot="busy",
            run="",
            tool_call="",
            tool="read",
            agent=agent,
            session_key="",
            members=(),
        )
        call_open(busy, asked, call_id=new_id(), at=at - timedelta(minutes=minutes))
    row = _row(client_of(viewer).get("/").content.decode(), "busy")
    assert re.findall(r'<td class="num hide-s">(\d+)</td>', row) == ["2", "3"]


def test_a_revoked_gateway_is_nothing_to_look_after(client_of: ClientOf, viewer: Any, place: Any) -> None:
    gateway_revoke(_gateway(place, "left", ""), by=None, at=timezone.now())
    page = client_of(viewer).get("/").content.decode()
    assert ">left</a>" not in page
    assert "No gateways yet" in page


def test_of_many_gateways_it_shows_some_and_how_many_more(client_of: ClientOf, viewer: Any, place: Any) -> None:
    for number in range(8):
        _gateway(place, f"gw-{number}", "")
    page = client_of(viewer).get("/").content.decode()
    assert "and 2 more" in page.split('id="overview-gateways"')[1].split("</section>")[0]
