"""Joining, roles, passwords, leaving."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts import services
from apps.accounts.access import Permission, permissions_of
from apps.accounts.errors import LastAdminError, LinkInvalidError, PermissionDeniedError, UserInvalidError
from apps.accounts.models import Session, User
from apps.accounts.selectors import (
    invitation_find,
    invitations_open,
    password_resets_open,
    sessions_of,
    user_find,
    users,
)

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 12, tzinfo=UTC)
GOOD = "a long and quiet night"


def invited(admin: User, role: str = "operator") -> str:
    _, secret = services.user_invite(role=role, by=admin, at=AT)
    return secret


def test_an_invited_person_joins_in_the_role_of_the_link(admin: User) -> None:
    user = services.invitation_accept(invited(admin), username="anna", password=GOOD, at=AT)
    assert user.role == "operator"
    assert user.check_password(GOOD)
    assert user.created_by == admin


def test_a_link_works_once(admin: User) -> None:
    secret = invited(admin)
    services.invitation_accept(secret, username="anna", password=GOOD, at=AT)
    with pytest.raises(LinkInvalidError):
        services.invitation_accept(secret, username="bert", password=GOOD, at=AT)


def test_an_old_link_does_not_work(admin: User) -> None:
    secret = invited(admin)
    assert invitation_find(secret, AT) is not None
    with pytest.raises(LinkInvalidError):
        services.invitation_accept(secret, username="anna", password=GOOD, at=AT + timedelta(days=7))
    assert invitation_find(secret, AT + timedelta(days=7)) is None


def test_a_withdrawn_link_does_not_work(admin: User) -> None:
    invitation, secret = services.user_invite(role="viewer", by=admin, at=AT)
    services.invitation_revoke(invitation, by=admin, at=AT)
    services.invitation_revoke(invitation, by=admin, at=AT)
    with pytest.raises(LinkInvalidError):
        services.invitation_accept(secret, username="anna", password=GOOD, at=AT)
    assert not invitations_open(AT)


def test_a_link_of_somebody_who_was_shut_out_does_not_work(admin: User) -> None:
    other = services.user_create(username="other", password=GOOD, role="admin", by=admin)
    secret = invited(other)
    services.user_deactivate(other, by=admin)
    with pytest.raises(LinkInvalidError):
        services.invitation_accept(secret, username="anna", password=GOOD, at=AT)


def test_the_secret_of_a_link_is_not_stored(admin: User) -> None:
    invitation, secret = services.user_invite(role="viewer", by=admin, at=AT)
    assert secret not in str(vars(invitation))


@pytest.mark.parametrize(
    ("username", "password", "path"),
    [
        ("", GOOD, "username"),
        ("an na", GOOD, "username"),
        ("-anna", GOOD, "username"),
        ("ADMIN", GOOD, "username"),
        ("anna", "short", "password"),
        ("anna", "password1234", "password"),
    ],
)
def test_what_breaks_a_rule_is_named_and_the_link_stays_good(
    admin: User, username: str, password: str, path: str
) -> None:
    secret = invited(admin)
    with pytest.raises(UserInvalidError) as caught:
        services.invitation_accept(secret, username=username, password=password, at=AT)
    assert {detail["path"] for detail in caught.value.details} == {path}
    assert invitation_find(secret, AT) is not None


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_only_an_administrator_manages_people(name: str, admin: User, request: pytest.FixtureRequest) -> None:
    by = request.getfixturevalue(name)
    attempts: list[Callable[[], object]] = [
        lambda: services.user_invite(role="viewer", by=by, at=AT),
        lambda: services.user_create(username="anna", password=GOOD, by=by),
        lambda: services.user_set_role(by, role="admin", by=by),
        lambda: services.user_deactivate(admin, by=by),
        lambda: services.user_activate(admin, by=by),
        lambda: services.password_reset_link(admin, by=by),
    ]
    for attempt in attempts:
        with pytest.raises(PermissionDeniedError):
            attempt()
    admin.refresh_from_db()
    assert (admin.is_active, admin.role) == (True, "admin")


def test_a_role_counts_from_the_next_question_on(admin: User, viewer: User) -> None:
    assert Permission.APPROVALS_RESOLVE not in permissions_of(viewer)
    changed = services.user_set_role(viewer, role="operator", by=admin)
    assert Permission.APPROVALS_RESOLVE in permissions_of(changed)


def test_a_role_that_does_not_exist_is_refused(admin: User, viewer: User) -> None:
    with pytest.raises(UserInvalidError, match="`root`"):
        services.user_set_role(viewer, role="root", by=admin)


def test_the_last_administrator_stays(admin: User) -> None:
    with pytest.raises(LastAdminError):
        services.user_set_role(admin, role="viewer", by=admin)
    with pytest.raises(LastAdminError):
        services.user_deactivate(admin, by=admin)


def test_one_of_two_administrators_may_leave(admin: User) -> None:
    other = services.user_create(username="other", password=GOOD, role="admin", by=admin)
    services.user_deactivate(other, by=admin)
    with pytest.raises(LastAdminError):
        services.user_deactivate(admin, by=admin)


def test_who_is_shut_out_may_nothing_and_comes_back_as_before(admin: User, operator: User) -> None:
    gone = services.user_deactivate(operator, by=admin)
    assert permissions_of(gone) == frozenset()
    back = services.user_activate(gone, by=admin)
    assert Permission.APPROVALS_RESOLVE in permissions_of(back)


def test_a_user_name_is_found_in_any_case(operator: User) -> None:
    assert user_find("OPERATOR") == operator
    assert User.objects.get_by_natural_key("Operator") == operator
    assert user_find("nobody") is None


def test_active_people_come_first(admin: User, operator: User) -> None:
    services.user_create(username="zoe", password=GOOD, by=admin)
    services.user_deactivate(operator, by=admin)
    assert [user.username for user in users()] == ["admin", "zoe", "operator"]


# --- passwords ---


def test_a_reset_link_works_once(admin: User, operator: User) -> None:
    link = services.password_reset_link(operator, by=admin)
    services.password_reset(operator.pk, secret=link.secret, password=GOOD)
    operator.refresh_from_db()
    assert operator.check_password(GOOD)
    with pytest.raises(LinkInvalidError):
        services.password_reset(operator.pk, secret=link.secret, password="another long sentence")


def test_a_reset_link_is_for_its_person_only(admin: User, operator: User) -> None:
    link = services.password_reset_link(operator, by=admin)
    with pytest.raises(LinkInvalidError):
        services.password_reset(admin.pk, secret=link.secret, password=GOOD)


def test_who_is_shut_out_cannot_reset(admin: User, operator: User) -> None:
    link = services.password_reset_link(operator, by=admin)
    gone = services.user_deactivate(operator, by=admin)
    with pytest.raises(LinkInvalidError):
        services.password_reset(gone.pk, secret=link.secret, password=GOOD)
    with pytest.raises(LinkInvalidError):
        services.password_reset_link(gone, by=admin)


def test_a_reset_link_dies_with_its_makers_right_to_make_it(
    admin: User, operator: User, make_user: Callable[..., User]
) -> None:
    maker = make_user("departing", role="admin")
    links = [services.password_reset_link(operator, by=maker) for _ in range(2)]
    assert {reset.created_by for reset in password_resets_open(timezone.now())} == {maker}

    services.user_set_role(maker, role="viewer", by=admin)

    for link in links:
        with pytest.raises(LinkInvalidError):
            services.password_reset(operator.pk, secret=link.secret, password=GOOD)
    services.user_set_role(maker, role="admin", by=admin)  # a right that comes back revives no link
    assert password_resets_open(timezone.now()) == []


def test_a_reset_link_of_a_deactivated_administrator_is_dead(
    admin: User, operator: User, make_user: Callable[..., User]
) -> None:
    maker = make_user("departing", role="admin")
    link = services.password_reset_link(operator, by=maker)
    User.objects.filter(pk=maker.pk).update(is_active=False)  # whatever way it came about

    with pytest.raises(LinkInvalidError):
        services.password_reset(operator.pk, secret=link.secret, password=GOOD)


@pytest.mark.parametrize("what", ["role", "password", "sign-in", "off and on", "withdrawn", "too old"])
def test_a_reset_link_dies_with_what_happens_to_its_person(admin: User, operator: User, what: str) -> None:
    at = timezone.now()
    link = services.password_reset_link(operator, by=admin, at=at)
    if what == "role":
        services.user_set_role(operator, role="admin", by=admin)
    elif what == "password":
        services.password_change(operator, password="quite another long sentence", keep_session=None)
    elif what == "sign-in":
        User.objects.filter(pk=operator.pk).update(last_login=at + timedelta(seconds=1))
    elif what == "off and on":
        services.user_activate(services.user_deactivate(operator, by=admin), by=admin)
    elif what == "withdrawn":
        services.password_reset_revoke(link.reset, by=admin, at=at)

    later = at + (timedelta(days=1) if what == "too old" else timedelta(seconds=5))
    assert password_resets_open(later) == []
    with pytest.raises(LinkInvalidError):
        services.password_reset(operator.pk, secret=link.secret, password=GOOD, at=later)


def test_a_reset_link_is_withdrawn_by_who_manages_people_alone(admin: User, operator: User) -> None:
    link = services.password_reset_link(operator, by=admin)

    with pytest.raises(PermissionDeniedError):
        services.password_reset_revoke(link.reset, by=operator, at=timezone.now())
    assert password_resets_open(timezone.now()) == [link.reset]


def test_a_weak_password_is_refused_and_the_old_one_stays(operator: User) -> None:
    with pytest.raises(UserInvalidError):
        services.password_change(operator, password="operator", keep_session=None)
    operator.refresh_from_db()
    assert not operator.check_password("operator")


# --- sessions ---


def test_a_session_is_listed_with_its_person(client_of: Any, operator: User) -> None:
    client_of(operator)
    (session,) = sessions_of(operator, datetime.now(UTC))
    assert session.user == operator
    assert session.created_at <= session.last_seen_at


def test_a_new_password_ends_the_other_sessions(client_of: Any, operator: User) -> None:
    kept, _other = client_of(operator), client_of(operator)
    services.password_change(operator, password=GOOD, keep_session=kept.session.session_key)
    assert [row.session_key for row in sessions_of(operator, datetime.now(UTC))] == [kept.session.session_key]


def test_ending_a_session_of_somebody_else_does_nothing(client_of: Any, operator: User, viewer: User) -> None:
    browser = client_of(operator)
    assert not services.session_end(viewer, session_key=browser.session.session_key)
    assert services.session_end(operator, session_key=browser.session.session_key)
    assert not services.session_end(operator, session_key=browser.session.session_key)


def test_being_shut_out_ends_every_session(client_of: Any, admin: User, operator: User) -> None:
    client_of(operator)
    client_of(operator)
    services.user_deactivate(operator, by=admin)
    assert not Session.objects.filter(user=operator).exists()


def test_a_session_keeps_its_first_day_and_moves_its_last(client_of: Any, operator: User) -> None:
    browser = client_of(operator)
    key = browser.session.session_key
    long_ago = datetime.now(UTC) - timedelta(hours=2)
    Session.objects.filter(pk=key).update(created_at=long_ago, last_seen_at=long_ago)
    session = browser.session  # reads it
    session["more"] = 1
    session.save()
    row = Session.objects.get(pk=key)
    assert row.created_at == long_ago
    assert row.last_seen_at > long_ago


def test_reading_a_session_notes_that_it_was_seen(client_of: Any, operator: User) -> None:
    browser = client_of(operator)
    long_ago = datetime.now(UTC) - timedelta(hours=2)
    Session.objects.filter(user=operator).update(last_seen_at=long_ago)
    assert browser.session.get("_auth_user_id") == str(operator.pk)
    assert Session.objects.get(user=operator).last_seen_at > long_ago


# --- choices ---


def test_choices_are_saved(operator: User) -> None:
    saved = services.preferences_save(operator, display_name=" Olga ", language="zh-hans", theme="dark")
    saved.refresh_from_db()
    assert (saved.display_name, saved.language, saved.theme) == ("Olga", "zh-hans", "dark")


def test_a_theme_that_does_not_exist_is_refused(operator: User) -> None:
    with pytest.raises(UserInvalidError):
        services.preferences_save(operator, display_name="", language="en", theme="pink")


def test_an_invitation_dies_with_the_right_to_invite(admin: User, make_user: Callable[..., User]) -> None:
    second = make_user("second", role="admin")
    secret = services.user_invite(role="admin", by=second, at=AT)[1]
    services.user_set_role(second, role="viewer", by=admin)
    assert invitation_find(secret, AT) is None
    with pytest.raises(LinkInvalidError):
        services.invitation_accept(secret, username="anna", password=GOOD, at=AT)
