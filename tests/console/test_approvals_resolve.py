"""Answering a request."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format

from apps.approvals.models import Approval, Grant
from apps.approvals.services import approval_resolve


def url(approval: Any) -> str:
    return f"/approvals/{approval.shown_id}/resolve/"


def answer(browser: Client, approval: Any, decision: str, **fields: str) -> Any:
    return browser.post(url(approval), {"decision": decision, **fields}, headers={"hx-request": "true"})


@pytest.mark.parametrize("name", ["auditor", "viewer", "outsider"])
def test_it_refuses_who_may_not_decide(
    name: str, request: pytest.FixtureRequest, client_of: Callable[..., Client], ask: Callable[..., Any]
) -> None:
    approval = ask()
    assert answer(client_of(request.getfixturevalue(name)), approval, "allow-once").status_code == 403
    assert Approval.objects.get(pk=approval.pk).is_pending


def test_get_changes_nothing(client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]) -> None:
    approval = ask()
    assert client_of(operator).get(url(approval)).status_code == 405
    assert Approval.objects.get(pk=approval.pk).is_pending


def test_it_needs_the_csrf_token(client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]) -> None:
    approval = ask()
    browser = client_of(operator, enforce_csrf_checks=True)
    assert browser.post(url(approval), {"decision": "deny"}).status_code == 403
    assert Approval.objects.get(pk=approval.pk).is_pending


@pytest.mark.parametrize("name", ["admin", "operator"])
def test_the_answer_is_the_card_with_its_verdict(
    name: str, request: pytest.FixtureRequest, client_of: Callable[..., Client], ask: Callable[..., Any]
) -> None:
    approval = ask()
    reply = answer(client_of(request.getfixturevalue(name)), approval, "allow-once")
    assert reply.status_code == 200
    assert "Allowed once" in reply.content.decode()
    assert Approval.objects.get(pk=approval.pk).state == "allowed_once"


def test_without_scripts_it_goes_back_to_the_queue(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    reply = client_of(operator).post(url(ask()), {"decision": "allow-once"})
    assert (reply.status_code, reply["Location"]) == (302, "/approvals/")


def test_a_denial_keeps_its_reason(client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]) -> None:
    approval = ask()
    answer(client_of(operator), approval, "deny", reason="use the cleanup job")
    assert Approval.objects.get(pk=approval.pk).decision_reason == "use the cleanup job"


def test_the_second_operator_is_told_who_was_faster(
    client_of: Callable[..., Client], operator: Any, admin: Any, ask: Callable[..., Any]
) -> None:
    approval = ask()
    approval_resolve(approval, decision="deny", by=admin, at=timezone.now())
    reply = answer(client_of(operator), approval, "allow-once")
    assert reply.status_code == 409
    assert "Admin was faster: Denied" in reply.content.decode()


def test_an_answer_after_the_time_is_refused_with_the_time(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    reply = answer(client_of(operator), ask(left_s=-5), "allow-once")
    assert reply.status_code == 409
    assert "ran out of time" in reply.content.decode()


def test_always_keeps_the_pattern_that_was_chosen(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    answer(client_of(operator), ask(), "allow-always", scope="first", confirmed="yes")
    assert Grant.objects.get().arg_pattern == "^-fsS( .*)?$"


@pytest.mark.parametrize("headers", [{}, {"hx-request": "true"}])
def test_always_is_never_saved_before_it_is_confirmed(
    headers: dict[str, str], client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    reply = client_of(operator).post(url(ask()), {"decision": "allow-always", "scope": "any"}, headers=headers)

    assert reply.status_code == (400 if headers else 200)
    assert not Grant.objects.exists() and Approval.objects.get().is_pending


def test_without_scripts_always_is_confirmed_on_a_page_that_says_what_it_saves(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    approval, browser = ask(), client_of(operator)
    page = browser.post(url(approval), {"decision": "allow-always", "scope": "any", "days": "7"}).content.decode()

    assert "/usr/bin/curl ^.*$" in page and "ops-runner" in page
    assert "any arguments are allowed" in page
    assert date_format(timezone.now() + timedelta(days=7), "j M Y") in page
    assert f'<a class="btn" href="{reverse("approval-card", args=[approval.pk])}" autofocus>Cancel</a>' in page
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.split("confirmed")[0]))
    assert browser.post(url(approval), fields | {"confirmed": "yes"}).status_code == 302
    grant = Grant.objects.get()
    assert grant.arg_pattern == "^.*$" and grant.agent == "ops-runner"


def test_the_scope_line_shows_the_arguments(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    page = client_of(operator).get("/approvals/").content.decode()
    assert "/usr/bin/curl" not in page
    ask()
    page = client_of(operator).get("/approvals/").content.decode()
    assert 'data-words="/usr/bin/curl -fsS https://status.example/health"' in page


def test_an_unknown_scope_is_the_narrowest_one(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    answer(client_of(operator), ask(), "allow-always", scope="everything", confirmed="yes")
    assert Grant.objects.get().arg_pattern == ""


def test_a_decision_that_is_not_offered_is_refused(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    approval = ask(decisions=("allow-once", "deny"))
    assert answer(client_of(operator), approval, "allow-always", confirmed="yes").status_code == 422
    assert Approval.objects.get(pk=approval.pk).is_pending


def test_an_unknown_decision_is_a_bad_request(
    client_of: Callable[..., Client], operator: Any, ask: Callable[..., Any]
) -> None:
    assert answer(client_of(operator), ask(), "maybe").status_code == 400
