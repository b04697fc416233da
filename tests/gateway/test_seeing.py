"""Which requests a token sees: its grant in memory says what a query of the access functions says."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from apps.accounts.access import permissions_of
from apps.accounts.models import ApiToken
from apps.approvals.access import approval_access, approval_seen
from apps.approvals.errors import ApprovalNotFoundError
from apps.approvals.models import Approval
from apps.approvals.services import approval_request
from apps.firewall.identifiers import new_id
from apps.gateway.seeing import may_read, may_see
from apps.gateway.tokens import TokenGrant, Tokens
from tests.approvals.conftest import NOON, draft_for

__all__ = ["draft_for"]
pytestmark = pytest.mark.django_db

ENVIRONMENTS = ("", "production", "staging")
AGENTS: tuple[list[str], ...] = ([], ["ops-runner"], ["other"], ["other", "ops-runner"])
SCOPES: tuple[list[str], ...] = (
    [],
    ["calls_make"],
    ["approvals_read"],
    ["calls_make", "approvals_read"],
    ["audit_read"],
)


@pytest.fixture
def tokens(operator: Any, viewer: Any) -> list[ApiToken]:
    """Every kind of token: bound or not, of each scope, of somebody who may, who may little, and of nobody."""
    people = (operator, viewer, None)
    made = [
        ApiToken(id=new_id(), name="t", environment=environment, agents=agents, scopes=scopes, created_by=person)
        for environment, agents, scopes, person in product(ENVIRONMENTS, AGENTS, SCOPES, people)
    ]
    for each in made:
        each.secret_hash = str(each.pk)
    return ApiToken.objects.bulk_create(made)


@pytest.fixture
def requests(draft_for: Callable[..., Any], tokens: list[ApiToken], operator: Any, environment: Any) -> list[Approval]:
    """What each of them might have asked: itself, for its person, or somebody else."""
    some = (tokens[0], tokens[len(tokens) // 2], next(each for each in tokens if each.created_by is None))
    askers = [("", "token:tok_stranger"), ("", operator.actor), ("person:gone", operator.actor)]
    askers += [(each.actor, "" if each.created_by is None else each.created_by.actor) for each in some]
    return [
        approval_request(draft_for(actor=actor, requester=requester), at=NOON, timeout_s=120)
        for actor, requester in askers
    ]


def _grant(token: ApiToken) -> TokenGrant:
    return Tokens()._grant(token, permissions_of(token), 0.0)


def _is_given(find: Callable[[ApiToken, Any], Approval], token: ApiToken, approval: Approval) -> bool:
    try:
        return find(token, approval.pk) == approval
    except ApprovalNotFoundError:
        return False


@pytest.mark.slow
def test_a_grant_sees_what_its_token_is_given(tokens: list[ApiToken], requests: list[Approval]) -> None:
    seen = {True: 0, False: 0}
    for token, approval in product(tokens, requests):
        grant = _grant(token)
        is_seen = may_see(grant, approval)
        assert is_seen == _is_given(approval_seen, token, approval), (token.__dict__, approval.actor)
        assert may_read(grant, approval) == _is_given(approval_access, token, approval)
        seen[is_seen] += 1
    assert min(seen.values()) > len(tokens)
