"""Pages that say why, and what still holds."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client, RequestFactory

from apps.console.views import errors

STILL_HOLDS = "Gateways keep enforcing the last snapshot"


def test_a_missing_page_says_so(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    answer = client_of(viewer).get("/nothing/")
    assert answer.status_code == 404
    assert STILL_HOLDS in answer.content.decode()


def test_a_forbidden_page_says_what_helps(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    page = client_of(viewer).get("/users/").content.decode()
    assert "Your role does not include it." in page
    assert STILL_HOLDS in page


def test_a_refusal_inside_a_fragment_is_a_note(client_of: Callable[..., Client], viewer: Any, environment: Any) -> None:
    for path, status in (("/audit/", 403), ("/nothing/", 404)):
        answer = client_of(viewer).get(path, headers={"hx-request": "true"})
        assert (answer.status_code, answer["HX-Retarget"]) == (status, "#flash")
        assert answer.content.decode().startswith('<div class="note deny')


def test_a_broken_fragment_leaves_the_page_as_it_was() -> None:
    answer = errors.server_error(RequestFactory().get("/approvals/queue/", headers={"hx-request": "true"}))
    assert (answer.status_code, answer["HX-Retarget"]) == (500, "#flash")
    assert answer.content.decode().startswith('<div class="note deny')


def test_a_server_error_needs_no_database() -> None:
    answer = errors.server_error(RequestFactory().get("/approvals/"))
    assert answer.status_code == 500
    assert STILL_HOLDS in answer.content.decode()


@pytest.mark.parametrize("view", [errors.forbidden, errors.not_found, errors.too_many, errors.server_error])
def test_programs_get_the_one_shape_of_errors(view: Any) -> None:
    answer = view(RequestFactory().get("/api/v1/nothing"))
    assert answer["Content-Type"] == "application/json"
    assert b'"details": []' in answer.content


def test_an_expired_form_says_that_nothing_was_changed(client: Client, db: None) -> None:
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"login": "a", "password": "b"})
    assert answer.status_code == 403
    assert "Nothing was changed." in answer.content.decode()
