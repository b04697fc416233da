"""The page of limits: rates with their use, breakers, and who may change them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.firewall.runtime.limits.breaker import BreakerRule
from apps.firewall.runtime.limits.rates import Share
from apps.limits.breaking import breaker_settle
from apps.limits.counting import shares_take
from apps.limits.models import BreakerPolicy, RateLimit, ToolBreaker
from apps.limits.services import rate_limit_create, rate_limit_save
from tests.wider_pages import post_wider

ClientOf = Callable[..., Client]
RATE = {"name": "calm", "per_minute": "5", "per": "sender", "tools": "web_*, exec", "agents": "*", "is_enabled": "on"}


@pytest.fixture
def limit(environment: Any) -> RateLimit:
    return rate_limit_create(environment, name="calm", per_minute=2, per="agent")


def used(environment: Any, limit: RateLimit, subject: str, times: int) -> None:
    for _ in range(times):
        shares_take(environment, (Share(str(limit.pk), limit.name, subject, limit.per_minute),), at=timezone.now())


def opened(environment: Any, tool: str = "tides__high") -> None:
    breaker_settle(
        environment, tool, BreakerRule(1, 600), is_failure=True, error_code="connection_failed", at=timezone.now()
    )


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them_and_only_admins_get_forms(
    name: str, client_of: ClientOf, limit: RateLimit, request: pytest.FixtureRequest
) -> None:
    text = client_of(request.getfixturevalue(name)).get("/limits/").content.decode()
    assert "calm" in text
    assert ("/limits/new/" in text) == (name == "admin")


def test_without_rates_it_says_so(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    assert "No rate limits" in client_of(viewer).get("/limits/").content.decode()


def test_a_rate_shows_whose_calls_count_now_and_the_refusals(
    client_of: ClientOf, environment: Any, limit: RateLimit, viewer: Any
) -> None:
    used(environment, limit, "main", 4)
    used(environment, limit, "<b>ops</b>", 1)
    answer = client_of(viewer).get("/limits/")
    (row,) = answer.context["rates"]
    assert [(bar.subject, bar.used, bar.is_full) for bar in row.bars] == [("main", 2, True), ("<b>ops</b>", 1, False)]
    (refusal,) = answer.context["refusals"]
    assert (refusal["rate"], refusal["subject"], refusal["refused"]) == ("calm", "main", 2)
    assert b"<b>ops</b>" not in answer.content


def test_the_fragment_renews_itself_without_the_forms(
    client_of: ClientOf, environment: Any, limit: RateLimit, viewer: Any
) -> None:
    text = client_of(viewer).get("/limits/", headers={"HX-Request": "true"}).content.decode()
    assert 'id="limits"' in text and "<form" not in text and "<html" not in text


def test_more_rates_take_no_more_queries(
    client_of: ClientOf, environment: Any, limit: RateLimit, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get("/limits/")
    for number in range(20):
        made = rate_limit_create(environment, name=f"n{number}", per_minute=9)
        used(environment, made, "main", 1)
    with django_assert_max_num_queries(14):
        assert len(browser.get("/limits/").context["rates"]) == 21


def test_an_admin_adds_changes_and_removes_a_rate(client_of: ClientOf, environment: Any, admin: Any) -> None:
    browser = client_of(admin)
    assert browser.post("/limits/new/", RATE).status_code == 302
    limit = RateLimit.objects.get()
    assert (limit.tools, limit.agents, limit.per, limit.per_minute) == (["web_*", "exec"], ["*"], "sender", 5)

    address = f"/limits/{limit.shown_id}/"
    assert 'value="web_*, exec"' in browser.get(address).content.decode()
    changed = RATE | {"version": "1", "per_minute": "7", "is_enabled": ""}
    assert post_wider(browser, address, changed).status_code == 302
    limit.refresh_from_db()
    assert (limit.per_minute, limit.is_enabled, limit.version) == (7, False, 2)

    assert browser.post(f"{address}remove/").status_code == 302
    assert not RateLimit.objects.exists()


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"per_minute": "0"}, "per_minute"),
        ({"per_minute": "x"}, "per_minute"),
        ({"per": "moon"}, "per"),
        ({"name": ""}, "name"),
        ({"tools": " , "}, "tools"),
    ],
)
def test_what_is_wrong_with_a_rate_stands_beside_its_field(
    members: dict[str, str], field: str, client_of: ClientOf, environment: Any, admin: Any
) -> None:
    answer = client_of(admin).post("/limits/new/", RATE | members)
    assert answer.status_code == 422 and field in answer.context["form"].errors
    assert not RateLimit.objects.exists()


def test_a_second_rate_of_one_name_is_refused(client_of: ClientOf, limit: RateLimit, admin: Any) -> None:
    assert client_of(admin).post("/limits/new/", RATE).status_code == 422
    assert RateLimit.objects.count() == 1


def test_who_comes_second_is_told(client_of: ClientOf, limit: RateLimit, admin: Any) -> None:
    rate_limit_save(limit, per_minute=9)
    answer = client_of(admin).post(f"/limits/{limit.shown_id}/", RATE | {"version": "1"})
    assert answer.status_code == 409
    limit.refresh_from_db()
    assert limit.per_minute == 9


def test_a_tool_that_is_left_alone_is_shown_and_let_through_again(
    client_of: ClientOf, environment: Any, admin: Any, viewer: Any
) -> None:
    BreakerPolicy.objects.create(environment=environment, failures=1, pause_s=600)
    opened(environment)
    (row,) = client_of(viewer).get("/limits/").context["breakers"]
    assert (row.state, row.record.error_code) == ("open", "connection_failed")
    assert client_of(viewer).post("/limits/breaker/close/", {"tool": "tides__high"}).status_code == 403
    assert client_of(admin).post("/limits/breaker/close/", {"tool": "tides__high"}).status_code == 302
    assert not ToolBreaker.objects.exists()


def test_the_breakers_rule_is_changed_by_its_form(client_of: ClientOf, environment: Any, admin: Any) -> None:
    browser = client_of(admin)
    changed = {"version": "1", "failures": "3", "pause_s": "60"}
    assert post_wider(browser, "/limits/breaker/", changed).status_code == 302
    policy = BreakerPolicy.objects.get()
    assert (policy.failures, policy.pause_s, policy.is_enabled) == (3, 60, False)
    assert browser.post("/limits/breaker/", changed).status_code == 422, "the version is an older one"
    assert browser.post("/limits/breaker/", changed | {"failures": "0"}).status_code == 422


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_nobody_else_changes_anything(
    name: str, client_of: ClientOf, limit: RateLimit, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    for address in ("/limits/new/", f"/limits/{limit.shown_id}/", f"/limits/{limit.shown_id}/remove/"):
        assert browser.post(address, RATE).status_code == 403
    assert RateLimit.objects.get().version == 1
