"""API tokens."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import ApiToken

FORM = {"name": "gateway", "scopes": ["calls_make"], "days": "30", "agents": "ops, bot"}


def test_the_secret_is_shown_once(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    page = browser.post("/tokens/", FORM).content.decode()
    secret = re.search(r"oca_[0-9a-z]{26}_[0-9a-f]{64}", page)
    assert secret is not None
    assert secret[0] not in browser.get("/tokens/").content.decode()


def test_it_keeps_what_was_chosen(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    client_of(admin).post("/tokens/", FORM)
    token = ApiToken.objects.get()
    assert (token.scopes, token.agents, token.created_by) == (["calls_make"], ["bot", "ops"], admin)
    assert token.expires_at is not None


def test_without_a_scope_nothing_is_made(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    answer = client_of(admin).post("/tokens/", {"name": "gateway"})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_a_scope_that_does_not_exist_is_refused(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    assert client_of(admin).post("/tokens/", FORM | {"scopes": ["root"]}).status_code == 422


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_administrators_make_and_revoke(
    name: str,
    request: pytest.FixtureRequest,
    client_of: Callable[..., Client],
    token: Callable[..., Any],
    environment: Any,
) -> None:
    row, _secret = token()
    browser = client_of(request.getfixturevalue(name))
    assert browser.post("/tokens/", FORM).status_code == 403
    assert browser.post(f"/tokens/{row.shown_id}/revoke/").status_code == 403
    assert ApiToken.objects.get().revoked_at is None


def test_a_revoked_token_stays_in_the_list(
    client_of: Callable[..., Client], admin: Any, token: Callable[..., Any], environment: Any
) -> None:
    row, _secret = token()
    browser = client_of(admin)
    assert browser.get(f"/tokens/{row.shown_id}/revoke/").status_code == 405
    browser.post(f"/tokens/{row.shown_id}/revoke/")
    assert "revoked" in browser.get("/tokens/").content.decode()
