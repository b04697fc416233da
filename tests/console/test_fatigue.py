"""The page about how answering goes."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.approvals.models import Approval
from apps.approvals.services import approval_resolve

ClientOf = Callable[..., Client]
PATH = "/approvals/fatigue/"


def test_nothing_answered_is_said(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    page = client_of(auditor).get(PATH).content.decode()
    assert "Nobody had to answer in this time" in page
    assert "data-chart" not in page


@pytest.mark.parametrize("span", ["24h", "7d", "30d", "nonsense"])
def test_it_shows_people_and_rules_with_pictures_and_tables(
    client_of: ClientOf, operator: Any, ask: Callable[..., Approval], span: str
) -> None:
    at = timezone.now()
    for number in range(7):
        approval_resolve(ask(), decision="allow-once", by=operator, at=at + timedelta(milliseconds=number))
    Approval.objects.update(decided_at=at - timedelta(seconds=5), requested_at=at - timedelta(seconds=6))
    page = client_of(operator).get(f"{PATH}?span={span}").content.decode()
    assert page.count("data-chart=") == page.count('class="plot-table"') == 2
    assert "ask=on-miss" in page
    assert "7 requests ended: 7 allowed, 0 denied, 0 timed out." in page
    assert "No standing approval is wider than what it was used for." in page


def test_a_row_of_answers_that_nobody_read_is_marked(
    client_of: ClientOf, operator: Any, ask: Callable[..., Approval]
) -> None:
    at = timezone.now() - timedelta(minutes=1)
    for number in range(8):
        approval_resolve(ask(), decision="allow-once", by=operator, at=timezone.now())
        Approval.objects.filter(pk=Approval.objects.latest("id").pk).update(
            requested_at=at, decided_at=at + timedelta(seconds=10 + number)
        )
    page = client_of(operator).get(PATH).content.decode()
    marked = page[page.index("By person") : page.index("By rule")]
    assert 'class="lab ask"' in marked
    assert "7</span>" in marked


@pytest.mark.parametrize("name", ["viewer", "outsider"])
def test_who_may_not_read_the_ledger_is_refused(
    name: str, request: pytest.FixtureRequest, client_of: ClientOf, environment: Any
) -> None:
    assert client_of(request.getfixturevalue(name)).get(PATH).status_code == 403


def test_programs_read_the_same(
    client_of: ClientOf, operator: Any, ask: Callable[..., Approval], token: Callable[..., Any]
) -> None:
    approval_resolve(ask(), decision="deny", by=operator, at=timezone.now())
    headers = {"Authorization": f"Bearer {token('audit_read')[1]}"}
    body = Client().get("/api/v1/approvals/fatigue?days=1", headers=headers).json()
    assert (body["total"]["ended"], body["people"][0]["denied"]) == (1, 1)
    assert body["rules"][0]["rule"] == "ask=on-miss"
    assert Client().get("/api/v1/approvals/fatigue?days=91", headers=headers).status_code == 422
