"""API tokens: make, authenticate, revoke."""

import hmac
from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts.access import OF_AGENTS, Permission, agents_folded, permissions_of, require
from apps.accounts.errors import AgentNameError, ScopeError, TokenInvalidError
from apps.accounts.models import ApiToken, User
from apps.accounts.secret_links import hash_secret, make_secret
from apps.accounts.telling import Told, tell, token_told
from apps.events.notices import announce
from apps.firewall.engine.dialect import DIALECTS
from apps.firewall.identifiers import new_id
from apps.rows import RowsBy
from apps.subjects import UNKNOWN, subjects_misspelt

LAST_USED_EVERY = timedelta(minutes=1)
REFUSED_EVERY = timedelta(minutes=1)
REFUSED_KEPT = 4096
_refused: dict[UUID, datetime] = {}
DEFAULT_RATE_PER_MINUTE = 6000
_by_hash = RowsBy(lambda: ApiToken.objects.select_related("created_by"), "secret_hash")


@transaction.atomic
def token_create(
    *,
    name: str,
    scopes: Collection[str],
    by: User | None,
    environment: str = "",
    agents: Collection[str] = (),
    expires_at: datetime | None = None,
    rate_per_minute: int = DEFAULT_RATE_PER_MINUTE,
) -> tuple[ApiToken, str]:
    """Make a token; its secret is in the answer and nowhere else.

    Args:
        scopes: names of permissions, each one that the maker has.
        by: the maker, who needs `tokens_manage`; None at the command line.
        environment: slug; empty for all.
        agents: ids of the only agents whose things it may see and change; empty for all.
    Returns:
        The token, and the secret `oca_<id>_<64 letters of hex>`.
    Raises:
        PermissionDeniedError.
        ScopeError: also one that concerns every agent, for a token that is bound to some.
        AgentNameError: an agent's name that is misspelt, or that no agent can have.
    """
    if by is not None:
        require(by, Permission.TOKENS_MANAGE)
    _check_scopes(scopes, by)
    bound = agents_checked(agents, scopes, environment=environment)
    token = ApiToken(
        id=new_id(),
        name=name.strip()[:100],
        scopes=sorted({str(scope) for scope in scopes}),
        environment=environment,
        agents=bound,
        expires_at=expires_at,
        rate_per_minute=rate_per_minute,
        created_by=by,
    )
    secret = f"{token.prefix}_{make_secret()}"
    token.secret_hash = hash_secret(secret)
    token.save(force_insert=True)
    announce("token.changed", id=token.pk, environment=environment)
    return token, secret


def _check_scopes(scopes: Collection[str], by: User | None) -> None:
    known = frozenset(Permission)
    grantable = known if by is None else permissions_of(by)
    wrong = [scope for scope in scopes if scope not in grantable]
    if not scopes:
        raise ScopeError(
            _("a token needs at least one scope"),
            [{"path": "scopes", "code": "required", "message": _("choose at least one")}],
        )
    if wrong:
        raise ScopeError(
            _("these scopes cannot be given: %(names)s") % {"names": ", ".join(f"`{scope}`" for scope in wrong)},
            [{"path": "scopes", "code": "scope_not_allowed", "message": f"`{scope}`"} for scope in wrong],
        )


def agents_checked(agents: Collection[str], scopes: Collection[str], *, environment: str) -> list[str]:
    """Bring the agents that a token is bound to into the form in which calls carry them.

    Raises:
        ScopeError, AgentNameError.
    """
    if not agents:
        return []
    dialect = next(iter(DIALECTS.values()))  # every release compares agents alike
    wrong = subjects_misspelt(dialect, "agent", sorted(set(agents)), environment, patterns=False)
    if wrong:
        raise AgentNameError(
            _("these agents cannot be meant: see details"),
            [{"path": "agents", "code": UNKNOWN, "message": each.message} for each in wrong],
        )
    wide = sorted(set(map(str, scopes)) - OF_AGENTS)
    if wide:
        raise ScopeError(
            _("a token bound to agents cannot have: %(names)s") % {"names": ", ".join(f"`{scope}`" for scope in wide)},
            [{"path": "scopes", "code": "scope_of_every_agent", "message": f"`{scope}`"} for scope in wide],
        )
    return sorted(agents_folded(agents))


@transaction.atomic
def token_revoke(token: ApiToken, *, by: User, at: datetime) -> ApiToken:
    """End a token for good; revoking it again changes nothing.

    Raises:
        PermissionDeniedError: `by` may not manage tokens.
    """
    require(by, Permission.TOKENS_MANAGE)
    return token_end(token, at=at)


@transaction.atomic
def token_end(token: ApiToken, *, at: datetime) -> ApiToken:
    """End a token for good, for a service that asked whether that may be; ending it again changes nothing."""
    token = ApiToken.objects.select_for_update(of=("self",)).select_related("created_by").get(pk=token.pk)
    if token.revoked_at is None:
        token.revoked_at = at
        token.save(update_fields=["revoked_at"])
        announce("token.changed", id=token.pk, environment=token.environment)
    return token


def token_authenticate(secret_text: str, at: datetime) -> ApiToken:
    """Find the token of a secret and note its use, at most once a minute.

    Raises:
        TokenInvalidError: no such token, or revoked, expired, or its maker is deactivated.
    """
    wanted = hash_secret(secret_text)
    token = _by_hash.one(wanted)
    # Found by hash, so time tells nothing about the secret; the comparison makes it independent of the collation.
    if token is None or not hmac.compare_digest(token.secret_hash, wanted):
        raise TokenInvalidError(_("the token is unknown, revoked or expired"))
    if not token.is_usable(at):
        _tell_refused(token, at)
        raise TokenInvalidError(_("the token is unknown, revoked or expired"))
    token_seen(token, at=at)
    return token


def _tell_refused(token: ApiToken, at: datetime) -> None:
    """Tell that somebody came with a token that has ended: at most once a minute of each, in each process."""
    told_at = _refused.get(token.pk)
    if told_at is not None and told_at > at - REFUSED_EVERY:
        return
    if len(_refused) >= REFUSED_KEPT:
        _refused.clear()
    _refused[token.pk] = at
    is_expired = token.expires_at is not None and token.expires_at <= at
    reason = "revoked" if token.revoked_at is not None else "expired" if is_expired else "maker_deactivated"
    tell(
        Told(
            kind="token",
            status="refused",
            actor=token.actor,
            environment=token.environment,
            changes={"reason": reason, **token_told(token)},
        )
    )


def token_seen(token: ApiToken, *, at: datetime) -> None:
    """Note that a token was used; writes at most once a minute."""
    stale = Q(last_used_at__isnull=True) | Q(last_used_at__lte=at - LAST_USED_EVERY)
    if token.last_used_at is None or token.last_used_at <= at - LAST_USED_EVERY:
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=at)
        token.last_used_at = at
