"""The first page: figures of the chosen time, what waits, what is live; each role sees what it may."""

from collections.abc import Callable, Iterator
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
