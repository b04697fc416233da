"""What is taken away ends: calls that wait for a person, when whoever made them may make none any more."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from apps.accounts.models import ApiToken
from apps.accounts.services import token_end, user_deactivate
from apps.approvals.errors import ApprovalCancelledError, CallerEndedError
from apps.approvals.models import Approval, Grant
from apps.audit.models import Entry
from apps.gateway.lifecycle import gateway
from apps.policies.services import document_import, publish
from tests.gateway.conftest import call
from tests.gateway.server import Server
from tests.gateway.test_calls import kinds
from tests.gateway.test_decisions import eventually
from tests.gateway.test_waiting import TOUCH, answer, asked, made

Made = tuple[Any, str]


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_call_of_a_revoked_token_is_withdrawn_and_the_card_says_so(
    server: Server, token: Callable[..., Made], operator: Any, settings: Any, mode: str
) -> None:
    row, secret = token("calls_make")
    with server.client(secret) as agent:
        more = {"mode": "async"} if mode == "async" else {}
        call(agent, "exec", TOUCH, wait_ms=0, **more)
        assert eventually(lambda: Approval.objects.filter(state="requested").count() == 1)

        token_end(row, at=timezone.now())
        assert eventually(lambda: Approval.objects.get().state == "cancelled")

        approval = Approval.objects.get()
        assert approval.decision_reason == "the token that made the call was revoked"
        with pytest.raises(ApprovalCancelledError):
            answer("allow-once", operator)
        assert not made(settings)


def away(row: Any, what: str) -> None:
    """Take something from a token without a word to anybody."""
    fields: dict[str, dict[str, Any]] = {
        "time": {"expires_at": timezone.now() - timedelta(seconds=1)},
        "the right": {"scopes": ["decisions_ask"]},
        "its agent": {"agents": ["clerk"]},
    }
    ApiToken.objects.filter(pk=row.pk).update(**fields[what])


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("time", "the token that made the call has expired"),
        ("the right", "the token that made the call may not make calls any more"),
        ("its agent", "the token that made the call may not speak for its agent any more"),
    ],
)
def test_what_nobody_says_is_found_by_the_next_sweep(
    server: Server, token: Callable[..., Made], settings: Any, what: str, reason: str
) -> None:
    row, secret = token("calls_make")
    with server.client(secret) as agent:
        asked(agent)
        away(row, what)
        server.run(gateway().desk.sweep())

        approval = Approval.objects.get()
        assert (approval.state, approval.decision_reason) == ("cancelled", reason)
        assert not made(settings)


def test_an_answer_that_is_faster_than_the_notice_does_not_run_it(
    agent: httpx.Client, operator: Any, settings: Any
) -> None:
    body = asked(agent)
    ApiToken.objects.update(revoked_at=timezone.now())  # no notice: as if it were still on its way

    with pytest.raises(CallerEndedError):
        answer("allow-once", operator)

    assert Approval.objects.get().state == "cancelled"
    assert Entry.objects.filter(kind="approval_refused", status="caller_ended").count() == 1
    assert not made(settings)
    assert body["status"] == "awaiting_approval"


def test_a_call_whose_token_goes_between_answer_and_run_is_denied(
    agent: httpx.Client, operator: Any, settings: Any, monkeypatch: Any
) -> None:
    from apps.approvals import rules

    body = asked(agent)
    monkeypatch.setattr(rules, "caller_ended", lambda *_: "")  # the answer is given before the token goes
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer("allow-once", operator)

    assert eventually(lambda: kinds(body["id"])[-1] == ("denial", "denied"))
    error = agent.get(f"/api/v1/calls/{body['id']}").json()["error"]
    assert error["code"] == "caller_ended" and "has expired" in error["message"]
    assert not made(settings)


def test_calls_of_a_deactivated_person_s_tokens_are_withdrawn(
    server: Server, token: Callable[..., Made], make_user: Callable[..., Any], admin: Any, settings: Any
) -> None:
    anna = make_user("anna", role="admin")
    _, secret = token("calls_make", by=anna)
    with server.client(secret) as agent:
        call(agent, "exec", TOUCH, wait_ms=0)
        assert eventually(lambda: Approval.objects.filter(state="requested").count() == 1)
        user_deactivate(anna, by=admin)
        assert eventually(lambda: Approval.objects.get().state == "cancelled")
    assert "deactivated" in Approval.objects.get().decision_reason
    assert not made(settings)


def test_a_call_of_a_token_that_still_holds_runs_as_before(agent: httpx.Client, operator: Any, settings: Any) -> None:
    body = asked(agent)
    answer("allow-once", operator)
    assert agent.get(f"/api/v1/calls/{body['id']}?wait=20000").json()["status"] == "completed"
    assert made(settings)


@pytest.mark.django_db
def test_what_stands_for_an_agent_ends_when_a_publication_removes_it(environment: Any, admin: Any) -> None:
    document_import(environment, '{agents: {list: [{id: "bot"}, {id: "clerk"}]}}', by=None)
    first = publish(environment, by=None, message="two agents", expected_live="")
    at = timezone.now()
    bot, clerk, everybody = (
        Grant.objects.create(environment=environment, agent=agent, tool="exec", created_at=at)
        for agent in ("bot", "clerk", "")
    )

    document_import(environment, '{agents: {list: [{id: "clerk"}]}}', by=None)
    second = publish(environment, by=admin, message="without bot", expected_live=first.snapshot_id)
    document_import(environment, '{agents: {list: [{id: "bot"}, {id: "clerk"}]}}', by=None)
    publish(environment, by=admin, message="bot anew", expected_live=second.snapshot_id)

    standing = set(Grant.objects.filter(revoked_at=None))
    assert standing == {clerk, everybody}
    bot.refresh_from_db()
    assert bot.revoked_by_label == str(admin)
    assert Entry.objects.filter(kind="grant_revoked", agent="bot", actor="user:admin").count() == 1
