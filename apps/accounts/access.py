"""Who may do what: one table from roles to permissions, and the questions asked of it.

A token that is bound to agents sees and changes only what is theirs: `bound_of` says which they are, `may_agent` and
`require_agents` hold one object to them, and what concerns the whole installation is not among its permissions.
"""

from collections.abc import Iterable
from enum import StrEnum

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import gettext as _

from apps.accounts.errors import PermissionDeniedError
from apps.accounts.models import ApiToken, Role, User
from apps.firewall.engine.session_key import slug_id


class Permission(StrEnum):
    """One thing that a role or a token's scope allows."""

    POLICY_READ = "policy_read"
    POLICY_WRITE = "policy_write"
    PUBLISH = "publish"
    APPROVALS_READ = "approvals_read"
    APPROVALS_RESOLVE = "approvals_resolve"
    AUDIT_READ = "audit_read"
    AUDIT_EXPORT = "audit_export"
    AUDIT_MANAGE = "audit_manage"
    METRICS_READ = "metrics_read"
    SESSIONS_MANAGE = "sessions_manage"
    USERS_MANAGE = "users_manage"
    TOKENS_MANAGE = "tokens_manage"
    EXPLAIN = "explain"
    CALLS_MAKE = "calls_make"
    DECISIONS_ASK = "decisions_ask"
    CALLS_STOP = "calls_stop"
    GATEWAYS_MANAGE = "gateways_manage"
    GATEWAY_CALLS = "gateway_calls"


Principal = User | ApiToken | AnonymousUser

ALL = frozenset(Permission)
NOBODY = "-"
"""An id that no agent has."""
NONE: frozenset[Permission] = frozenset()
OF_AGENTS = frozenset(
    {
        Permission.POLICY_READ,
        Permission.APPROVALS_READ,
        Permission.APPROVALS_RESOLVE,
        Permission.AUDIT_READ,
        Permission.AUDIT_EXPORT,
        Permission.SESSIONS_MANAGE,
        Permission.EXPLAIN,
        Permission.CALLS_MAKE,
        Permission.DECISIONS_ASK,
        Permission.CALLS_STOP,
        Permission.GATEWAY_CALLS,
    }
)
"""What a token that is bound to agents can have; the rest concerns every agent."""
_VIEWER = frozenset({Permission.POLICY_READ, Permission.EXPLAIN, Permission.APPROVALS_READ})

PERMISSIONS: dict[str, frozenset[Permission]] = {
    Role.ADMIN: ALL,
    Role.OPERATOR: _VIEWER
    | {
        Permission.APPROVALS_RESOLVE,
        Permission.AUDIT_READ,
        Permission.SESSIONS_MANAGE,
        Permission.CALLS_MAKE,
        Permission.DECISIONS_ASK,
        Permission.CALLS_STOP,
    },
    Role.AUDITOR: _VIEWER | {Permission.AUDIT_READ, Permission.AUDIT_EXPORT},
    Role.VIEWER: _VIEWER,
}


def permissions_of(principal: Principal) -> frozenset[Permission]:
    """Say everything a person or a token may do.

    A token can never do more than the person who made it can now; one made at the command line has its scopes. One
    that is bound to agents has nothing that concerns every agent, whatever its scopes say.
    Whether a token is revoked or expired is the question of `token_authenticate`, not of this table.
    """
    if isinstance(principal, ApiToken):
        scopes = frozenset(scope for scope in ALL if scope in principal.scopes)
        if principal.agents:
            scopes &= OF_AGENTS
        return scopes if principal.created_by is None else scopes & permissions_of(principal.created_by)
    if not isinstance(principal, User) or not principal.is_active:
        return NONE
    return PERMISSIONS.get(principal.role, NONE)


def may(principal: Principal, permission: Permission) -> bool:
    """Say whether a person or token has a permission."""
    return permission in permissions_of(principal)


def require(principal: Principal, permission: Permission) -> None:
    """Let through who has the permission.

    Raises:
        PermissionDeniedError: the principal lacks it.
    """
    if not may(principal, permission):
        raise PermissionDeniedError(_("this needs the permission `%(name)s`") % {"name": permission})


def may_environment(principal: Principal, slug: str) -> bool:
    """Say whether a principal may see an environment: people see all, a token its own or, unbound, all."""
    return not isinstance(principal, ApiToken) or principal.environment in {"", slug}


def bound_of(principal: Principal | None) -> frozenset[str]:
    """Name the only agents whose things a principal may see and change, as calls carry them; empty for all.

    A name that no agent can have stays, as one that nobody has: the token is bound all the same, to nothing.
    """
    if not isinstance(principal, ApiToken):
        return frozenset()
    return agents_folded(principal.agents)


def agents_folded(names: Iterable[str]) -> frozenset[str]:
    """Bring the agents of a token into the form in which calls carry them."""
    return frozenset(slug_id(name) or NOBODY for name in names)


def may_agent(principal: Principal | None, agent: str) -> bool:
    """Say whether a principal may see what is one agent's; who is bound to some does not see what is no agent's."""
    bound = bound_of(principal)
    return not bound or (bool(agent) and slug_id(agent) in bound)


def require_agents(principal: Principal | None, agents: Iterable[str]) -> None:
    """Let through who may change what is these agents'; what is nobody's or everybody's names no agent.

    Raises:
        PermissionDeniedError: the principal is a token that is bound to other agents.
    """
    if not bound_of(principal):
        return
    names = list(agents)
    if not names or not all(may_agent(principal, name) for name in names):
        raise PermissionDeniedError(_("this token is bound to agents: it sees and changes only what is theirs"))


def actor_of(by: Principal | None) -> str:
    """Name a principal as the ledger and the change log do; None is the system itself."""
    return "system" if by is None or isinstance(by, AnonymousUser) else by.actor
