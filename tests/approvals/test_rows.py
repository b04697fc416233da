"""Rows by the value of a column: the same as Django reads, whichever thread asks, and locked where it locks."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction
from django.db.models import Model
from django.db.transaction import TransactionManagementError
from django.db.utils import OperationalError

from apps.accounts.models import ApiToken, User
from apps.accounts.services.tokens import token_create
from apps.approvals.models import Approval
from apps.firewall.identifiers import new_id
from apps.registry.models import Environment
from apps.rows import RowsBy

ENVIRONMENTS: RowsBy[Environment] = RowsBy(lambda: Environment.objects.select_related("answer_policy"), "slug")
TOKENS: RowsBy[ApiToken] = RowsBy(lambda: ApiToken.objects.select_related("created_by"))
TOKENS_OF: RowsBy[ApiToken] = RowsBy(lambda: ApiToken.objects.order_by("-name"), "created_by")
LOCKED: RowsBy[Environment] = RowsBy(lambda: Environment.objects.select_for_update(nowait=True), "slug")


def values(row: Model | None) -> dict[str, Any]:
    assert row is not None
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.mark.django_db
def test_a_row_is_what_django_reads_and_can_be_saved(ask: Callable[..., Approval]) -> None:
    asked, other = ask(), ask(agent="other")
    rows = RowsBy(lambda: Approval.objects.select_related("environment"))
    for each in (asked, other, asked):
        found = rows.one(each.pk)
        assert values(found) == values(Approval.objects.get(pk=each.pk))
    assert found is not None
    found.agent = "moved"
    found.save(update_fields=["agent"])
    assert Approval.objects.get(pk=asked.pk).agent == "moved"
    assert rows.one(new_id()) is None


@pytest.mark.django_db
def test_what_is_read_beside_a_row_needs_no_further_question(
    admin: User, environment: Environment, django_assert_num_queries: Callable[[int], Any]
) -> None:
    made = token_create(name="a person's", scopes=["audit_read"], by=admin)[0]
    nobodys = token_create(name="nobody's", scopes=["audit_read"], by=None)[0]
    with django_assert_num_queries(2):
        assert [getattr(TOKENS.one(each.pk), "created_by", 0) for each in (made, nobodys)] == [admin, None]
    with django_assert_num_queries(1):
        found = ENVIRONMENTS.one(environment.slug)
        assert found == environment
        assert getattr(found, "answer_policy", None) is None


@pytest.mark.django_db
def test_several_rows_come_in_the_order_of_their_queryset(admin: User) -> None:
    for name in "bac":
        token_create(name=name, scopes=["audit_read"], by=admin)
    token_create(name="z", scopes=["audit_read"], by=None)
    assert [each.name for each in TOKENS_OF.all(admin.pk)] == ["c", "b", "a"]
    assert TOKENS_OF.all(new_id()) == []


@pytest.mark.django_db
def test_a_queryset_with_a_filter_of_its_own_is_refused(admin: User) -> None:
    with pytest.raises(ValueError, match="filter of its own"):
        RowsBy(lambda: User.objects.filter(role="admin")).one(admin.pk)


@pytest.mark.django_db(transaction=True)
def test_a_locked_row_stays_locked_until_its_transaction_ends_and_is_locked_in_none_only() -> None:
    Environment.objects.get_or_create(slug="locked", defaults={"name": "Locked"})
    with ThreadPoolExecutor(1) as other, transaction.atomic():
        assert LOCKED.one("locked") is not None
        with pytest.raises(OperationalError):
            other.submit(_locked_elsewhere).result(60)
    with pytest.raises(TransactionManagementError):
        LOCKED.one("locked")
    with transaction.atomic():
        assert LOCKED.one("locked") is not None


def _locked_elsewhere() -> object:
    try:
        with transaction.atomic():
            return LOCKED.one("locked")
    finally:
        connections.close_all()
