"""The commands that set up people and tokens."""

import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from apps.accounts import services
from apps.accounts.models import ApiToken, User

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.mark.slow
def test_the_first_people_sign_in_with_what_was_printed() -> None:
    passwords = json.loads(run("create_people", "--json"))
    assert list(passwords) == ["admin", "operator", "auditor", "viewer"]
    assert all(User.objects.get(username=name).check_password(password) for name, password in passwords.items())
    assert all(User.objects.get(username=name).role == name for name in passwords)


def test_people_are_created_once() -> None:
    run("create_people")
    assert json.loads(run("create_people", "--json")) == {}
    assert "nobody was created" in run("create_people")


def test_people_are_printed_as_lines() -> None:
    lines = run("create_people").splitlines()
    assert [line.split()[0] for line in lines] == ["admin", "operator", "auditor", "viewer"]


def test_a_token_is_printed_once(environment: object) -> None:
    secret = run("create_token", "--name", "bot", "--scopes", "calls_make, explain", "--days", "30").strip()
    token = services.token_authenticate(secret, datetime.now(UTC))
    assert (token.name, token.scopes) == ("bot", ["calls_make", "explain"])
    assert token.expires_at is not None


def test_a_token_with_a_wrong_scope_is_refused() -> None:
    with pytest.raises(CommandError, match="`everything`"):
        run("create_token", "--name", "bot", "--scopes", "everything")
    assert not ApiToken.objects.exists()


def test_a_reset_link_is_printed(operator: User) -> None:
    link = run("reset_password", "operator").strip()
    secret = link.rstrip("/").rpartition("/")[2]
    assert operator.shown_id in link
    services.password_reset(operator.pk, secret=secret, password="a long and quiet night")


def test_a_reset_link_for_nobody_is_refused() -> None:
    with pytest.raises(CommandError, match="`nobody`"):
        run("reset_password", "nobody")
