"""Real threads on real rows: one winner, whoever races."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from apps.approvals.drafts import ApprovalDraft
from apps.approvals.errors import ApprovalAlreadyDecidedError, ApprovalClaimedError, ApprovalExpiredError
from apps.approvals.models import Approval, Grant
from apps.approvals.running import approval_claim
from apps.approvals.services import approval_request, approval_resolve, approvals_expire
from apps.audit.models import Entry
from apps.firewall.identifiers import new_id
from tests.approvals.conftest import NOON

pytestmark = pytest.mark.django_db(transaction=True)

SOON = NOON + timedelta(seconds=9)
Ask = Callable[..., Approval]


def race(runners: Iterable[Callable[[], Any]]) -> list[Any]:
    """Start all at the same moment; give each one's answer or error."""
    runners = list(runners)
    start = Barrier(len(runners))

    def run(runner: Callable[[], Any]) -> Any:
        try:
            start.wait(timeout=60)
            return runner()
        except Exception as exc:  # noqa: BLE001 - an error is an answer here
            return exc
        finally:
            connection.close()

    with ThreadPoolExecutor(len(runners)) as threads:
        return list(threads.map(run, runners))


@pytest.mark.parametrize("round_", range(5))
def test_of_two_operators_who_disagree_one_wins_and_the_other_learns_who(
    ask: Ask, operator: Any, colleague: Any, round_: int
) -> None:
    approval = ask()
    answers = race(
        [
            lambda: approval_resolve(approval, decision="allow-once", by=operator, at=SOON),
            lambda: approval_resolve(approval, decision="deny", by=colleague, at=SOON),
        ]
    )
    [winner] = [answer for answer in answers if isinstance(answer, Approval)]
    [loser] = [answer for answer in answers if isinstance(answer, ApprovalAlreadyDecidedError)]
    stored = Approval.objects.get(pk=approval.pk)
    assert (stored.state, stored.decided_by) == (winner.state, winner.decided_by)
    assert (loser.state, loser.decided_by) == (winner.state, winner.decided_by_label)
    assert Entry.objects.filter(approval_id=approval.pk, kind="approval_answered").count() == 1


def test_twenty_operators_who_agree_decide_once_and_grant_once(ask: Ask, operator: Any) -> None:
    approval = ask()
    answers = race(
        [lambda: approval_resolve(approval, decision="allow-always", by=operator, at=SOON) for _ in range(8)]
    )
    assert all(isinstance(answer, Approval) for answer in answers)
    assert Entry.objects.filter(approval_id=approval.pk, kind="approval_answered").count() == 1
    assert Grant.objects.filter(approval=approval).count() == 1


def test_eight_runners_claim_and_one_gets_the_action(ask: Ask, operator: Any) -> None:
    approval = approval_resolve(ask(), decision="allow-once", by=operator, at=SOON)
    boots = [new_id() for _ in range(8)]
    answers = race([lambda boot=boot: approval_claim(approval.pk, boot=boot, at=SOON) for boot in boots])  # type: ignore[misc]
    lost = [answer for answer in answers if isinstance(answer, ApprovalClaimedError)]
    assert len(lost) == 7
    assert Approval.objects.get(pk=approval.pk).claimed_by in boots


@pytest.mark.parametrize("round_", range(5))
def test_an_answer_and_the_deadline_race_and_one_of_them_holds(ask: Ask, operator: Any, round_: int) -> None:
    approval = ask()
    just_before = approval.expires_at - timedelta(microseconds=1)
    answer, expired = race(
        [
            lambda: approval_resolve(approval, decision="allow-once", by=operator, at=just_before),
            lambda: approvals_expire(approval.expires_at),
        ]
    )
    stored = Approval.objects.get(pk=approval.pk)
    if expired:
        assert isinstance(answer, ApprovalExpiredError) and stored.state == "expired"
    else:
        assert isinstance(answer, Approval) and stored.state == "allowed_once"
    ends = Entry.objects.filter(approval_id=approval.pk, kind__in=["approval_answered", "approval_expired"])
    assert ends.count() == 1


def test_four_sweepers_expire_each_request_once(ask: Ask) -> None:
    approvals = [ask() for _ in range(6)]
    swept = race([lambda: approvals_expire(approvals[0].expires_at) for _ in range(4)])
    assert sum(swept) == 6
    assert Entry.objects.filter(kind="approval_expired", approval_id__in=[one.pk for one in approvals]).count() == 6


def test_asking_twice_at_once_makes_one_request(draft_for: Callable[..., ApprovalDraft]) -> None:
    draft = draft_for()
    asked = race([lambda: approval_request(draft, at=NOON, timeout_s=120) for _ in range(6)])
    assert len({approval.pk for approval in asked}) == 1
    assert Entry.objects.filter(call_id=draft.call_id, kind="approval_asked").count() == 1
