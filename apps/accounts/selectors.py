"""Reading people, sessions, tokens and invitations."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import Q, QuerySet

from apps.accounts.access import Permission, bound_of, may, permissions_of
from apps.accounts.models import ApiToken, Invitation, PasswordReset, Session, User
from apps.accounts.secret_links import hash_secret
from apps.firewall.identifiers import read_id
from apps.rows import named

MAKES_CALLS: Final = frozenset({Permission.CALLS_MAKE, Permission.GATEWAY_CALLS})


@dataclass(frozen=True, slots=True)
class TokenGrant:
    """What a token grants, as the gateway keeps it in memory until `token.changed` or `user.changed` is heard."""

    id: uuid.UUID
    scopes: frozenset[Permission]
    environment: str
    agents: frozenset[str]
    expires_at: datetime | None
    rate_per_minute: int
    actor: str
    created_by_id: uuid.UUID | None

    def is_usable(self, at: datetime) -> bool:
        """Say whether the grant has not expired; revocation arrives as a notice."""
        return self.expires_at is None or self.expires_at > at

    def speaks_for(self, agent_id: str) -> bool:
        """Say whether the token may act for an agent."""
        return not self.agents or agent_id in self.agents


def token_lookup(secret_hash: str) -> TokenGrant | None:
    """Find what the token with this hash grants (see `secret_links.hash_secret`); None when revoked or unknown.

    Expiry is left to the caller, who knows the time: `grant.is_usable(at)`.
    """
    token = (
        ApiToken.objects.select_related("created_by").filter(secret_hash=secret_hash, revoked_at__isnull=True).first()
    )
    if token is None or (token.created_by is not None and not token.created_by.is_active):
        return None
    return TokenGrant(
        id=token.pk,
        scopes=permissions_of(token),
        environment=token.environment,
        agents=bound_of(token),
        expires_at=token.expires_at,
        rate_per_minute=token.rate_per_minute,
        actor=token.actor,
        created_by_id=token.created_by_id,
    )


def caller_ended(actor: str, *, environment: str, agent: str, at: datetime) -> str:
    """Say why somebody may no longer make calls that they made; empty when they still may.

    Args:
        actor: of the call, as audit names it; whoever is no person and no token on record is not judged here.
        environment, agent: of the call.
    """
    kind, _, name = actor.partition(":")
    if kind == "user":
        person = user_find(name)
        if person is None:
            return ""
        if not person.is_active:
            return "the account of the person who made the call was deactivated"
        return "" if may(person, Permission.CALLS_MAKE) else "the person who made the call may not make calls any more"
    if kind != "token":
        return ""
    try:
        token_id = read_id("tok", name)
    except ValueError:
        return ""
    token = ApiToken.objects.select_related("created_by").filter(pk=token_id).first()
    if token is None:
        return ""
    if token.revoked_at is not None:
        return "the token that made the call was revoked"
    if token.created_by is not None and not token.created_by.is_active:
        return "the account of the person who created the token of the call was deactivated"
    if not token.is_usable(at):
        return "the token that made the call has expired"
    if permissions_of(token).isdisjoint(MAKES_CALLS):
        return "the token that made the call may not make calls any more"
    if token.environment not in {"", environment} or (token.agents and agent and agent not in token.agents):
        return "the token that made the call may not speak for its agent any more"
    return ""


def users() -> QuerySet[User]:
    """Everybody, active ones first."""
    return User.objects.order_by("-is_active", "username")


def user_find(username: str) -> User | None:
    """Find a person by user name, in any case."""
    return User.objects.filter(username__iexact=username).first()


def user_get(user_id: uuid.UUID) -> User | None:
    """Find a person by id."""
    return User.objects.filter(pk=user_id).first()


def has_users() -> bool:
    """Say whether anybody can sign in here yet."""
    return User.objects.exists()


def tokens() -> QuerySet[ApiToken]:
    """Every token, newest first, with its maker."""
    return ApiToken.objects.select_related("created_by").order_by("-created_at")


def token_get(token_id: uuid.UUID) -> ApiToken | None:
    """Find a token by id, with its maker."""
    return ApiToken.objects.select_related("created_by").filter(pk=token_id).first()


def invitations_open(at: datetime) -> QuerySet[Invitation]:
    """Links that may still be used, newest first."""
    return (
        Invitation.objects.select_related("created_by")
        .filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=at)
        .order_by("-created_at")
    )


def invitation_get(invitation_id: uuid.UUID) -> Invitation | None:
    """Find an invitation by id."""
    return Invitation.objects.select_related("created_by").filter(pk=invitation_id).first()


def invitation_find(secret: str, at: datetime) -> Invitation | None:
    """Find a usable invitation by the secret of its link; it dies with its maker's right to invite."""
    found = invitations_open(at).filter(secret_hash=hash_secret(secret)).first()
    if found is not None and found.created_by is not None and not may(found.created_by, Permission.USERS_MANAGE):
        return None
    return found


def sessions_of(user: User, at: datetime) -> QuerySet[Session]:
    """A person's sessions that have not expired, last seen first."""
    return Session.objects.filter(user=user, expire_date__gt=at).order_by("-last_seen_at")


def password_resets_open(at: datetime, *, user: User | None = None) -> list[PasswordReset]:
    """List the links to a new password that may still be used, of one person or of all, newest first."""
    rows = PasswordReset.objects.select_related("user", "created_by").filter(
        used_at=None, revoked_at=None, expires_at__gt=at
    )
    if user is not None:
        rows = rows.filter(user=user)
    return [reset for reset in rows if _is_good(reset, at)]


def password_reset_get(reset_id: uuid.UUID) -> PasswordReset | None:
    """Find a link to a new password by id."""
    return PasswordReset.objects.select_related("user", "created_by").filter(pk=reset_id).first()


def password_reset_find(user_id: uuid.UUID, secret: str, at: datetime) -> PasswordReset | None:
    """Find a usable link to a person's new password by its secret; it dies with its maker's right to make it."""
    rows = PasswordReset.objects.select_related("user", "created_by")
    found = rows.filter(user=user_id, secret_hash=hash_secret(secret)).first()
    return found if found is not None and _is_good(found, at) else None


def _is_good(reset: PasswordReset, at: datetime) -> bool:
    is_allowed = reset.created_by is None or may(reset.created_by, Permission.USERS_MANAGE)
    return is_allowed and reset.is_usable(at)


def users_named(text: str, *, limit: int) -> QuerySet[User]:
    """Find people by a part of their user name or their name; `rank` says where it stands."""
    return named(User.objects.all(), ("username", "display_name"), text).order_by("rank", "username")[:limit]


def actors_named(name: str) -> tuple[str, ...]:
    """Say how audit names whoever goes by a name: people, tokens and agents, those of the past too.

    Args:
        name: as people see it, or as audit has it (`token:tok_…`, `user:ann`), which means itself.
    """
    kind, sign, rest = name.partition(":")
    if sign and (kind != "token" or rest.startswith("tok_")):
        return (name,)
    wanted = rest if sign else name
    tokens = [each.actor for each in ApiToken.objects.filter(name=wanted).order_by("created_at")]
    if sign:
        return tuple(tokens) or (name,)
    people = User.objects.filter(Q(username=name) | Q(display_name=name)).order_by("created_at")
    return (*(each.actor for each in people), *tokens, f"user:{name}", f"agent:{name}", name)
