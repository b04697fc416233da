"""Reading people, sessions, tokens and invitations."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from apps.accounts.access import Permission, may, permissions_of
from apps.accounts.models import ApiToken, Invitation, Session, User
from apps.accounts.secret_links import hash_secret
from apps.rows import named


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
        agents=frozenset(token.agents),
        expires_at=token.expires_at,
        rate_per_minute=token.rate_per_minute,
        actor=token.actor,
        created_by_id=token.created_by_id,
    )


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


def users_named(text: str, *, limit: int) -> QuerySet[User]:
    """Find people by a part of their user name or their name; `rank` says where it stands."""
    return named(User.objects.all(), ("username", "display_name"), text).order_by("rank", "username")[:limit]
