"""Tokens: shown once, kept as a hash, good for no more than whoever made them."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.accounts import services
from apps.accounts.access import Permission, may, may_environment, permissions_of, require
from apps.accounts.errors import PermissionDeniedError, ScopeError, TokenInvalidError
from apps.accounts.models import ApiToken, User
from apps.accounts.secret_links import hash_secret
from apps.accounts.selectors import token_lookup

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_the_secret_is_shown_once_and_kept_as_a_hash(token: Any) -> None:
    row, secret = token("calls_make")
    assert re.fullmatch(r"oca_[0-9a-hjkmnp-tv-z]{26}_[0-9a-f]{64}", secret)
    assert secret.startswith(row.prefix)
    stored = ApiToken.objects.values().get(pk=row.pk)
    assert secret.rpartition("_")[2] not in str(stored)


def test_the_secret_authenticates(token: Any) -> None:
    row, secret = token("calls_make")
    assert services.token_authenticate(secret, AT) == row


@pytest.mark.parametrize("wrong", ["", "oca_", "x" * 95, "oca_\ud800"])
def test_another_secret_does_not(token: Any, wrong: str) -> None:
    token("calls_make")
    with pytest.raises(TokenInvalidError):
        services.token_authenticate(wrong, AT)


def test_one_wrong_letter_does_not(token: Any) -> None:
    _, secret = token("calls_make")
    with pytest.raises(TokenInvalidError):
        services.token_authenticate(secret[:-1] + ("0" if secret[-1] != "0" else "1"), AT)


def test_an_expired_token_does_not(token: Any) -> None:
    _, secret = token("calls_make", expires_at=AT)
    services.token_authenticate(secret, AT - timedelta(seconds=1))
    with pytest.raises(TokenInvalidError):
        services.token_authenticate(secret, AT)


def test_a_revoked_token_does_not_and_stays_revoked(token: Any, admin: User) -> None:
    row, secret = token("calls_make")
    services.token_revoke(row, by=admin, at=AT)
    again = services.token_revoke(row, by=admin, at=AT + timedelta(days=1))
    assert again.revoked_at == AT
    with pytest.raises(TokenInvalidError):
        services.token_authenticate(secret, AT)
    assert token_lookup(hash_secret(secret)) is None


def test_use_is_noted_at_most_once_a_minute(token: Any) -> None:
    row, secret = token("calls_make")
    for seconds, noted in [(0, 0), (59, 0), (60, 60), (61, 60)]:
        services.token_authenticate(secret, AT + timedelta(seconds=seconds))
        row.refresh_from_db()
        assert row.last_used_at == AT + timedelta(seconds=noted)


def test_noting_use_writes_nothing_within_the_minute(token: Any, django_assert_num_queries: Any) -> None:
    _, secret = token("calls_make")
    services.token_authenticate(secret, AT)
    with django_assert_num_queries(1):
        assert services.token_authenticate(secret, AT).last_used_at == AT


def test_a_token_may_what_its_scopes_say(token: Any) -> None:
    row, _ = token("calls_make", "explain")
    assert permissions_of(row) == {Permission.CALLS_MAKE, Permission.EXPLAIN}
    with pytest.raises(PermissionDeniedError, match="`publish`"):
        require(row, Permission.PUBLISH)


def test_a_scope_that_does_not_exist_is_refused(token: Any) -> None:
    with pytest.raises(ScopeError, match="`everything`"):
        token("everything")


def test_a_token_without_a_scope_is_refused() -> None:
    with pytest.raises(ScopeError):
        services.token_create(name="empty", scopes=[], by=None)


def test_nobody_gives_what_they_do_not_have(admin: User, operator: User) -> None:
    services.token_create(name="mine", scopes=["publish"], by=admin)
    with pytest.raises(PermissionDeniedError):
        services.token_create(name="mine", scopes=["calls_make"], by=operator)


def test_a_token_loses_what_its_maker_loses(token: Any, admin: User, make_user: Any) -> None:
    other = make_user("other", role="admin")
    row, secret = token("publish", "explain", by=other)
    services.user_set_role(other, role="viewer", by=admin)
    fresh = services.token_authenticate(secret, AT)
    assert permissions_of(fresh) == {Permission.EXPLAIN}
    grant = token_lookup(hash_secret(secret))
    assert grant is not None
    assert grant.scopes == {Permission.EXPLAIN}
    assert row.scopes == ["explain", "publish"]


def test_a_token_of_somebody_who_was_shut_out_does_not_work(token: Any, admin: User, make_user: Any) -> None:
    other = make_user("other", role="admin")
    _, secret = token("publish", by=other)
    services.user_deactivate(other, by=admin)
    with pytest.raises(TokenInvalidError):
        services.token_authenticate(secret, AT)
    assert token_lookup(hash_secret(secret)) is None


def test_a_grant_holds_what_the_gateway_asks(token: Any) -> None:
    row, secret = token("calls_make", environment="production", agents=["bot"], expires_at=AT, rate_per_minute=60)
    grant = token_lookup(hash_secret(secret))
    assert grant is not None
    assert (grant.id, grant.environment, grant.rate_per_minute) == (row.pk, "production", 60)
    assert grant.actor == row.actor
    assert grant.speaks_for("bot")
    assert not grant.speaks_for("other")
    assert grant.is_usable(AT - timedelta(seconds=1))
    assert not grant.is_usable(AT)


def test_an_unbound_token_speaks_for_every_agent_and_environment(token: Any) -> None:
    row, secret = token("calls_make")
    grant = token_lookup(hash_secret(secret))
    assert grant is not None
    assert grant.speaks_for("anybody")
    assert may_environment(row, "staging")


def test_a_bound_token_sees_its_environment_only(token: Any, viewer: User) -> None:
    row, _ = token("explain", environment="staging")
    assert may_environment(row, "staging")
    assert not may_environment(row, "production")
    assert may_environment(viewer, "production")


ROLES: dict[str, set[str]] = {
    "admin": set(Permission),
    "operator": {"policy_read", "explain", "approvals_read", "approvals_resolve", "audit_read"}
    | {"calls_make", "decisions_ask", "calls_stop", "sessions_manage"},
    "auditor": {"policy_read", "explain", "approvals_read", "audit_read", "audit_export"},
    "viewer": {"policy_read", "explain", "approvals_read"},
    "outsider": set(),
}


@pytest.mark.parametrize("name", ROLES)
def test_each_role_may_exactly_this(name: str, request: pytest.FixtureRequest) -> None:
    user = request.getfixturevalue(name)
    assert permissions_of(user) == ROLES[name]
    assert all(may(user, permission) == (permission in ROLES[name]) for permission in Permission)


def test_nobody_may_nothing() -> None:
    from django.contrib.auth.models import AnonymousUser

    assert permissions_of(AnonymousUser()) == frozenset()
