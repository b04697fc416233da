"""Sign-in and sign-out."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from apps.audit.filters import EntryFilters
from apps.audit.selectors import entries
from tests.conftest import PASSWORD

WRONG = {"login": "viewer", "password": "not the password"}


@pytest.fixture(autouse=True)
def forget_attempts() -> None:
    cache.clear()


def test_a_person_signs_in_and_goes_where_they_wanted(client: Client, viewer: Any, environment: Any) -> None:
    answer = client.post("/sign-in/?next=/settings/", {"login": "viewer", "password": PASSWORD, "next": "/settings/"})
    assert (answer.status_code, answer["Location"]) == (302, "/settings/")
    assert client.get("/settings/").status_code == 200


def test_the_address_after_sign_in_is_one_of_ours(client: Client, viewer: Any, environment: Any) -> None:
    answer = client.post("/sign-in/", {"login": "viewer", "password": PASSWORD, "next": "https://evil.example/"})
    assert "evil.example" not in answer["Location"]


@pytest.mark.parametrize("login", ["viewer", "nobody-here"])
def test_a_wrong_password_and_an_unknown_name_get_one_answer(login: str, client: Client, viewer: Any) -> None:
    page = client.post("/sign-in/", {"login": login, "password": "not the password"}).content.decode()
    assert 'role="alert"' in page
    assert "user name" in page.lower() or "username" in page.lower()


def test_too_many_attempts_are_slowed_down(client: Client, viewer: Any) -> None:
    answers = [client.post("/sign-in/", WRONG) for _ in range(8)]
    text = answers[-1].content.decode().lower()
    assert "too many" in text


def test_a_switched_off_account_stays_out(client: Client, viewer: Any, environment: Any) -> None:
    viewer.is_active = False
    viewer.save(update_fields=["is_active"])
    client.post("/sign-in/", {"login": "viewer", "password": PASSWORD})
    assert client.get("/settings/").status_code == 302


def test_sign_ins_are_in_the_ledger(client: Client, viewer: Any, environment: Any) -> None:
    client.post("/sign-in/", WRONG)
    client.post("/sign-in/?next=/settings/", {"login": "viewer", "password": PASSWORD, "next": "/settings/"})
    latest = entries(EntryFilters(kind=("sign_in",)), limit=2).rows
    assert [row.status for row in latest] == ["signed_in", "refused"]


def test_signing_out_asks_with_get_and_does_with_post(client_of: Callable[..., Client], viewer: Any) -> None:
    browser = client_of(viewer)
    browser.get("/sign-out/")
    assert browser.get("/settings/").status_code == 200
    browser.post("/sign-out/")
    assert browser.get("/settings/").status_code == 302


def test_nobody_signs_up_by_themselves(client: Client, db: None) -> None:
    assert "by invitation" in client.get("/sign-up/").content.decode()
    client.post("/sign-up/", {"username": "eve", "password1": PASSWORD, "password2": PASSWORD})
    assert client.get("/settings/").status_code == 302


def test_the_page_speaks_chinese(client: Client, db: None) -> None:
    page = client.get("/sign-in/", headers={"accept-language": "zh-hans"}).content.decode()
    assert 'lang="zh-hans"' in page
