"""People: list, invitation, role, switching off, sessions, link to a new password."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from apps.accounts.models import Invitation, User
from apps.audit.models import Entry

ACTIONS = ("role", "active", "reset", "sessions/end")


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("name", ["operator", "auditor", "outsider"])
def test_only_administrators_act_on_people(
    name: str, action: str, request: pytest.FixtureRequest, client_of: Callable[..., Client], viewer: Any
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.post(f"/users/{viewer.shown_id}/{action}/", {"role": "admin", "active": "no"}).status_code == 403
    viewer.refresh_from_db()
    assert (viewer.role, viewer.is_active) == ("viewer", True)


@pytest.mark.parametrize("action", ACTIONS)
def test_get_changes_nothing(action: str, client_of: Callable[..., Client], admin: Any, viewer: Any) -> None:
    assert client_of(admin).get(f"/users/{viewer.shown_id}/{action}/").status_code == 405


def test_an_invitation_link_is_shown_once(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    page = browser.post("/users/", {"role": "operator", "display_name": "Priya"}).content.decode()
    link = re.search(r"/invitation/([0-9a-f]{64})/", page)
    assert link is not None
    assert link[1] not in browser.get("/users/").content.decode()
    assert Invitation.objects.get().role == "operator"


def test_a_withdrawn_link_does_not_work(
    client_of: Callable[..., Client], client: Client, admin: Any, environment: Any
) -> None:
    browser = client_of(admin)
    page = browser.post("/users/", {"role": "viewer"}).content.decode()
    link = re.search(r"/invitation/[0-9a-f]{64}/", page)
    withdraw = re.search(r"/invitations/inv_\w+/withdraw/", page)
    assert link is not None and withdraw is not None
    browser.post(withdraw[0])
    assert client.get(link[0]).status_code == 404


def test_a_role_counts_from_the_next_request_on(
    client_of: Callable[..., Client], admin: Any, viewer: Any, environment: Any
) -> None:
    browser = client_of(viewer)
    assert browser.get("/audit/").status_code == 403
    client_of(admin).post(f"/users/{viewer.shown_id}/role/", {"role": "auditor"})
    assert browser.get("/audit/").status_code == 200


def test_the_last_administrator_stays(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    for action, fields in (("role", {"role": "viewer"}), ("active", {"active": "no"})):
        answer = browser.post(f"/users/{admin.shown_id}/{action}/", fields)
        assert answer.status_code == 409
        assert "last administrator" in answer.content.decode()
    admin.refresh_from_db()
    assert (admin.role, admin.is_active) == ("admin", True)


def test_a_person_is_switched_off_and_on(
    client_of: Callable[..., Client], admin: Any, viewer: Any, environment: Any
) -> None:
    browser = client_of(admin)
    for wanted in ("no", "yes"):
        browser.post(f"/users/{viewer.shown_id}/active/", {"active": wanted})
        assert User.objects.get(pk=viewer.pk).is_active == (wanted == "yes")


def test_a_session_can_be_ended(client_of: Callable[..., Client], admin: Any, viewer: Any, environment: Any) -> None:
    browser = client_of(viewer)
    browser.get("/settings/")
    client_of(admin).post(f"/users/{viewer.shown_id}/sessions/end/", {"session": browser.session.session_key})
    assert browser.get("/settings/").status_code == 302


def test_a_link_to_a_new_password_works_once(
    client_of: Callable[..., Client], client: Client, admin: Any, viewer: Any, environment: Any
) -> None:
    page = client_of(admin).post(f"/users/{viewer.shown_id}/reset/").content.decode()
    link = re.search(r"/password-reset/usr_\w+/[\w-]+/", page)
    assert link is not None
    assert f'value="{settings.PUBLIC_URL}{link[0]}"' in page or f"{settings.PUBLIC_URL}{link[0]}" in page
    assert client.get(link[0]).status_code == 200
    assert client.post(link[0], {"password": "a completely new secret"}).status_code == 302
    assert client.get(link[0]).status_code == 404  # it says so before anybody types
    assert client.post(link[0], {"password": "another new secret!!"}).status_code == 404
    assert User.objects.get(pk=viewer.pk).check_password("a completely new secret")


def test_open_links_to_a_new_password_are_listed_with_their_maker_and_withdrawn(
    client_of: Callable[..., Client], client: Client, admin: Any, viewer: Any, environment: Any
) -> None:
    browser = client_of(admin)
    made = browser.post(f"/users/{viewer.shown_id}/reset/").content.decode()
    link = re.search(r"/password-reset/usr_\w+/[\w-]+/", made)
    assert link is not None
    for page in ("/users/", f"/users/{viewer.shown_id}/"):
        text = browser.get(page).content.decode()
        assert "Open links to a new password" in text
        assert f"made by {admin}" in text
    withdraw = re.search(r"/password-resets/rst_\w+/withdraw/", browser.get("/users/").content.decode())
    assert withdraw is not None

    assert browser.post(withdraw[0]).status_code == 302

    assert client.get(link[0]).status_code == 404
    assert "Open links to a new password" not in browser.get("/users/").content.decode()
    assert Entry.objects.filter(kind="user_change", status="reset_link_withdrawn").exists()


def test_an_unknown_person_is_not_found(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    assert client_of(admin).get("/users/usr_00000000000000000000000000/").status_code == 404


def test_its_queries_do_not_grow_with_the_list(
    client_of: Callable[..., Client],
    admin: Any,
    make_user: Callable[..., Any],
    environment: Any,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(8):
        make_user(f"person-{number}", role="viewer")
    browser = client_of(admin)
    with django_assert_max_num_queries(10):
        assert browser.get("/users/").status_code == 200
