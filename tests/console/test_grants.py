"""The pages of standing approvals."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.drafts import GrantScope
from apps.approvals.models import Grant
from apps.approvals.services import approval_resolve

ClientOf = Callable[..., Client]


@pytest.fixture
def always(ask: Callable[..., Any], operator: Any) -> Callable[..., Grant]:
    def make(scope: GrantScope | None = None, **fields: Any) -> Grant:
        approval = approval_resolve(
            ask(**fields), decision="allow-always", by=operator, at=timezone.now(), scope=scope or GrantScope()
        )
        return Grant.objects.get(approval=approval)

    return make


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_sees_them_and_operators_may_end_them(
    name: str, client_of: ClientOf, always: Callable[..., Grant], request: pytest.FixtureRequest
) -> None:
    grant = always()
    text = client_of(request.getfixturevalue(name)).get("/grants/").content.decode()

    assert grant.shown in text
    assert (f"/grants/{grant.shown_id}/revoke/" in text) == (name in {"admin", "operator"})


def test_none_says_so(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    assert "No standing approvals" in client_of(viewer).get("/grants/").content.decode()


def test_revoking_moves_it_to_those_that_ended(
    client_of: ClientOf, always: Callable[..., Grant], operator: Any
) -> None:
    grant = always()
    page = client_of(operator).post(f"/grants/{grant.shown_id}/revoke/", follow=True)

    assert (page.context["rows"], page.context["ended"]) == ([], [grant])
    grant.refresh_from_db()
    assert grant.revoked_by_label == str(operator)


def test_an_answer_says_whose_and_how_long(client_of: ClientOf, ask: Callable[..., Any], operator: Any) -> None:
    def answered(**fields: str) -> Grant:
        approval = ask()
        client_of(operator).post(
            f"/approvals/{approval.shown_id}/resolve/",
            {"decision": "allow-always", "scope": "exact", "confirmed": "yes", **fields},
        )
        return Grant.objects.get(approval=approval)

    usual, shared = answered(), answered(agents="every", days="7")
    endless = answered(days="never")

    assert usual.agent != "" and usual.expires_at is not None
    assert timedelta(days=29) < usual.expires_at - timezone.now() <= timedelta(days=30)
    assert shared.agent == "" and shared.expires_at is not None
    assert shared.expires_at - timezone.now() <= timedelta(days=7)
    assert endless.expires_at is None
    text = client_of(operator).get(f"/grants/{endless.shown_id}/").content.decode()
    assert "without an end" in text


def test_what_nobody_uses_is_marked_and_can_be_listed(
    client_of: ClientOf, always: Callable[..., Grant], viewer: Any
) -> None:
    old, fresh = always(GrantScope(days=None)), always(agent="main")
    Grant.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=31))
    client = client_of(viewer)

    assert [row.is_unused for row in client.get("/grants/").context["rows"]] == [False, True]
    assert [row.grant for row in client.get("/grants/?unused=on").context["rows"]] == [old]
    assert [row.grant for row in client.get("/grants/?agent=main").context["rows"]] == [fresh]


def test_narrowing_answers_with_the_new_rule_or_with_why_not(
    client_of: ClientOf, always: Callable[..., Grant], operator: Any
) -> None:
    grant = always(GrantScope(arg_pattern="^.*$"))
    client = client_of(operator)

    refused = client.post(f"/grants/{grant.shown_id}/narrow/", {"arg_pattern": "a"}, follow=True)
    assert "anchor the pattern" in refused.content.decode()

    page = client.post(f"/grants/{grant.shown_id}/narrow/", {"arg_pattern": "^a$"}, follow=True)
    assert (page.context["grant"].arg_pattern, page.context["stands"]) == ("^a$", True)


def test_one_of_another_environment_is_none_here(
    client_of: ClientOf, always: Callable[..., Grant], operator: Any
) -> None:
    from apps.registry.models import Environment

    grant = always()
    Grant.objects.filter(pk=grant.pk).update(environment=Environment.objects.create(slug="staging", name="Staging").pk)
    assert client_of(operator).get(f"/grants/{grant.shown_id}/").status_code == 404


def test_the_list_asks_the_same_of_the_database_however_long_it_is(
    client_of: ClientOf, always: Callable[..., Grant], viewer: Any, django_assert_max_num_queries: Any
) -> None:
    for _ in range(12):
        always()
    client = client_of(viewer)
    client.get("/grants/")
    with django_assert_max_num_queries(20):
        assert len(client.get("/grants/").context["rows"]) == 12
