"""Publishing by two and later, as people do it: the form, the panel of requests, confirm, withdraw, the rule."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.policies.models import PublishRequest
from apps.policies.rules_of_release import needs_second_person
from apps.policies.selectors import agent_get, live_publication
from apps.policies.services import publish_ask, publish_rule_save, record_update

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
SOON = (datetime.now(UTC) + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")


@pytest.fixture
def other(make_user: Any) -> Any:
    return make_user("other", role="admin")


@pytest.fixture
def by_two(draft: Any, admin: Any) -> Any:
    publish_rule_save(draft, by=admin, needs_second_person=True, hours=24)
    return draft


@pytest.fixture
def asked(by_two: Any, admin: Any) -> PublishRequest:
    return publish_ask(by_two, by=admin, message="please <b>", expected_live="", at=timezone.now())


def _url(name: str, request: PublishRequest) -> str:
    return reverse(name, args=[request.pk])


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_the_form_asks_where_two_publish(client_of: ClientOf, admin: Any, by_two: Any, headers: dict[str, str]) -> None:
    browser = client_of(admin)
    assert "Ask a second person" in browser.get("/publish/").content.decode()
    answer = browser.post("/publish/", {"message": "why", "expected_live": ""}, headers=headers)
    assert answer.headers.get("HX-Redirect", answer.headers.get("location")) == "/publish/#publish-requests"
    assert PublishRequest.objects.get().state == "waiting"
    assert live_publication(by_two) is None


def test_the_panel_shows_what_waits_and_who_may_confirm(
    client_of: ClientOf, admin: Any, other: Any, viewer: Any, asked: Any
) -> None:
    confirm = _url("publish-confirm", asked)
    pages = {person: client_of(person).get("/publish/").content.decode() for person in (admin, other, viewer)}
    assert [confirm in page for page in pages.values()] == [False, True, False]
    assert [_url("publish-withdraw", asked) in page for page in pages.values()] == [True, True, False]
    assert "please &lt;b&gt;" in pages[viewer]


def test_the_second_person_publishes(client_of: ClientOf, other: Any, asked: Any) -> None:
    answer = client_of(other).post(_url("publish-confirm", asked), follow=True)
    live = live_publication(asked.environment)
    assert live is not None and live.snapshot_id == asked.digest
    assert "v1 is live." in answer.content.decode()


def test_who_asked_cannot_confirm(client_of: ClientOf, admin: Any, asked: Any) -> None:
    answer = client_of(admin).post(_url("publish-confirm", asked))
    assert answer.status_code == 403
    assert "cannot be that person" in answer.content.decode()
    assert live_publication(asked.environment) is None


def test_a_moved_draft_is_told(client_of: ClientOf, admin: Any, other: Any, asked: Any) -> None:
    agent = agent_get(asked.environment, "main")
    assert agent is not None
    record_update(agent, {"deny": ["exec"]}, by=admin, expected_version=agent.version)
    browser = client_of(other)
    assert "no longer the one that was asked for" in browser.get("/publish/").content.decode()
    answer = browser.post(_url("publish-confirm", asked))
    assert answer.status_code == 409
    assert "the draft has changed" in answer.content.decode()
    assert "Overtaken" in browser.get("/publish/").content.decode()


def test_it_is_withdrawn_once(client_of: ClientOf, admin: Any, asked: Any) -> None:
    browser = client_of(admin)
    page = browser.post(_url("publish-withdraw", asked), follow=True).content.decode()
    assert "Withdrawn. Nothing goes live." in page
    assert browser.post(_url("publish-withdraw", asked)).status_code == 409


def test_a_time_schedules_it(client_of: ClientOf, admin: Any, draft: Any) -> None:
    form = {"message": "at night", "expected_live": "", "publish_at": SOON}
    page = client_of(admin).post("/publish/", form, follow=True).content.decode()
    request = PublishRequest.objects.get()
    assert (request.state, request.publish_at) == ("scheduled", datetime.fromisoformat(SOON).replace(tzinfo=UTC))
    assert "Scheduled. It goes live at its time" in page
    assert "Goes live" in page


@pytest.mark.parametrize("when", ["2020-01-01T00:00", "2099-01-01T00:00", "soon"])
def test_a_time_that_cannot_be_is_refused(client_of: ClientOf, admin: Any, draft: Any, when: str) -> None:
    form = {"message": "x", "expected_live": "", "publish_at": when}
    answer = client_of(admin).post("/publish/", form, headers=HTMX)
    assert answer.status_code == 422
    assert not PublishRequest.objects.exists()


def test_the_rule_is_changed_on_its_page(client_of: ClientOf, admin: Any, draft: Any) -> None:
    browser = client_of(admin)
    assert "A second person must confirm" in browser.get("/publish/rule/").content.decode()
    browser.post("/publish/rule/", {"needs_second_person": "on", "hours": "12"})
    assert needs_second_person(draft)
    assert browser.post("/publish/rule/", {"hours": "0"}).status_code == 422
    browser.post("/publish/rule/", {"hours": "12"})
    assert not needs_second_person(draft)


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_others_look_only(client_of: ClientOf, asked: Any, name: str, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path in (_url("publish-confirm", asked), _url("publish-withdraw", asked), "/publish/rule/"):
        assert browser.post(path, {"hours": "1"}).status_code == 403
    assert browser.get("/publish/rule/").status_code == (403 if name == "outsider" else 200)
    assert PublishRequest.objects.get().state == "waiting"


def test_reading_changes_nothing(client_of: ClientOf, admin: Any, asked: Any) -> None:
    for name in ("publish-confirm", "publish-withdraw"):
        assert client_of(admin).get(_url(name, asked)).status_code == 405
    assert PublishRequest.objects.get().state == "waiting"


def test_the_review_stays_within_its_queries(
    client_of: ClientOf, admin: Any, asked: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    browser = client_of(admin)
    browser.get("/publish/")
    with django_assert_max_num_queries(40):
        assert browser.get("/publish/").status_code == 200
