"""How long people have to answer, by every door that can change it."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts.errors import PermissionDeniedError
from apps.approvals.answering import answer_policy, answer_policy_save, answer_rules, deputies
from apps.approvals.errors import AnswerInvalidError
from apps.approvals.models import AnswerPolicy
from apps.approvals.services import approval_request
from apps.approvals.teams import teams
from apps.audit.models import Entry
from apps.registry.errors import RecordChangedError
from tests.approvals.conftest import NOON
from tests.wider_pages import post_wider

pytestmark = pytest.mark.django_db


@pytest.mark.usefixtures("empty_ledger")
def test_an_environment_says_how_long_people_have_and_what_waits_keeps_its_deadline(
    draft_for: Callable[..., Any], environment: Any
) -> None:
    before = approval_request(draft_for(), at=NOON)
    answer_policy_save(environment, wait_s=90)
    after = approval_request(draft_for(), at=NOON)
    answer_policy_save(environment, wait_s=None)
    usual = approval_request(draft_for(), at=NOON)

    before.refresh_from_db()
    waits = [approval.expires_at - NOON for approval in (before, after, usual)]
    assert waits == [timedelta(minutes=30), timedelta(seconds=90), timedelta(minutes=30)]
    entries = Entry.objects.filter(kind="answer_change", status="changed").order_by("-at", "-seq")
    assert [entry.changes for entry in entries[:2]] == [{"wait_s": None}, {"wait_s": 90}]


@pytest.mark.parametrize("wait_s", [4, 0, -1, 86_401])
def test_it_is_bounded_in_the_service_and_in_the_database(environment: Any, wait_s: int) -> None:
    with pytest.raises(AnswerInvalidError):
        answer_policy_save(environment, wait_s=wait_s)
    with pytest.raises((IntegrityError, ValueError)), transaction.atomic():
        AnswerPolicy.objects.create(environment=environment, wait_s=wait_s)


def test_whoever_saw_an_older_version_is_refused(environment: Any) -> None:
    seen = answer_policy(environment).version
    answer_policy_save(environment, wait_s=60, expected_version=seen)
    with pytest.raises(RecordChangedError):
        answer_policy_save(environment, wait_s=70, expected_version=seen)


def test_operators_may_not_change_it(environment: Any, operator: Any) -> None:
    with pytest.raises(PermissionDeniedError):
        answer_policy_save(environment, wait_s=60, by=operator)


def test_the_page_shows_and_changes_it(client_of: Callable[..., Client], admin: Any, environment: Any) -> None:
    browser = client_of(admin)
    assert "1800 seconds" in browser.get("/approvals/answering/").content.decode()
    assert browser.post("/approvals/answering/", {"version": 1, "wait_s": 3}).status_code == 422
    assert browser.post("/approvals/answering/", {"version": 1, "wait_s": 300}).status_code == 302
    assert answer_policy(environment).wait_s == 300
    stale = browser.post("/approvals/answering/", {"version": 1, "wait_s": 400})
    assert stale.status_code == 422 and answer_policy(environment).wait_s == 300


def test_who_only_answers_sees_it_and_may_not_change_it(
    client_of: Callable[..., Client], operator: Any, environment: Any
) -> None:
    browser = client_of(operator)
    page = browser.get("/approvals/answering/")
    assert page.status_code == 200 and "Read-only." in page.content.decode()
    assert browser.post("/approvals/answering/", {"version": 1, "wait_s": 300}).status_code == 403
    assert answer_policy(environment).wait_s is None


def test_the_page_adds_and_removes_rules_and_says_what_is_wrong(
    client_of: Callable[..., Client], admin: Any, operator: Any, environment: Any
) -> None:
    browser = client_of(admin)
    rule = {"name": "night <shift>", "agents": "ops-runner, bot", "roles": ["operator"], "people": "admin", "quorum": 2}
    assert browser.post("/approvals/answering/rules/add/", rule).status_code == 302
    page = browser.get("/approvals/answering/").content.decode()
    assert "night &lt;shift&gt;" in page and "ops-runner bot" in page
    wrong = browser.post("/approvals/answering/rules/add/", rule | {"name": "b", "people": "nobody"})
    assert wrong.status_code == 422 and "nobody" in wrong.content.decode()
    assert client_of(operator).post("/approvals/answering/rules/add/", rule).status_code == 403
    assert post_wider(browser, "/approvals/answering/rules/remove/", {"name": "night <shift>"}).status_code == 302
    assert not answer_rules(environment).exists()
    assert browser.post("/approvals/answering/rules/remove/", {"name": "night <shift>"}).status_code == 404


def test_an_operator_names_a_deputy_and_ends_it(
    client_of: Callable[..., Client], operator: Any, colleague: Any, viewer: Any, environment: Any
) -> None:
    browser = client_of(operator)
    until = (timezone.now() + timedelta(days=3)).strftime("%Y-%m-%dT%H:%M")
    named = {"deputy": "tomas", "until": until}
    assert browser.post("/approvals/answering/deputies/add/", named).status_code == 302
    assert "Tomas" in browser.get("/approvals/answering/").content.decode()
    assert browser.post("/approvals/answering/deputies/add/", named | {"deputy": "viewer"}).status_code == 422
    (row,) = deputies(timezone.now())
    assert client_of(colleague).post("/approvals/answering/deputies/remove/", {"id": row.pk}).status_code == 403
    assert browser.post("/approvals/answering/deputies/remove/", {"id": row.pk}).status_code == 302
    assert not deputies(timezone.now()).exists()


def test_the_page_changes_and_moves_rules_and_keeps_teams(
    client_of: Callable[..., Client], admin: Any, operator: Any, environment: Any
) -> None:
    browser = client_of(admin)
    at = "/approvals/answering"
    team = {"name": "night", "people": "operator, admin"}
    assert browser.post(f"{at}/teams/add/", team).status_code == 302
    wrong = browser.post(f"{at}/teams/add/", {"name": "x", "people": "nobody"})
    assert wrong.status_code == 422 and "nobody" in wrong.content.decode()
    for name in ("a", "b"):
        browser.post(f"{at}/rules/add/", {"name": name, "teams": "night", "quorum": 1})
    first, second = answer_rules(environment)
    assert browser.post(f"{at}/rules/{second.pk}/move/", {"way": "up"}).status_code == 302
    assert [rule.name for rule in answer_rules(environment)] == ["b", "a"]
    shown = browser.get(f"{at}/rules/{first.pk}/").content.decode()
    assert 'value="night"' in shown
    form = {"name": "a", "quorum": 2, "version": 1, "escalate_after_s": 60, "escalate_roles": ["admin"]}
    assert browser.post(f"{at}/rules/{first.pk}/", form).status_code == 302
    first.refresh_from_db()
    assert (first.quorum, first.teams, first.escalate_roles) == (2, [], ["admin"])
    assert browser.post(f"{at}/rules/{first.pk}/", form).status_code == 422  # an older version
    (kept,) = teams(environment)
    assert browser.post(f"{at}/teams/{kept.pk}/remove/").status_code == 409
    renamed = {"name": "late", "people": "operator", "version": 1}
    assert browser.post(f"{at}/teams/{kept.pk}/", renamed).status_code == 302
    second.refresh_from_db()
    assert second.teams == ["late"]
    assert client_of(operator).get(f"{at}/rules/{first.pk}/").status_code == 403
