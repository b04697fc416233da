"""Who calls: tokens in memory, so that a request asks no database, and how often each may come."""

import hashlib
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from uuid import UUID

from django.utils import timezone

from apps.accounts.access import Permission, bound_of, permissions_of
from apps.accounts.errors import TokenInvalidError
from apps.accounts.models import ApiToken
from apps.accounts.services import token_authenticate
from apps.gateway.database import in_database

TTL_S = 15.0
REFUSED_TTL_S = 2.0
KEPT = 4096
BURST_S = 5.0
BURST_MINIMUM = 10


@dataclass(slots=True)
class Bucket:
    """Tokens in a bucket: filled evenly, taken one a request."""

    per_second: float
    size: float
    level: float = field(default=0.0)
    filled_at: float = field(default=0.0)

    def take(self, now: float) -> float:
        """Take one.

        Returns:
            0 when there was one, else the seconds until there will be.
        """
        self.level = min(self.size, self.level + (now - self.filled_at) * self.per_second)
        self.filled_at = now
        if self.level >= 1.0:
            self.level -= 1.0
            return 0.0
        return (1.0 - self.level) / self.per_second


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGrant:
    """What a token may, as it was when it was last checked."""

    token_id: UUID
    actor: str
    requester: str
    environment: str
    agents: frozenset[str]
    permissions: frozenset[Permission]
    expires_at: float  # by the clock of the day
    fresh_until: float  # by the monotonic clock
    bucket: Bucket

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions


class Tokens:
    """All tokens this process has met lately, by the hash of their secret."""

    def __init__(self) -> None:
        self._grants: OrderedDict[bytes, TokenGrant | float] = OrderedDict()
        self._buckets: dict[UUID, Bucket] = {}
        self._forgotten = 0

    def forget(self) -> None:
        """Have every token checked again at its next request; what it may take is not refilled by that."""
        self._forgotten += 1
        self._grants.clear()

    async def find(self, secret: bytes) -> TokenGrant:
        """Give the grant of a secret.

        Raises:
            TokenInvalidError: unknown, revoked, expired; one answer for all.
        """
        key = hashlib.sha256(secret).digest()
        now, forgotten = time.monotonic(), self._forgotten
        known = self._grants.get(key)
        if isinstance(known, TokenGrant) and now < known.fresh_until and time.time() < known.expires_at:
            return known
        if isinstance(known, float) and now < known:
            raise TokenInvalidError("the token is unknown, revoked or expired")
        try:
            token, permissions = await in_database(self._read, secret)
        except TokenInvalidError:
            self._keep(key, now + REFUSED_TTL_S, forgotten)
            raise
        grant = self._grant(token, permissions, now)
        self._keep(key, grant, forgotten)
        return grant

    @staticmethod
    def _read(secret: bytes) -> tuple[ApiToken, frozenset[Permission]]:
        token = token_authenticate(secret.decode("ascii", "replace"), timezone.now())
        return token, permissions_of(token)

    def _keep(self, key: bytes, grant: TokenGrant | float, forgotten: int) -> None:
        """Keep what was read, unless a token may have changed since the reading began."""
        if forgotten != self._forgotten:
            return
        self._grants[key] = grant
        self._grants.move_to_end(key)
        while len(self._grants) > KEPT:
            self._grants.popitem(last=False)

    def _grant(self, token: ApiToken, permissions: frozenset[Permission], now: float) -> TokenGrant:
        per_second = max(token.rate_per_minute, 1) / 60
        size = max(BURST_MINIMUM, per_second * BURST_S)
        bucket = self._buckets.get(token.pk)
        if bucket is None or bucket.per_second != per_second:
            if len(self._buckets) > KEPT:
                self._buckets.clear()
            bucket = self._buckets[token.pk] = Bucket(per_second, size, size, time.monotonic())
        return TokenGrant(
            token_id=token.pk,
            actor=token.actor,
            requester=token.actor if token.created_by is None else token.created_by.actor,
            environment=token.environment,
            agents=bound_of(token),
            permissions=permissions,
            expires_at=float("inf") if token.expires_at is None else token.expires_at.timestamp(),
            fresh_until=now + TTL_S,
            bucket=bucket,
        )
