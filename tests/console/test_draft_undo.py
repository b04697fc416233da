"""Undo on the pages: offered after a save, in the pill and in the history, to who saved it."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from apps.policies.models import Agent, Profile
from apps.policies.selectors import record_history
from apps.policies.services import record_update

ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
PAGE = "/profiles/night/"


@pytest.fixture
def night(draft: Any, admin: Any, client_of: ClientOf) -> Client:
    """The browser of an admin who has just added a profile."""
    browser = client_of(admin)
    browser.post("/profiles/", {"key": "night", "label": "Night"}, follow=True)
    return browser


def newest(record: Any) -> str:
    return str(record_history(record)[0].change)


def offered(text: str) -> bool:
    return 'action="/draft/undo/"' in text


def test_a_saved_change_is_undone_from_the_page_that_follows(night: Client) -> None:
    answer = night.post(PAGE, {"version": "1", "label": "Day", "allow": "read"}, follow=True)
    text = answer.content.decode()
    change = newest(Profile.objects.get())
    assert f'<input type="hidden" name="change" value="{change}">' in text
    undone = night.post("/draft/undo/", {"change": change}, follow=True)
    assert undone.redirect_chain[-1][0] == PAGE
    assert "Undone: profiles.night is as it was before." in undone.content.decode()
    assert Profile.objects.get().label == "Night"


def test_what_was_added_is_taken_out_again_and_the_list_follows(night: Client) -> None:
    undone = night.post("/draft/undo/", {"change": newest(Profile.objects.get())}, follow=True)
    assert undone.redirect_chain[-1][0] == "/profiles/"
    assert not Profile.objects.exists()


def test_what_was_removed_comes_back_by_the_message(night: Client) -> None:
    gone = Profile.objects.get()
    answer = night.post(f"{PAGE}delete/", {"version": "1"}, follow=True)
    assert f'name="change" value="{newest(gone)}"' in answer.content.decode()
    night.post("/draft/undo/", {"change": newest(gone)})
    assert Profile.objects.get().label == "Night"


def test_a_save_that_changes_nothing_offers_nothing(night: Client) -> None:
    night.get(PAGE)
    answer = night.post(PAGE, {"version": "1", "label": "Night"}, follow=True)
    text = answer.content.decode()
    assert "Saved to the draft." in text
    assert not offered(text)


def test_the_history_offers_it_at_the_newest_change_of_ones_own(
    night: Client, client_of: ClientOf, viewer: Any, make_user: Any
) -> None:
    assert night.get(f"{PAGE}history/").content.decode().count('action="/draft/undo/"') == 1
    assert not offered(client_of(viewer).get(f"{PAGE}history/").content.decode())
    other = client_of(make_user("second", role="admin"))
    assert not offered(other.get(f"{PAGE}history/").content.decode())
    other.post(PAGE, {"version": "1", "label": "Theirs"})
    assert not offered(night.get(f"{PAGE}history/").content.decode())


@pytest.mark.django_db(transaction=True)
def test_the_pill_offers_it_to_who_wrote_last(night: Client, client_of: ClientOf, viewer: Any, make_user: Any) -> None:
    assert offered(night.get("/draft/pill/", headers=HTMX).content.decode())
    for other in (viewer, make_user("second", role="admin")):
        assert not offered(client_of(other).get("/draft/pill/", headers=HTMX).content.decode())


def test_an_agents_page_offers_it_after_a_save_and_after_its_rules(draft: Any, client_of: ClientOf, admin: Any) -> None:
    browser = client_of(admin)
    agent = Agent.objects.get(key="main")
    assert offered(
        browser.post("/agents/main/", {"version": agent.version, "deny": "exec"}, follow=True).content.decode()
    )
    answer = browser.post("/agents/main/providers/new/", {"key": "anthropic", "deny": "exec"}, follow=True)
    assert offered(answer.content.decode())


def test_a_record_that_moved_on_is_a_conflict(night: Client, make_user: Any) -> None:
    profile = Profile.objects.get()
    change = newest(profile)
    record_update(profile, {"label": "Theirs"}, by=make_user("second", role="admin"), expected_version=1)
    answer = night.post("/draft/undo/", {"change": change})
    assert answer.status_code == 409
    assert "changed again since" in answer.content.decode()
    assert Profile.objects.get().label == "Theirs"


def test_somebody_elses_change_is_refused(night: Client, client_of: ClientOf, make_user: Any) -> None:
    other = client_of(make_user("second", role="admin"))
    answer = other.post("/draft/undo/", {"change": newest(Profile.objects.get())})
    assert answer.status_code == 409
    assert "only who saved a change may undo it" in answer.content.decode()
    assert Profile.objects.count() == 1


def test_an_import_is_not_undone_and_says_so(draft: Any, client_of: ClientOf, admin: Any) -> None:
    answer = client_of(admin).post("/draft/undo/", {"change": newest(Agent.objects.get(key="main"))})
    assert answer.status_code == 409
    assert "discard the draft" in answer.content.decode()


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_undoes(name: str, night: Client, client_of: ClientOf, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.post("/draft/undo/", {"change": newest(Profile.objects.get())}).status_code == 403
    assert Profile.objects.count() == 1


def test_only_a_posted_id_is_understood(night: Client) -> None:
    assert night.get("/draft/undo/").status_code == 405
    assert [night.post("/draft/undo/", {"change": text}).status_code for text in ("", "x")] == [400, 400]
    assert night.post("/draft/undo/", {"change": str(uuid4())}).status_code == 404
