"""People: invite, join, role, password, deactivate."""

import secrets
import string
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.accounts.access import Permission, may, require
from apps.accounts.errors import LastAdminError, LinkInvalidError, UserInvalidError
from apps.accounts.models import ApiToken, Invitation, PasswordReset, Role, Theme, User
from apps.accounts.secret_links import hash_secret, make_secret
from apps.accounts.selectors import password_reset_find
from apps.accounts.services.sessions import sessions_end
from apps.accounts.telling import Told, tell
from apps.events.notices import announce

LAST_ADMIN = gettext_noop("this is the last administrator: make another one first")
LINK_DEAD = gettext_noop("this link does not work any more: ask for a new one")
INVITATION_LASTS = timedelta(days=7)
RESET_LASTS = timedelta(days=1)
_PASSWORD_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class ResetLink:
    """A one-time way to a new password; `secret` works once and for a day."""

    reset: PasswordReset
    secret: str

    @property
    def path(self) -> str:
        """Path of the page that takes the new password."""
        return reverse("password-reset", kwargs={"user_id": self.reset.user_id, "secret": self.secret})


@transaction.atomic
def user_create(*, username: str, password: str, role: str = "", display_name: str = "", by: User | None) -> User:
    """Add a person with a password.

    Args:
        by: who adds, with `users_manage`; None at the command line and at set-up.
    Raises:
        PermissionDeniedError, UserInvalidError.
    """
    if by is not None:
        require(by, Permission.USERS_MANAGE)
    return _user_add(username=username, password=password, role=role, display_name=display_name, by=by)


def _user_add(*, username: str, password: str, role: str, display_name: str, by: User | None) -> User:
    user = User(username=User.normalize_username(username), display_name=display_name.strip(), role=role, created_by=by)
    details = _mistakes(user)
    try:
        validate_password(password, user)
    except ValidationError as exc:
        details += [{"path": "password", "code": "invalid", "message": message} for message in exc.messages]
    if details:
        raise UserInvalidError(_("the person cannot be added: see details"), details)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as exc:  # another one was faster
        raise UserInvalidError(_("the user name `%(name)s` is taken") % {"name": user.username}, [_taken()]) from exc
    announce("user.changed", id=user.pk)
    return user


def _taken() -> dict[str, str]:
    return {"path": "username", "code": "taken", "message": _("this user name is taken")}


def _mistakes(user: User) -> list[dict[str, str]]:
    try:
        user.full_clean(exclude=["password"])
    except ValidationError as exc:
        return [
            {"path": "username" if field == "__all__" else field, "code": "invalid", "message": message}
            for field, messages in exc.message_dict.items()
            for message in messages
        ]
    return []


def _first_password() -> str:
    """Make a password of 119 bits that one double click in a terminal selects whole."""
    return "".join(secrets.choice(_PASSWORD_LETTERS) for _ in range(20))


@transaction.atomic
def people_first() -> dict[str, str]:
    """Add one person for each role, named like it, when nobody exists yet.

    Returns:
        Generated passwords by user name, kept nowhere else; empty when there were people.
    """
    with transaction.get_connection().cursor() as cursor:  # two that start together must not both find nobody
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('openclaw_admin people_first'))")
    if User.objects.exists():
        return {}
    passwords = {str(role): _first_password() for role in Role}
    for role, password in passwords.items():
        _user_add(username=role, password=password, role=role, display_name=role.capitalize(), by=None)
    for role in passwords:
        tell(Told(kind="user_change", status="created", changes={"user": role, "role": role}))
    return passwords


@transaction.atomic
def user_invite(*, role: str, by: User, at: datetime, display_name: str = "") -> tuple[Invitation, str]:
    """Make a one-time link with which somebody joins in a role.

    Returns:
        The invitation and the secret of its link, which is kept nowhere.
    Raises:
        PermissionDeniedError, UserInvalidError: no such role.
    """
    require(by, Permission.USERS_MANAGE)
    _check_role(role)
    secret = make_secret()
    invitation = Invitation.objects.create(
        secret_hash=hash_secret(secret),
        display_name=display_name.strip(),
        role=role,
        expires_at=at + INVITATION_LASTS,
        created_by=by,
    )
    return invitation, secret


@transaction.atomic
def step_skip(user: User, step: str, *, is_skipped: bool = True) -> User:
    """Put one of the first steps aside for a person, or take it up again; doing it twice changes nothing."""
    user = _locked(user)
    others = [each for each in user.skipped_steps if each != step]
    user.skipped_steps = [*others, step] if is_skipped else others
    user.save(update_fields=["skipped_steps"])
    return user


def _check_role(role: str) -> None:
    if role and role not in Role.values:
        raise UserInvalidError(
            _("there is no role `%(role)s`") % {"role": role},
            [{"path": "role", "code": "unknown_role", "message": _("there is no such role")}],
        )


@transaction.atomic
def invitation_revoke(invitation: Invitation, *, by: User, at: datetime) -> Invitation:
    """Withdraw a link; one that was used stays used.

    Raises:
        PermissionDeniedError.
    """
    require(by, Permission.USERS_MANAGE)
    invitation = Invitation.objects.select_for_update().get(pk=invitation.pk)
    if invitation.accepted_at is None and invitation.revoked_at is None:
        invitation.revoked_at = at
        invitation.save(update_fields=["revoked_at"])
    return invitation


@transaction.atomic
def invitation_accept(secret: str, *, username: str, password: str, at: datetime, display_name: str = "") -> User:
    """Join by a link: the person chooses a user name and a password.

    Raises:
        LinkInvalidError: unknown, used, withdrawn or too old; or whoever invited may no longer invite.
        UserInvalidError: the user name or the password breaks a rule; the link stays good.
    """
    invitation = Invitation.objects.select_for_update().filter(secret_hash=hash_secret(secret)).first()
    if invitation is None or not invitation.is_usable(at):
        raise LinkInvalidError(_(LINK_DEAD))
    if invitation.created_by is not None and not may(invitation.created_by, Permission.USERS_MANAGE):
        raise LinkInvalidError(_(LINK_DEAD))
    user = _user_add(
        username=username,
        password=password,
        role=invitation.role,
        display_name=display_name or invitation.display_name,
        by=invitation.created_by,
    )
    invitation.accepted_at, invitation.accepted_by = at, user
    invitation.save(update_fields=["accepted_at", "accepted_by"])
    return user


@transaction.atomic
def user_set_role(user: User, *, role: str, by: User) -> User:
    """Give a person another role; it counts from the next request on.

    Raises:
        PermissionDeniedError, UserInvalidError, LastAdminError.
    """
    require(by, Permission.USERS_MANAGE)
    _check_role(role)
    user, others = _locked_with_admins(user)
    if user.role == Role.ADMIN and user.is_active and role != Role.ADMIN and not others:
        raise LastAdminError(_(LAST_ADMIN))
    if user.role != role:
        user.role = role
        user.save(update_fields=["role"])
        _links_end(user)
        _tell(user)
    return user


@transaction.atomic
def user_deactivate(user: User, *, by: User) -> User:
    """Shut a person out: sessions end now, tokens they made stop, the past keeps their name.

    Raises:
        PermissionDeniedError, LastAdminError.
    """
    require(by, Permission.USERS_MANAGE)
    user, others = _locked_with_admins(user)
    if user.role == Role.ADMIN and user.is_active and not others:
        raise LastAdminError(_(LAST_ADMIN))
    if user.is_active:
        user.is_active = False
        user.save(update_fields=["is_active"])
        sessions_end(user)
        _links_end(user)
        _tell(user)
    return user


@transaction.atomic
def user_activate(user: User, *, by: User) -> User:
    """Let a person in again.

    Raises:
        PermissionDeniedError.
    """
    require(by, Permission.USERS_MANAGE)
    user = _locked(user)
    if not user.is_active:
        user.is_active = True
        user.save(update_fields=["is_active"])
        _tell(user)
    return user


def _locked(user: User) -> User:
    return User.objects.select_for_update().get(pk=user.pk)


def _locked_with_admins(user: User) -> tuple[User, list[User]]:
    """Lock a person and all administrators in one order, so that two who demote each other wait, not both succeed.

    Returns:
        The person, and the administrators besides.
    """
    wanted = Q(pk=user.pk) | Q(role=Role.ADMIN, is_active=True)
    rows = list(User.objects.select_for_update().filter(wanted).order_by("pk"))
    return next(row for row in rows if row.pk == user.pk), [row for row in rows if row.pk != user.pk]


def _tell(user: User) -> None:
    announce("user.changed", id=user.pk)
    for token in ApiToken.objects.filter(created_by=user, revoked_at__isnull=True):
        announce("token.changed", id=token.pk, environment=token.environment)


@transaction.atomic
def password_change(user: User, *, password: str, keep_session: str | None) -> User:
    """Set a new password and end the person's other sessions.

    Args:
        keep_session: key of the session that changes it. The door also calls `update_session_auth_hash`.
    Raises:
        UserInvalidError: the password breaks a rule.
    """
    user = _locked(user)
    try:
        validate_password(password, user)
    except ValidationError as exc:
        details = [{"path": "password", "code": "invalid", "message": message} for message in exc.messages]
        raise UserInvalidError(_("the password cannot be used: see details"), details) from exc
    user.set_password(password)
    user.save(update_fields=["password"])
    sessions_end(user, keep=keep_session)
    PasswordReset.objects.filter(user=user, used_at=None, revoked_at=None).update(revoked_at=Now())
    return user


@transaction.atomic
def password_reset_link(user: User, *, by: User | None, at: datetime | None = None) -> ResetLink:
    """Make a one-time link to a new password; it dies when used, at the next sign-in, or after a day.

    Args:
        by: who asks, with `users_manage`; None at the command line.
    Raises:
        PermissionDeniedError, LinkInvalidError: the person is deactivated.
    """
    if by is not None:
        require(by, Permission.USERS_MANAGE)
    user = _locked(user)
    if not user.is_active:
        raise LinkInvalidError(_("`%(name)s` is deactivated") % {"name": user.username})
    secret, made_at = make_secret(), at or timezone.now()
    made = PasswordReset.objects.create(
        user=user, secret_hash=hash_secret(secret), created_by=by, created_at=made_at, expires_at=made_at + RESET_LASTS
    )
    return ResetLink(made, secret)


@transaction.atomic
def password_reset_revoke(reset: PasswordReset, *, by: User | ApiToken | AnonymousUser, at: datetime) -> PasswordReset:
    """Withdraw a link; one that was used stays used, and withdrawing it again changes nothing.

    Raises:
        PermissionDeniedError.
    """
    require(by, Permission.USERS_MANAGE)
    reset = PasswordReset.objects.select_for_update(of=("self",)).select_related("user", "created_by").get(pk=reset.pk)
    if reset.used_at is None and reset.revoked_at is None:
        reset.revoked_at = at
        reset.save(update_fields=["revoked_at"])
    return reset


@transaction.atomic
def password_reset(user_id: uuid.UUID, *, secret: str, password: str, at: datetime | None = None) -> User:
    """Set a new password by a one-time link; every session of the person ends, and so does every other link.

    Raises:
        LinkInvalidError: unknown, used, withdrawn or too old; or whoever made it may no longer do so.
        UserInvalidError: the password breaks a rule; the link stays good.
    """
    user = User.objects.select_for_update().filter(pk=user_id).first()
    used_at = at or timezone.now()
    reset = None if user is None else password_reset_find(user.pk, secret, used_at)
    if user is None or reset is None:
        raise LinkInvalidError(_(LINK_DEAD))
    changed = password_change(user, password=password, keep_session=None)
    PasswordReset.objects.filter(pk=reset.pk).update(used_at=used_at, revoked_at=None)
    return changed


def _links_end(user: User) -> None:
    """End every open link of a person, and every one that they made for others."""
    open_links = PasswordReset.objects.filter(used_at=None, revoked_at=None)
    open_links.filter(Q(user=user) | Q(created_by=user)).update(revoked_at=Now())


@transaction.atomic
def preferences_save(user: User, *, display_name: str, language: str, theme: str, single_keys: bool = True) -> User:
    """Save what a person chose about the console.

    Args:
        single_keys: whether single letters answer requests on the approvals page.

    Raises:
        UserInvalidError: no such theme.
    """
    if theme not in Theme.values:
        raise UserInvalidError(
            _("there is no theme `%(theme)s`") % {"theme": theme},
            [{"path": "theme", "code": "invalid", "message": _("there is no such theme")}],
        )
    user = _locked(user)
    user.display_name, user.language, user.theme = display_name.strip()[:100], language, theme
    user.single_keys = single_keys
    user.save(update_fields=["display_name", "language", "theme", "single_keys"])
    return user
