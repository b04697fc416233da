"""Changes that hold at once say what they widen before they are saved: limits, hooks, rules of who answers."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.approvals.answering import answer_rule_add, answer_rules
from apps.approvals.teams import team_add
from apps.limits.models import RateLimit
from apps.limits.services import breaker_policy_save, rate_limit_create
from apps.registry.models import Environment, Hook
from apps.registry.selectors import hook_policy
from apps.registry.services import hook_create, plugin_save
from tests.wider_pages import widening_asked, widening_confirmed

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
ANSWERING = "/approvals/answering"
KEY = "a-key-that-both-sides-know"
WEBHOOK = {"url": "https://hooks.example/ask", "signing": {"algorithm": "hmac-sha256", "key": KEY}}
RATE = {"version": 1, "name": "calm", "per_minute": "5", "per": "everybody", "tools": "*", "agents": "*"}
ON = {"is_enabled": "on"}


@pytest.fixture
def limit(environment: Environment) -> RateLimit:
    return rate_limit_create(environment, name="calm", per_minute=5, per="everybody")


@pytest.fixture
def tomas(make_user: Callable[..., Any]) -> Any:
    return make_user("tomas", role="operator")


@pytest.fixture
def hook(environment: Environment) -> Hook:
    plugin = plugin_save(environment, key="acme", name="Acme")
    return hook_create(
        plugin, name="gate", event="before_tool_call", kind="webhook", settings=WEBHOOK, tools=["exec", "write"]
    )


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"per_minute": "50"}, "5 calls a minute become 50."),
        ({"per": "agent"}, "each count may use the full rate"),
        ({"tools": "web_*, exec"}, "no longer limits: all but web_* and exec."),
        ({"agents": "main"}, "no longer limits: all but main."),
        ({"is_enabled": ""}, "There is no longer a rate limit on all tools for all agents"),
    ],
)
def test_a_wider_limit_is_shown_in_red_before_it_is_saved(
    client_of: ClientOf, admin: Any, limit: RateLimit, changed: dict[str, str], said: str
) -> None:
    browser, path = client_of(admin), f"/limits/{limit.shown_id}/"
    posted = {name: value for name, value in (RATE | ON | changed).items() if value}
    answer = browser.post(path, posted)
    (line,) = widening_asked(answer)
    assert said in line
    assert 'class="note deny"' in answer.content.decode()
    before = RateLimit.objects.get()
    assert (before.per_minute, before.per, before.tools, before.is_enabled) == (5, "everybody", ["*"], True)
    assert widening_confirmed(browser, path, answer).status_code == 302
    assert RateLimit.objects.get().version == 2


def test_a_narrower_limit_is_saved_at_once_and_a_removed_one_is_asked_about(
    client_of: ClientOf, admin: Any, limit: RateLimit
) -> None:
    browser, path = client_of(admin), f"/limits/{limit.shown_id}/"
    assert browser.post(path, RATE | ON | {"per_minute": "2"}).status_code == 302
    answer = browser.post(f"{path}remove/")
    assert widening_asked(answer) == [
        "There is no longer a rate limit on all tools for all agents. It was 2 calls a minute."
    ]
    assert RateLimit.objects.exists()
    assert widening_confirmed(browser, f"{path}remove/", answer).status_code == 302
    assert not RateLimit.objects.exists()


def test_what_was_confirmed_is_confirmed_for_that_change_alone(
    client_of: ClientOf, admin: Any, limit: RateLimit
) -> None:
    browser, path = client_of(admin), f"/limits/{limit.shown_id}/"
    answer = browser.post(path, RATE | ON | {"per_minute": "50"})
    other = browser.post(path, RATE | ON | {"per_minute": "500", "widens": answer.context["digest"]})
    assert widening_asked(other) == ["5 calls a minute become 500."]
    assert RateLimit.objects.get().per_minute == 5


def test_a_breaker_that_waits_longer_is_asked_about(client_of: ClientOf, admin: Any, environment: Environment) -> None:
    policy = breaker_policy_save(environment, failures=3, pause_s=30)
    browser, rule = client_of(admin), {"version": policy.version, "failures": 9, "pause_s": 10}
    assert len(widening_asked(browser.post("/limits/breaker/", rule | ON))) == 2
    assert widening_asked(browser.post("/limits/breaker/", rule)) == [
        "Tools on other servers keep being called while they fail."
    ]
    assert browser.post("/limits/breaker/", rule | ON | {"failures": 2, "pause_s": 60}).status_code == 302


def test_a_hook_that_is_asked_less_is_asked_about(client_of: ClientOf, admin: Any, hook: Hook) -> None:
    browser = client_of(admin)
    off = browser.post("/hook/enabled/gate/", {"version": 1, "enabled": "no"})
    assert "run from now on" in widening_asked(off)[0]
    form = {field.html_name: field.value() or "" for field in browser.get("/hook/edit/gate/").context["form"]}
    fewer = browser.post("/hook/edit/gate/", form | {"tools": "write", "is_enabled": "on"})
    assert widening_asked(fewer) == ["Tools that it is not asked about any more: exec."]
    assert Hook.objects.get().tools == ["exec", "write"] and Hook.objects.get().is_enabled
    assert widening_confirmed(browser, "/hook/edit/gate/", fewer).status_code == 302
    assert Hook.objects.get().tools == ["write"]
    assert "run from now on" in browser.get("/hook/remove/gate/").content.decode()


@pytest.mark.parametrize(("release", "widens"), [("2026.2", True), ("2026.9", False)])
def test_a_failing_hook_that_lets_calls_pass_is_asked_about_where_it_counts(
    client_of: ClientOf, admin: Any, environment: Environment, release: str, widens: bool
) -> None:
    Environment.objects.update(dialect=release)
    browser = client_of(admin)
    answer = browser.post("/hook/policy/", {"version": hook_policy(environment).version})
    if not widens:
        assert answer.status_code == 302
        return
    assert widening_asked(answer) == ["A call runs when a hook that should be asked about it fails."]
    assert hook_policy(environment).is_strict


def test_rules_that_let_more_people_answer_or_need_fewer_are_asked_about(
    client_of: ClientOf, admin: Any, operator: Any, tomas: Any, environment: Environment
) -> None:
    rule = answer_rule_add(environment, name="money", tools=["pay"], people=["admin", "operator"], quorum=2)
    browser, path = client_of(admin), f"{ANSWERING}/rules/{rule.pk}/"
    form = {"version": 1, "name": "money", "tools": "pay", "people": "admin, operator", "quorum": "2"}
    assert browser.post(path, form).status_code == 302
    fewer = widening_asked(browser.post(path, form | {"quorum": "1"}))
    assert fewer == ["1 person has to allow it; it was 2. (tool pay)"]
    more = widening_asked(browser.post(path, form | {"people": "admin, operator, tomas"}))
    assert more == ["Can answer, too: tomas. (tool pay)"]
    anybody = widening_asked(browser.post(path, form | {"people": ""}))
    assert anybody == ["Everybody who may answer requests can answer. (tool pay)"]
    later = widening_asked(browser.post(path, form | {"escalate_after_s": "60", "escalate_people": "tomas"}))
    assert later == ["Can answer after 60 seconds without an answer: tomas. (tool pay)"]
    other = widening_asked(browser.post(path, form | {"tools": "refund"}))
    assert {line.partition("(")[2] for line in other} == {"tool pay)"}
    gone = browser.post(f"{ANSWERING}/rules/remove/", {"name": "money"})
    assert len(widening_asked(gone)) == 2
    assert answer_rules(environment).count() == 1
    assert widening_confirmed(browser, f"{ANSWERING}/rules/remove/", gone).status_code == 302
    assert not answer_rules(environment).exists()


def test_the_order_of_rules_and_the_people_of_teams_are_judged_alike(
    client_of: ClientOf, admin: Any, operator: Any, tomas: Any, environment: Environment
) -> None:
    team = team_add(environment, name="leads", people=["admin"])
    answer_rule_add(environment, name="strict", agents=["ops-*"], tools=["exec"], teams=["leads"], quorum=2)
    loose = answer_rule_add(environment, name="loose", agents=["ops-*"], people=["admin", "operator"])
    browser = client_of(admin)
    moved = widening_asked(browser.post(f"{ANSWERING}/rules/{loose.pk}/move/", {"way": "up"}))
    assert moved == [
        "1 person has to allow it; it was 2. (agent ops-* tool exec)",
        "Can answer, too: operator. (agent ops-* tool exec)",
    ]
    assert [each.name for each in answer_rules(environment)] == ["strict", "loose"]
    path = f"{ANSWERING}/teams/{team.pk}/"
    joined = browser.post(path, {"version": 1, "name": "leads", "people": "admin, tomas"})
    assert widening_asked(joined) == ["Can answer, too: tomas. (agent ops-* tool exec)"]
    assert browser.post(path, {"version": 1, "name": "chiefs", "people": "admin"}).status_code == 302
