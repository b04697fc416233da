"""What people set for themselves."""

from collections.abc import Callable
from typing import Any

from django.test import Client

from tests.conftest import PASSWORD


def test_the_language_of_the_settings_wins_over_the_browser(
    client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    browser = client_of(viewer)
    browser.post("/settings/", {"display_name": "Vic", "language": "zh-hans", "theme": "dark"})
    page = browser.get("/settings/", headers={"accept-language": "en"}).content.decode()
    assert 'lang="zh-hans"' in page
    assert 'data-theme="dark"' in page


def test_single_keys_are_off_for_the_person_wherever_they_sign_in(
    client_of: Callable[..., Client], operator: Any, admin: Any, environment: Any
) -> None:
    assert 'data-keys="on"' in client_of(operator).get("/approvals/").content.decode()
    client_of(operator).post("/settings/", {"theme": "system"})
    assert 'data-keys="off"' in client_of(operator).get("/approvals/").content.decode()
    assert 'data-keys="on"' in client_of(admin).get("/approvals/").content.decode()
    client_of(operator).post("/settings/", {"theme": "system", "single_keys": "on"})
    assert 'data-keys="on"' in client_of(operator).get("/approvals/").content.decode()


def test_an_unknown_theme_is_refused(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    assert client_of(viewer).post("/settings/", {"theme": "pink"}).status_code == 422


def test_one_own_session_can_be_ended_and_no_other_persons(
    client_of: Callable[..., Client], viewer: Any, operator: Any, environment: Any
) -> None:
    other, mine = client_of(operator), client_of(viewer)
    other.get("/settings/")
    mine.post("/settings/sessions/end/", {"session": other.session.session_key})
    assert other.get("/settings/").status_code == 200
    second = client_of(viewer)
    second.get("/settings/")
    mine.post("/settings/sessions/end/")
    assert second.get("/settings/").status_code == 302
    assert mine.get("/settings/").status_code == 200


def test_a_new_password_needs_the_old_one(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    browser = client_of(viewer)
    wrong = {"old_password": "not it", "password": "a completely new secret"}
    assert browser.post("/password/", wrong).status_code == 422
    assert browser.post("/password/", wrong | {"old_password": PASSWORD}).status_code == 302
    viewer.refresh_from_db()
    assert viewer.check_password("a completely new secret")


def test_changing_the_password_keeps_this_session_and_ends_the_others(
    client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    here, elsewhere = client_of(viewer), client_of(viewer)
    elsewhere.get("/settings/")
    here.post("/password/", {"old_password": PASSWORD, "password": "a completely new secret"})
    assert here.get("/settings/").status_code == 200
    assert elsewhere.get("/settings/").status_code == 302


def test_the_choice_of_environment_is_hidden_while_there_is_one(
    client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    from apps.registry.models import Environment

    browser = client_of(viewer)
    assert 'name="environment"' not in browser.get("/settings/").content.decode()
    Environment.objects.create(slug="staging", name="Staging", position=9)
    assert 'name="environment"' in browser.get("/settings/").content.decode()
    answer = browser.post("/environment/", {"environment": "staging", "next": "/settings/"})
    assert answer["Location"] == "/settings/"
    assert '<option value="staging" selected>' in browser.get("/settings/").content.decode()


def test_an_unknown_environment_and_a_foreign_address_are_refused(
    client_of: Callable[..., Client], viewer: Any, environment: Any
) -> None:
    browser = client_of(viewer)
    assert browser.post("/environment/", {"environment": "nowhere"}).status_code == 400
    assert browser.get("/environment/").status_code == 405
