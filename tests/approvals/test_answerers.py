"""Who may answer: by rule, in somebody's place, and several together."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.accounts.models import ApiToken
from apps.approvals.answering import answer_rule_add, answer_rule_remove, deputies, deputy_end, deputy_name
from apps.approvals.errors import AnswerInvalidError, NotAnApproverError, OwnRequestError
from apps.approvals.models import Approval, Voice
from apps.approvals.services import approval_resolve
from apps.approvals.states import State
from apps.audit.models import Entry
from tests.approvals.conftest import NOON

pytestmark = pytest.mark.django_db
SOON = NOON + timedelta(seconds=9)
Ask = Callable[..., Approval]


def allow(approval: Approval, by: Any, decision: str = "allow-once") -> Approval:
    return approval_resolve(approval, decision=decision, by=by, at=SOON)


def test_without_a_rule_whoever_may_answer_does(ask: Ask, operator: Any) -> None:
    assert allow(ask(), operator).is_allowed


@pytest.mark.parametrize(
    ("about", "is_met"),
    [
        ({}, True),
        ({"agents": ["ops-runner"]}, True),
        ({"agents": ["other"]}, False),
        ({"channels": ["telegram"]}, True),
        ({"tools": ["read"]}, False),
        ({"groups": ["-100"]}, True),
        ({"groups": ["-200"]}, False),
        ({"agents": ["ops-runner"], "tools": ["read"]}, False),
    ],
)
def test_a_rule_holds_for_the_requests_that_it_names(
    ask: Ask, environment: Any, operator: Any, admin: Any, about: dict[str, list[str]], is_met: bool
) -> None:
    fields: dict[str, Any] = {"name": "admins", "roles": ["admin"], **about}
    answer_rule_add(environment, **fields)
    approval = ask(session_key="agent:ops-runner:telegram:group:-100")
    if is_met:
        with pytest.raises(NotAnApproverError):
            allow(approval, operator)
        assert Entry.objects.get(approval_id=approval.pk, kind="approval_refused").status == "not_an_approver"
        assert allow(approval, admin).is_allowed
    else:
        assert allow(approval, operator).is_allowed


def test_a_rule_names_people_and_their_tokens_count_as_them(
    ask: Ask, environment: Any, operator: Any, colleague: Any
) -> None:
    answer_rule_add(environment, name="tomas", people=["tomas"])
    token = ApiToken.objects.create(name="t", secret_hash="h", created_by=colleague)
    nobodys = ApiToken.objects.create(name="n", secret_hash="i")
    for by in (operator, nobodys):
        with pytest.raises(NotAnApproverError):
            allow(ask(), by, "deny")
    assert allow(ask(), token).is_allowed


def test_the_first_rule_that_matches_counts(ask: Ask, environment: Any, operator: Any) -> None:
    first = answer_rule_add(environment, name="operators", agents=["ops-runner"], roles=["operator"])
    answer_rule_add(environment, name="admins", roles=["admin"])
    assert allow(ask(), operator).is_allowed
    answer_rule_remove(first)
    with pytest.raises(NotAnApproverError):
        allow(ask(), operator)


def test_two_distinct_people_are_needed_and_each_is_on_record(
    ask: Ask, environment: Any, operator: Any, colleague: Any
) -> None:
    answer_rule_add(environment, name="two", quorum=2)
    approval = ask()
    token = ApiToken.objects.create(name="t", secret_hash="h", created_by=operator)
    for by in (operator, operator, token):
        assert allow(approval, by).is_pending
    assert Voice.objects.filter(approval=approval).count() == 1
    assert allow(approval, colleague).state == State.ALLOWED_ONCE
    told = Entry.objects.filter(approval_id=approval.pk, kind="approval_voice").order_by("at", "seq")
    assert [entry.actor for entry in told] == ["user:operator", "user:operator", token.actor]
    assert told[0].changes == {"decision": "allow-once", "have": 1, "need": 2}
    labels = [voice.label for voice in Voice.objects.filter(approval=approval)]
    assert len(labels) == 2 and labels[-1] == str(colleague)


def test_one_no_ends_it(ask: Ask, environment: Any, operator: Any, colleague: Any) -> None:
    answer_rule_add(environment, name="two", quorum=2)
    approval = ask()
    allow(approval, operator)
    assert allow(approval, colleague, "deny").state == State.DENIED


def test_together_they_allow_what_the_most_careful_did(
    ask: Ask, environment: Any, operator: Any, colleague: Any
) -> None:
    answer_rule_add(environment, name="two", quorum=2)
    careful, bold = ask(), ask()
    allow(careful, operator)
    assert allow(careful, colleague, "allow-always").state == State.ALLOWED_ONCE
    assert not careful.grants.exists()
    allow(bold, operator, "allow-always")
    assert allow(bold, colleague, "allow-always").state == State.ALLOWED_ALWAYS
    assert bold.grants.count() == 1


def test_whoever_asked_is_no_voice(ask: Ask, environment: Any, operator: Any) -> None:
    answer_rule_add(environment, name="two", quorum=2)
    approval = ask(requester=operator.actor)
    with pytest.raises(OwnRequestError):
        allow(approval, operator)
    assert not Voice.objects.exists()


def test_a_deputy_answers_until_the_moment_and_both_names_are_on_record(
    ask: Ask, environment: Any, operator: Any, colleague: Any
) -> None:
    answer_rule_add(environment, name="operator", people=["operator"])
    deputy_name(operator, deputy="tomas", until=NOON + timedelta(seconds=10), at=NOON)
    answered = allow(ask(), colleague)
    assert answered.decided_by == colleague and answered.decided_by_label == "Tomas (for Operator)"
    late = ask()
    with pytest.raises(NotAnApproverError):
        approval_resolve(late, decision="allow-once", by=colleague, at=NOON + timedelta(seconds=10))
    assert [str(each) for each in deputies(NOON)] == ["Tomas for Operator"] and not deputies(late.expires_at).exists()


def test_a_deputy_is_named_by_oneself_for_a_while_and_ended(operator: Any, colleague: Any, viewer: Any) -> None:
    for name, days in (("operator", 1), ("viewer", 1), ("nobody", 1), ("tomas", 0), ("tomas", 91)):
        with pytest.raises(AnswerInvalidError):
            deputy_name(operator, deputy=name, until=NOON + timedelta(days=days), at=NOON)
    row = deputy_name(operator, deputy="TOMAS", until=NOON + timedelta(days=1), at=NOON)
    deputy_end(row, by=operator)
    assert not deputies(NOON).exists()


@pytest.mark.parametrize(
    "fields",
    [{"roles": ["king"]}, {"people": ["nobody"]}, {"quorum": 0}, {"quorum": 10}, {"name": ""}, {"colour": "red"}],
)
def test_a_rule_that_nobody_could_meet_is_not_kept(environment: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(AnswerInvalidError):
        answer_rule_add(environment, **({"name": "r"} | fields))
