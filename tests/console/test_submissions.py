"""A form sent twice at once is done once, and both answers show what was done."""

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from apps.accounts.models import ApiToken, Invitation
from apps.approvals.models import Team

pytestmark = pytest.mark.django_db(transaction=True)
CREATING: list[tuple[str, str, dict[str, str], Any]] = [
    ("/tokens/", "/tokens/", {"name": "night", "scopes": "calls_make"}, ApiToken),
    ("/users/", "/users/", {"role": "viewer"}, Invitation),
    ("/approvals/answering/", "/approvals/answering/teams/add/", {"name": "leads", "people": "admin"}, Team),
]


def token_of(browser: Client, page: str) -> str:
    found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', browser.get(page).content.decode())
    assert found
    return found[1]


def pressed_twice(browser: Client, path: str, fields: dict[str, str]) -> list[Any]:
    """Send the same form twice at the same time, from two threads of one browser."""
    together, answers = threading.Barrier(2), []

    def press() -> None:
        other = Client(enforce_csrf_checks=True)
        other.cookies = browser.cookies
        together.wait(60)
        answers.append(other.post(path, fields))
        connection.close()

    threads = [threading.Thread(target=press) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    return answers


@pytest.mark.parametrize(("page", "path", "fields", "model"), CREATING, ids=["token", "invitation", "team"])
def test_a_double_click_makes_one(
    admin: Any,
    environment: Any,
    client_of: Callable[..., Client],
    page: str,
    path: str,
    fields: dict[str, str],
    model: Any,
) -> None:
    browser = client_of(admin, enforce_csrf_checks=True)
    before = model.objects.count()
    answers = pressed_twice(browser, path, fields | {"csrfmiddlewaretoken": token_of(browser, page)})
    assert model.objects.count() == before + 1
    first, second = answers
    assert (first.status_code, first.content, first.get("Location")) == (
        second.status_code, second.content, second.get("Location"),
    )  # fmt: skip
    assert first.status_code < 400


def test_the_form_that_was_shown_anew_is_another_one(
    admin: Any, environment: Any, client_of: Callable[..., Client]
) -> None:
    browser = client_of(admin, enforce_csrf_checks=True)
    for _ in range(2):
        fields = {"name": "night", "scopes": "calls_make", "csrfmiddlewaretoken": token_of(browser, "/tokens/")}
        assert browser.post("/tokens/", fields).status_code < 400
    assert ApiToken.objects.filter(name="night").count() == 2


def test_another_persons_equal_form_is_another_one(
    admin: Any, make_user: Callable[..., Any], environment: Any, client_of: Callable[..., Client]
) -> None:
    for person in (admin, make_user("second", role="admin")):
        browser = client_of(person)
        fields = {"name": "night", "scopes": "calls_make", "csrfmiddlewaretoken": "the same of both"}
        assert browser.post("/tokens/", fields).status_code < 400
    assert ApiToken.objects.filter(name="night").count() == 2
