"""One answer to many requests: looked at first, then each by itself."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.errors import PermissionDeniedError
from apps.approvals.answering import answer_rule_add
from apps.approvals.batch import MOST, SHOWN_CHARACTERS, batch_outlook, batch_resolve
from apps.approvals.errors import BatchInvalidError
from apps.approvals.freezing import approvals_freeze
from apps.approvals.models import Approval, Grant
from apps.approvals.services import approval_resolve
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from tests.approvals.conftest import NOON

SOON = NOON + timedelta(seconds=5)
Ask = Callable[..., Approval]


def codes(items: Any) -> list[str]:
    return [item.code for item in items]


def look(ids: Any, decision: str, by: Any, at: Any = SOON) -> list[str]:
    return codes(batch_outlook(ids, decision=decision, by=by, at=at))


def answer(ids: Any, decision: str, by: Any, at: Any = SOON) -> list[str]:
    return codes(batch_resolve(ids, decision=decision, by=by, at=at, reason="storm")[1])


@pytest.mark.parametrize(("decision", "state"), [("allow-once", "allowed_once"), ("deny", "denied")])
def test_each_is_answered_by_itself_and_on_record_with_the_batch(
    ask: Ask, operator: Any, decision: str, state: str
) -> None:
    ids = [ask().pk for _ in range(3)]
    assert look(ids, decision, operator) == ["will_apply"] * 3
    batch_id, items = batch_resolve(ids, decision=decision, by=operator, at=SOON)
    assert codes(items) == ["applied"] * 3
    assert set(Approval.objects.filter(batch_id=batch_id).values_list("state", flat=True)) == {state}
    told = Entry.objects.filter(kind="approval_answered", approval_id__in=ids)
    assert [(entry.changes or {})["batch"] for entry in told] == [str(batch_id)] * 3
    assert not Grant.objects.exists()


def test_a_look_ahead_changes_nothing_and_is_not_on_record(ask: Ask, operator: Any) -> None:
    request, before = ask(), Entry.objects.count()
    look([request.pk], "deny", operator)
    assert Approval.objects.get(pk=request.pk).is_pending
    assert Entry.objects.count() == before


def test_what_cannot_be_answered_is_named_and_keeps_nobody_else(
    ask: Ask, operator: Any, colleague: Any, environment: Any
) -> None:
    plain, own, decided, frozen = ask(), ask(requester=operator.actor), ask(), ask(agent="frozen")
    long = ask(command="echo " + "x" * SHOWN_CHARACTERS)
    gone = new_id()
    approval_resolve(decided, decision="deny", by=colleague, at=SOON)
    from django.db.models import Q

    approvals_freeze(environment, Q(agent="frozen"), at=NOON)
    ids = [plain.pk, own.pk, decided.pk, frozen.pk, long.pk, gone]
    refused = [
        "own_request",
        "approval_already_decided",
        "approval_frozen",
        "too_long_to_review",
        "approval_not_found",
    ]
    assert look(ids, "allow-once", operator) == ["will_apply", *refused]
    assert answer(ids, "allow-once", operator) == ["applied", *refused]
    assert Approval.objects.filter(state="allowed_once").count() == 1


def test_a_no_is_possible_where_a_yes_is_not(ask: Ask, operator: Any) -> None:
    own, long = ask(requester=operator.actor), ask(command="echo " + "x" * SHOWN_CHARACTERS)
    assert look([own.pk, long.pk], "deny", operator) == ["will_apply"] * 2
    assert answer([own.pk, long.pk], "deny", operator) == ["applied"] * 2


def test_what_ran_out_of_time_is_refused(ask: Ask, operator: Any) -> None:
    ids, late = [ask().pk], NOON + timedelta(seconds=121)
    assert look(ids, "deny", operator, at=late) == answer(ids, "deny", operator, at=late) == ["approval_expired"]


def test_a_rule_leaves_answers_to_others(ask: Ask, operator: Any, environment: Any) -> None:
    answer_rule_add(environment, name="admins", agents=["guarded"], roles=["admin"])
    ids = [ask(agent="guarded").pk, ask().pk]
    assert look(ids, "allow-once", operator) == ["not_an_approver", "will_apply"]
    assert answer(ids, "allow-once", operator) == ["not_an_approver", "applied"]


def test_a_yes_of_several_waits_for_the_others_and_counts_once(
    ask: Ask, operator: Any, colleague: Any, environment: Any
) -> None:
    answer_rule_add(environment, name="two", quorum=2)
    ids = [ask().pk]
    assert look(ids, "allow-once", operator) == ["waits_for_others"]
    assert answer(ids, "allow-once", operator) == ["waits_for_others"]
    assert answer(ids, "allow-once", operator) == ["waits_for_others"]
    assert look(ids, "allow-once", operator) == ["waits_for_others"]
    assert look(ids, "allow-once", colleague) == ["will_apply"]
    assert answer(ids, "allow-once", colleague) == ["applied"]


def test_the_same_again_stands_already_and_tells_nothing_new(ask: Ask, operator: Any) -> None:
    ids = [ask().pk, ask().pk]
    answer(ids, "deny", operator)
    told = Entry.objects.count()
    later = SOON + timedelta(seconds=1)
    assert look(ids, "deny", operator, at=later) == ["stands_already"] * 2
    assert answer(ids, "deny", operator, at=later) == ["stands_already"] * 2
    assert Entry.objects.count() == told


def test_one_request_named_twice_counts_once(ask: Ask, operator: Any) -> None:
    pk = ask().pk
    assert answer([pk, pk], "deny", operator) == ["applied"]


@pytest.mark.parametrize("decision", ["allow-always", "maybe"])
def test_it_never_makes_a_grant(ask: Ask, operator: Any, decision: str) -> None:
    with pytest.raises(BatchInvalidError):
        answer([ask().pk], decision, operator)


def test_its_size_is_bounded(operator: Any) -> None:
    for ids in ([], [new_id() for _ in range(MOST + 1)]):
        with pytest.raises(BatchInvalidError):
            look(ids, "deny", operator)


def test_who_may_not_answer_is_refused_and_a_stranger_finds_none(
    ask: Ask, viewer: Any, token: Callable[..., Any]
) -> None:
    pk = ask().pk
    with pytest.raises(PermissionDeniedError):
        answer([pk], "deny", viewer)
    stranger, _secret = token("approvals_read", "approvals_resolve", agents=["another"])
    assert answer([pk], "deny", stranger) == ["approval_not_found"]


def test_a_look_at_many_asks_the_database_no_more_than_at_one(
    ask: Ask, operator: Any, environment: Any, django_assert_max_num_queries: Any
) -> None:
    answer_rule_add(environment, name="admins", agents=["guarded"], roles=["admin"])
    ids = [ask(agent=agent).pk for agent in ("guarded", "guarded", "a", "b", "c", "d")]
    with django_assert_max_num_queries(6):
        assert look(ids, "allow-once", operator) == ["not_an_approver"] * 2 + ["will_apply"] * 4
