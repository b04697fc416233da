"""A form that was sent after the session had ended comes back, filled in, to the person who typed it alone."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.approvals.models import Team

ClientOf = Callable[..., Client]
PAGE = "/approvals/answering/"
ADDRESS = "/approvals/answering/teams/add/"
TYPED = {"name": "night <shift>", "people": "admin"}

pytestmark = pytest.mark.django_db


def signed_out(browser: Client, page: str = PAGE) -> None:
    """Read a page, and then lose the session as a browser does whose session is over."""
    assert browser.get(page).status_code == 200
    browser.cookies.pop("sessionid", None)


def sent(browser: Client, fields: dict[str, Any], address: str = ADDRESS, page: str = PAGE, **headers: str) -> Any:
    return browser.post(address, fields, headers={"Referer": f"http://testserver{page}"} | headers)


def shown(browser: Client, person: Any, page: str = PAGE) -> dict[str, Any] | None:
    browser.force_login(person)
    text = browser.get(page).content.decode()
    data = re.search(r'<script id="kept-form-data" type="application/json">(.*?)</script>', text, re.DOTALL)
    return json.loads(data[1]) if data else None


def test_it_comes_back_on_its_page_once_and_did_nothing(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    answer = sent(browser, TYPED)
    assert (answer.status_code, answer["Location"]) == (302, f"/sign-in/?next={PAGE}")

    kept = shown(browser, admin)
    assert kept == {"page": PAGE, "action": ADDRESS, "fields": [["name", "night <shift>"], ["people", "admin"]]}
    assert shown(browser, admin) is None
    assert not Team.objects.exists()


def test_the_page_says_what_was_typed_without_scripts_too(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    sent(browser, TYPED)
    browser.force_login(admin)
    page = browser.get(PAGE).content.decode()

    assert "You had been signed out when you sent this form." in page
    assert "<dd>night &lt;shift&gt;</dd>" in page and "night <shift>" not in page


def test_a_fragment_keeps_it_too(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    answer = sent(browser, TYPED, **{"HX-Request": "true"})

    assert (answer.status_code, answer["HX-Refresh"]) == (401, "true")
    assert (shown(browser, admin) or {})["action"] == ADDRESS


def test_nobody_else_sees_it(client_of: ClientOf, admin: Any, operator: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    sent(browser, TYPED)

    assert shown(browser, operator) is None
    assert shown(browser, admin) is not None


def test_another_page_leaves_it_for_its_own(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    sent(browser, TYPED)

    assert shown(browser, admin, "/users/") is None
    assert shown(browser, admin) is not None


def test_passwords_secrets_and_files_are_not_kept(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    upload = SimpleUploadedFile("openclaw.json", b"canary-of-a-file")
    secrets = {"password": "canary", "new_password1": "canary", "secret": "canary", "authorization": "canary"}
    sent(browser, {"name": "night", "document": upload, "csrfmiddlewaretoken": "x" * 64} | secrets)

    assert (shown(browser, admin) or {})["fields"] == [["name", "night"]]


def test_a_form_that_is_too_large_is_not_kept(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    sent(browser, {"name": "x" * 300_000})

    assert shown(browser, admin) is None


def test_whose_it_is_cannot_be_made_up(client_of: ClientOf, admin: Any, operator: Any, environment: Any) -> None:
    for cookie in ("", str(admin.pk), f'"{admin.pk}":x:y'):
        stranger = Client()
        stranger.cookies["openclaw_person"] = cookie
        assert sent(stranger, TYPED).status_code == 302
        assert shown(stranger, admin) is None


def test_a_form_from_elsewhere_leads_to_no_other_site(client_of: ClientOf, admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    signed_out(browser)
    answer = browser.post(ADDRESS, TYPED, headers={"Referer": "https://elsewhere.example/page"})

    assert answer["Location"] == f"/sign-in/?next={ADDRESS}"


def test_the_note_of_whose_a_page_is_cannot_be_read_by_scripts(
    client_of: ClientOf, admin: Any, environment: Any
) -> None:
    cookie = client_of(admin).get(PAGE).cookies["openclaw_person"]

    assert (bool(cookie["httponly"]), cookie["samesite"]) == (True, "Lax")
