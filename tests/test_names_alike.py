"""Names in rules, tokens, stops, limits and hooks: another spelling gives the same answer, or is refused when saved."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.access import may_agent
from apps.accounts.errors import AgentNameError
from apps.accounts.models import ApiToken
from apps.approvals.answerers import answer_rule_of
from apps.approvals.answering import answer_rule_add
from apps.approvals.errors import AnswerInvalidError
from apps.approvals.models import AnswerRule
from apps.audit.drafts import EntryDraft, EntryKind
from apps.audit.filters import EntryFilters
from apps.audit.selectors import entries
from apps.audit.services import entry_record
from apps.firewall.engine.context import CallContext
from apps.firewall.engine.dialect import DIALECTS, dialect_named
from apps.firewall.identifiers import new_id
from apps.firewall.runtime.call import Call
from apps.firewall.runtime.halts.matching import aim_of, halt_for
from apps.firewall.runtime.limits.rates import shares_of
from apps.firewall.tools.builtin.exec import DEFINITION as EXEC
from apps.halts.selectors import rule_of as stop_rule_of
from apps.halts.services import halt_lift, halt_place
from apps.limits.errors import LimitInvalidError
from apps.limits.selectors import rule_of
from apps.limits.services import rate_limit_create
from apps.policies.models import Agent
from apps.registry.errors import HookInvalidError
from apps.registry.services import hook_create, plugin_save
from tests.api.conftest import Program, program  # noqa: F401 - a fixture
from tests.console.conftest import ask  # noqa: F401 - a fixture

pytestmark = pytest.mark.django_db
Ask = Callable[..., Any]
ABOUT_MAIN = [
    {"agents": ["main"]},
    {"agents": ["Main"]},
    {"agents": [" MAIN "]},
    {"channels": ["telegram"]},
    {"channels": ["Telegram"]},
    {"tools": ["exec"]},
    {"tools": ["Exec"]},
    {"tools": ["bash"]},
    {"tools": ["group:runtime"]},
]
MISSPELT = [{"agents": ["mian"]}, {"channels": ["telegrm"]}, {"tools": ["exce"]}, {"tools": ["group:runtme"]}]


@pytest.fixture
def main(environment: Any) -> Agent:
    return Agent.objects.create(environment=environment, key="Main")


@pytest.mark.parametrize("channel", ["telegram", "Telegram", ""])
@pytest.mark.parametrize("about", ABOUT_MAIN)
def test_who_may_answer_is_decided_by_what_is_meant(
    environment: Any,
    main: Agent,
    program: Callable[..., Program],  # noqa: F811
    ask: Ask,  # noqa: F811
    about: dict[str, Any],
    channel: str,
) -> None:
    made = program("policy_write").post("approvals/rules", {"name": "auditors", "roles": ["auditor"], **about})
    assert (made.status_code, made.json()["remarks"]) == (201, [])
    waiting = ask(agent="main", channel=channel)

    answer = program("approvals_read", "approvals_resolve").post(
        f"approvals/{waiting.shown_id}/resolve", {"decision": "allow-once"}
    )

    assert (answer.status_code, answer.json()["code"]) == (403, "not_an_approver")


@pytest.mark.parametrize("about", ABOUT_MAIN)
def test_a_quorum_holds_for_every_spelling(
    environment: Any,
    main: Agent,
    ask: Ask,  # noqa: F811
    about: dict[str, Any],
) -> None:
    rule = answer_rule_add(environment, name="two", quorum=2, **about)

    assert answer_rule_of(ask(agent="main", channel="Telegram")) == rule
    assert answer_rule_of(ask(agent="clerk", channel="slack", tool="read")) is None


@pytest.mark.parametrize("about", MISSPELT)
def test_a_rule_limit_or_hook_of_a_misspelt_name_is_refused_with_what_was_meant(
    environment: Any, main: Agent, about: dict[str, Any]
) -> None:
    (path,) = about
    with pytest.raises(AnswerInvalidError) as caught:
        answer_rule_add(environment, name="nobody", roles=["auditor"], **about)
    assert [each["path"] for each in caught.value.details] == [path]
    assert "did you mean" in caught.value.details[0]["message"]
    if path != "channels":
        with pytest.raises(LimitInvalidError):
            rate_limit_create(environment, name="calm", per_minute=1, **about)
    if path == "tools":
        plugin = plugin_save(environment, key="acme", name="Acme")
        settings = {"url": "https://hooks.example/", "signing": {"algorithm": "hmac-sha256", "key": "k" * 32}}
        with pytest.raises(HookInvalidError):
            hook_create(plugin, name="gate", event="before_tool_call", kind="webhook", settings=settings, **about)
    assert not AnswerRule.objects.exists()


def test_a_name_that_resembles_none_is_taken_and_remarked(
    environment: Any,
    main: Agent,
    program: Callable[..., Program],  # noqa: F811
) -> None:
    made = program("policy_write").post("approvals/rules", {"name": "later", "agents": ["zyxwv"], "quorum": 2})

    remark = {"path": "agents", "code": "unknown_name", "message": "there is no agent `zyxwv`"}
    assert (made.status_code, made.json()["remarks"]) == (201, [remark])


@pytest.mark.parametrize(
    "stored", [{"agents": ["!!!"]}, {"tools": ["group:nothing"]}, {"agents": ["MAIN"]}, {"tools": ["Bash"]}]
)
def test_a_rule_that_an_earlier_version_stored_and_nobody_can_judge_holds(
    environment: Any,
    ask: Ask,  # noqa: F811
    stored: dict[str, list[str]],
) -> None:
    rule = AnswerRule.objects.create(environment=environment, name="old", roles=["auditor"], **stored)

    assert answer_rule_of(ask(agent="main")) == rule


@pytest.mark.parametrize("spelling", ["support-bot", "Support-Bot", "Support Bot"])
def test_a_token_speaks_for_its_agent_however_that_was_written(
    environment: Any, token: Callable[..., Any], spelling: str
) -> None:
    row = token("calls_make", agents=[spelling])[0]
    stored = ApiToken.objects.get(pk=row.pk)

    assert stored.agents == ["support-bot"]
    assert may_agent(stored, "support-bot")
    stored.agents = [spelling]  # as an earlier version kept it
    assert may_agent(stored, "support-bot")
    assert not may_agent(stored, "main")


@pytest.mark.parametrize("name", ["mian", "!!!", "m*"])
def test_a_token_for_an_agent_that_cannot_be_meant_is_refused(
    environment: Any, main: Agent, token: Callable[..., Any], name: str
) -> None:
    with pytest.raises(AgentNameError):
        token("calls_make", agents=[name])


@pytest.mark.parametrize(
    ("scope", "spelling"),
    [
        ("agent", "main"), ("agent", "Main"), ("tool", "exec"), ("tool", "Exec"), ("tool", "bash"),
        ("channel", "telegram"), ("channel", "Telegram"),
    ],
)  # fmt: skip
def test_a_stop_meets_a_call_whatever_the_spelling_on_either_side(
    environment: Any, main: Agent, scope: str, spelling: str
) -> None:
    halt = halt_place(environment, scope=scope, name=spelling, reason="wait", at=timezone.now())
    rules = [stop_rule_of(halt)]
    halt.name = spelling  # as an earlier version kept it
    for rule in (*rules, stop_rule_of(halt)):
        for channel in ("telegram", "Telegram"):
            for tool in ("exec", "Bash"):
                aim = aim_of(CallContext(channel=channel), agent="main", tool=tool, release=environment.dialect)
                assert halt_for([rule], aim) is not None
    halt_lift(halt, at=timezone.now())


@pytest.mark.parametrize("said", ["telegram", "Telegram", " TELEGRAM "])
def test_a_record_has_a_channel_in_one_spelling(said: str) -> None:
    made = Call(environment="production", agent="main", tool="exec", params={}, context=CallContext(channel=said))

    assert made.channel == "telegram"


@pytest.mark.parametrize("spoken", ["teams", "Teams", " TEAMS "])
@pytest.mark.parametrize("release", DIALECTS)
def test_a_rule_about_a_channel_counts_for_what_is_kept_of_a_call_in_every_release(
    environment: Any,
    ask: Ask,  # noqa: F811
    release: str,
    spoken: str,
) -> None:
    environment.dialect = release
    environment.save(update_fields=["dialect"])
    rule = AnswerRule.objects.create(environment=environment, name="two", quorum=2, channels=["teams"])
    made = Call(environment="production", agent="main", tool="exec", params={}, context=CallContext(channel=spoken))

    assert answer_rule_of(ask(agent="main", channel=made.channel)) == rule


@pytest.mark.parametrize(
    ("asked", "search"),
    [
        ({"agent": "Main", "tool": "bash", "channel": "Telegram"}, ""),
        ({}, "agent:MAIN tool:Bash channel:telegram"),
        ({"channel": " TELEGRAM "}, "agent:main tool:exec"),
    ],
)
def test_the_ledger_is_searched_by_what_is_meant(asked: dict[str, str], search: str) -> None:
    receipt = entry_record(
        EntryDraft(kind=EntryKind.DENIAL, agent="main", tool="exec", channel="telegram", call_id=new_id())
    )
    other = entry_record(
        EntryDraft(kind=EntryKind.DENIAL, agent="clerk", tool="exec", channel="slack", call_id=new_id())
    )

    found = {row.id for row in entries(EntryFilters.read(asked).with_search(search)).rows}

    assert receipt.id in found and other.id not in found


@pytest.mark.parametrize(
    "named", [{"agents": ["Main"]}, {"agents": ["ma*"]}, {"tools": ["Bash"]}, {"tools": ["group:runtime"]}]
)
def test_a_limit_counts_calls_whatever_the_spelling(environment: Any, main: Agent, named: dict[str, Any]) -> None:
    limit = rate_limit_create(environment, name="calm", per_minute=1, **named)
    call = Call(environment=environment.slug, agent="main", tool="exec", params={}, actor="token:tok_1")

    shares = list(shares_of(call, EXEC, [rule_of(limit)], dialect_named(environment.dialect)))

    assert [share.name for share in shares if share.rule] == ["calm"]
