"""Signing in: by user name and password, a few times only, and nobody signs up."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.core.cache import cache
from django.urls import reverse

from apps.accounts import services
from apps.accounts.models import Session, User
from apps.accounts.selectors import sessions_of
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_counts(settings: Any) -> Any:
    settings.LOGIN_REDIRECT_URL = "/"
    cache.clear()
    yield
    cache.clear()


def sign_in(browser: Any, username: str = "operator", password: str = PASSWORD, ip: str = "192.0.2.7") -> Any:
    return browser.post(
        reverse("account_login"),
        {"login": username, "password": password},
        HTTP_USER_AGENT="Firefox",
        REMOTE_ADDR=ip,
    )


def test_a_person_signs_in(client_of: Any, operator: User) -> None:
    browser = client_of()
    assert sign_in(browser).status_code == 302
    assert browser.session["_auth_user_id"] == str(operator.pk)


def test_the_session_shows_where_it_began(client_of: Any, operator: User) -> None:
    sign_in(client_of())
    (session,) = sessions_of(operator, datetime.now(UTC))
    assert (session.user_agent, session.ip) == ("Firefox", "192.0.2.7")


@pytest.mark.parametrize(("username", "password"), [("operator", "wrong"), ("nobody", PASSWORD)])
def test_a_wrong_name_and_a_wrong_password_are_answered_alike(
    client_of: Any, operator: User, username: str, password: str
) -> None:
    answer = sign_in(client_of(), username, password)
    assert answer.status_code == 200
    assert not Session.objects.filter(user=operator).exists()


def test_who_is_shut_out_cannot_sign_in(client_of: Any, admin: User, operator: User) -> None:
    services.user_deactivate(operator, by=admin)
    sign_in(client_of())
    assert not Session.objects.filter(user=operator).exists()


@pytest.mark.slow
def test_guessing_is_stopped(client_of: Any, operator: User) -> None:
    browser = client_of()
    for _ in range(12):
        sign_in(browser, password="wrong")
    sign_in(browser)
    assert not Session.objects.filter(user=operator).exists()


def test_guessing_shuts_out_who_guesses_and_not_the_person(client_of: Any, operator: User) -> None:
    for _ in range(12):
        sign_in(client_of(), password="wrong", ip="198.51.100.66")
    sign_in(client_of())
    assert Session.objects.filter(user=operator).count() == 1


def test_nobody_signs_up(client_of: Any) -> None:
    browser = client_of()
    browser.post(reverse("account_signup"), {"username": "anna", "password1": PASSWORD, "password2": PASSWORD})
    assert not User.objects.filter(username="anna").exists()


def test_an_ended_session_is_signed_out(client_of: Any, operator: User) -> None:
    browser = client_of()
    sign_in(browser)
    services.sessions_end(operator)
    assert "_auth_user_id" not in browser.session


def test_signing_out_tells_the_sockets(client_of: Any, operator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, Any]] = []
    monkeypatch.setattr("apps.accounts.adapter.announce", lambda kind, **what: told.append((kind, what["id"])))
    client_of(operator).post(reverse("account_logout"))
    assert told == [("session.ended", operator.pk)]


@pytest.mark.parametrize("place", ["//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)"])
def test_a_sign_in_leads_to_our_own_pages_only(client_of: Any, operator: User, place: str) -> None:
    answer = client_of().post(
        f"{reverse('account_login')}?next={place}", {"login": "operator", "password": PASSWORD, "next": place}
    )
    assert answer["Location"] == "/"


def test_a_sign_in_begins_a_new_session(client_of: Any, operator: User) -> None:
    browser = client_of()
    browser.get(reverse("account_login"))
    planted = browser.session
    planted["mark"] = "planted"
    planted.save()
    browser.cookies["sessionid"] = planted.session_key
    sign_in(browser)
    assert browser.session["_auth_user_id"] == str(operator.pk)
    assert browser.session.session_key != planted.session_key
