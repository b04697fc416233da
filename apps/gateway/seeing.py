"""Which requests a token sees, said of its grant in memory: the answers of `apps.approvals.access`, without a query."""

from apps.accounts.access import Permission
from apps.approvals.models import Approval
from apps.gateway.tokens import TokenGrant
from apps.registry.probing import PROBES


def may_list(grant: TokenGrant, approval: Approval) -> bool:
    """Say whether a token is told of a request: what it may read, or at least what it asked itself."""
    return may_read(grant, approval) or (_is_within(grant, approval) and _asks(grant) and approval.actor == grant.actor)


def may_see(grant: TokenGrant, approval: Approval) -> bool:
    """Say of a token what `approvals.access.approval_seen` says: it may read, or it or its person's other one asked."""
    own = {approval.actor, approval.requester} & {grant.actor, grant.requester}
    return may_read(grant, approval) or (_is_within(grant, approval) and _asks(grant) and bool(own))


def may_read(grant: TokenGrant, approval: Approval) -> bool:
    """Say whether a token may read a request whoever asked."""
    return _is_within(grant, approval) and grant.may(Permission.APPROVALS_READ)


def _asks(grant: TokenGrant) -> bool:
    return grant.may(Permission.CALLS_MAKE)


def _is_within(grant: TokenGrant, approval: Approval) -> bool:
    slug = approval.environment.slug
    if grant.environment != slug and (grant.environment or slug == PROBES):  # what probes ask is nobody else's
        return False
    return not grant.agents or approval.agent in grant.agents
