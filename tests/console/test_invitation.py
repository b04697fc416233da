"""Joining by a link."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.services import user_invite

JOIN = {"username": "priya", "display_name": "Priya Nair", "password": "a long enough secret"}


@pytest.fixture
def link(admin: Any) -> str:
    _invited, secret = user_invite(role="operator", by=admin, at=timezone.now(), display_name="Priya")
    return f"/invitation/{secret}/"


def test_it_shows_the_role_and_takes_name_and_password(client: Client, link: str, environment: Any) -> None:
    assert "Operator" in client.get(link).content.decode()
    assert client.post(link, JOIN).status_code == 302
    assert User.objects.get(username="priya").role == "operator"


def test_opening_it_does_not_use_it_up(client: Client, link: str) -> None:
    client.get(link)
    assert client.get(link).status_code == 200


def test_it_works_once(client: Client, link: str, environment: Any) -> None:
    client.post(link, JOIN)
    assert client.post(link, JOIN | {"username": "eve"}).status_code == 404


def test_a_weak_password_is_refused_beside_its_field_and_the_link_stays_good(client: Client, link: str) -> None:
    answer = client.post(link, JOIN | {"password": "short"})
    assert answer.status_code == 422
    assert 'id="id_password_error"' in answer.content.decode()
    assert client.get(link).status_code == 200


def test_an_invented_link_says_the_same_as_a_used_one(client: Client, db: None) -> None:
    assert client.get("/invitation/" + "0" * 64 + "/").status_code == 404
