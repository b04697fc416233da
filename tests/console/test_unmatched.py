"""Rules that never match: counted over the records, listed with what goes with them, taken out by one click."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.firewall.engine.diff import diff_snapshots
from apps.policies.models import Agent, AllowlistEntry, ChannelGroup, GlobalPolicy, Profile, Replay, SenderRule
from apps.policies.replays.running import replay_run
from apps.policies.selectors import draft_snapshot, live_snapshot
from apps.policies.services import allowlist_entry_create, document_import, publish, rule_remove
from apps.policies.tasks import replay_run_task
from apps.policies.unmatched import (
    removal_diff,
    rule_count,
    rule_count_request,
    rule_located,
    rules_located,
)
from tests.policies.past_calls import call_record_write, publish_first

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("replays_enqueued")]
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
PAGE = "/unmatched-rules/"
DOCUMENT = """{
  "tools": {"deny": ["x_search", "nosuchtool"], "toolsBySender": {"id:7": {"deny": ["write"]}}},
  "agents": {"ownership": "explicit", "entries": {
    "bot": {"tools": {"deny": ["ls", "exec"], "byProvider": {"openai": {"deny": ["edit"]}}}}, "ops": {}}},
  "channels": {"telegram": {"groups": {"-100": {"tools": {"deny": ["read"]},
    "toolsBySender": {"id:9": {"allow": ["read"]}}}}}}
}"""


@pytest.fixture
def live(environment: Any) -> Any:
    publish_first(environment, DOCUMENT)
    return live_snapshot(environment)


def count(environment: Any) -> Any:
    asked = rule_count_request(environment, by=None, at=timezone.now())
    assert replay_run(asked.pk, at=timezone.now()) is False
    return rule_count(environment)[1]


def named(environment: Any, rules: Any) -> set[tuple[str, str]]:
    return {(each.path, each.entry) for each in rules_located(environment, rules)}


GROUP = "channels.telegram.groups.-100"


@pytest.mark.parametrize("release", ["2026.9", "2026.2"])
def test_what_matched_nothing_is_named_and_what_cannot_match_is_counted_apart(environment: Any, release: str) -> None:
    environment.dialect = release
    environment.save(update_fields=["dialect"])
    everywhere = ', "toolsBySender": {"id:7": {"deny": ["write"]}}'
    document = DOCUMENT if release == "2026.9" else DOCUMENT.replace(everywhere, "")
    publish_first(environment, document)
    live = live_snapshot(environment)
    assert live is not None
    call_record_write(live, "ls")
    call_record_write(live, "read", session_key="agent:bot:telegram:group:-100", channel="telegram")
    found = count(environment)
    wanted = {("tools.deny", "x_search"), ("agents.entries.bot.tools.deny", "exec")}
    wanted |= {("agents.entries.bot.tools.byProvider.openai.deny", "edit"), (f"{GROUP}.toolsBySender.id:9", "")}
    if release == "2026.9":
        wanted |= {("tools.toolsBySender.id:7", "")}
    assert named(environment, found.never) == wanted
    assert (found.idle, found.unknown, found.vague) == (1, (), 0)


def test_a_record_that_says_too_little_leaves_rules_unknown(environment: Any, live: Any) -> None:
    call_record_write(live, "write", with_context=False, session_key="agent:bot:main")
    found = count(environment)
    assert ("tools.toolsBySender.id:7", "") in named(environment, found.unknown)
    assert ("agents.entries.bot.tools.deny", "exec") in named(environment, found.never)
    assert found.vague == 1


def test_calls_before_the_month_do_not_count(environment: Any, live: Any) -> None:
    call_record_write(live, "ls")
    late = timezone.now() + timedelta(days=31)
    asked = rule_count_request(environment, by=None, at=late)
    replay_run(asked.pk, at=late)
    found = rule_count(environment)[1]
    assert found is not None
    assert ("agents.entries.bot.tools.deny", "ls") in named(environment, found.never)


def test_commands_of_an_allowlist_count_by_what_they_admit(environment: Any) -> None:
    rules = '{"tools": {"exec": {"security": "allowlist", "ask": "off"}}, '
    document_import(environment, rules + '"agents": {"ownership": "explicit", "entries": {"bot": {}}}}', by=None)
    for pattern in ("/**/ls", "/**/nosuch"):
        allowlist_entry_create(environment, "*", pattern, by=None)
    publish(environment, by=None, message="first", expected_live=None)
    snapshot = live_snapshot(environment)
    assert snapshot is not None
    call_record_write(snapshot, "exec", params={"command": "ls"})
    assert {entry for path, entry in named(environment, count(environment).never)} == {"/**/nosuch"}


def test_it_does_not_disturb_the_replays_of_drafts(
    environment: Any, live: Any, client_of: ClientOf, admin: Any
) -> None:
    count(environment)
    assert client_of(admin).get("/replays/").context["replays"] == []
    replay = Replay.objects.get()
    assert client_of(admin).get(f"/replays/{replay.shown_id}/").status_code == 404


def test_nothing_live_has_no_rules(environment: Any, client_of: ClientOf, admin: Any, draft: Any) -> None:
    browser = client_of(admin)
    assert "Nothing is live yet" in browser.get(PAGE).content.decode()
    assert browser.post(PAGE, headers=HTMX).status_code == 422


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer", "outsider"])
def test_who_reads_the_ledger_sees_them(
    name: str, environment: Any, live: Any, client_of: ClientOf, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    wanted = 200 if name in {"admin", "operator", "auditor"} else 403
    assert browser.get(PAGE).status_code == wanted
    assert browser.post(PAGE, headers=HTMX).status_code == wanted
    assert browser.get(f"{PAGE}count/", headers=HTMX).status_code == wanted
    agent = Agent.objects.get(key="bot")
    query = {"kind": "agent", "record": str(agent.pk), "field": "deny", "entry": "exec"}
    text = browser.get(f"{PAGE}effect/", query)
    assert text.status_code == wanted
    assert ("Take it out of the draft" in text.content.decode()) is (name == "admin")
    if name != "admin":
        assert browser.post(f"{PAGE}remove/", query | {"version": "1"}).status_code == 403


def test_it_is_counted_from_the_page_and_watched(
    environment: Any, live: Any, client_of: ClientOf, admin: Any, replays_enqueued: list[str]
) -> None:
    call_record_write(live, "ls")
    browser = client_of(admin)
    assert 'hx-trigger="every 1s"' in browser.post(PAGE, headers=HTMX).content.decode()
    (handed,) = replays_enqueued
    replay_run_task.run(handed)
    ended = browser.get(f"{PAGE}count/", headers=HTMX)
    assert ended.headers["HX-Refresh"] == "true"
    page = browser.get(PAGE)
    assert [row.rule.entry for row in page.context["rows"]][:2] == ["x_search", ""]
    assert "1 entry names no tool that there is" in re.sub(r"\s+", " ", page.content.decode())
    assert browser.get(f"{PAGE}?standing=unknown&page=9").context["rows"] == []


def test_an_entry_goes_by_one_click_as_its_effect_was_shown(
    environment: Any, live: Any, client_of: ClientOf, admin: Any
) -> None:
    browser, agent = client_of(admin), Agent.objects.get(key="bot")
    query = {"kind": "agent", "record": str(agent.pk), "field": "deny", "entry": "exec"}
    shown = browser.get(f"{PAGE}effect/", query, headers=HTMX)
    assert shown.content.decode().lstrip().startswith('<section class="panel" id="removal"')
    blast = shown.context["blast"]
    assert (blast.gain.tools, blast.lose.contexts) == (("exec",), 0)
    assert browser.post(f"{PAGE}remove/", query | {"version": agent.version}).status_code == 302
    agent.refresh_from_db()
    assert agent.deny == ["ls"]
    assert diff_snapshots(live, draft_snapshot(environment)).contexts - blast.unchanged == blast.gain.contexts


@pytest.mark.parametrize("kind", ["sender", "group", "sender in a group"])
def test_what_was_shown_of_a_whole_rule_is_what_the_draft_becomes(environment: Any, live: Any, kind: str) -> None:
    rows: Any = {
        "sender": (SenderRule, "id:7"),
        "group": (ChannelGroup, "-100"),
        "sender in a group": (SenderRule, "id:9"),
    }
    model, key = rows[kind]
    record = model.objects.get(key=key)
    rule = rule_located(environment, kind=kind.split()[0], record=record.pk, field="", entry="")
    before = draft_snapshot(environment)
    shown = removal_diff(environment, rule)
    rule_remove(environment, rule, by=None, expected_version=record.version)
    after = diff_snapshots(before, draft_snapshot(environment))
    assert shown is not None and shown.changes
    told = [(change.gained, change.lost, change.agents) for change in shown.changes]
    assert told == [(change.gained, change.lost, change.agents) for change in after.changes]


def test_entries_of_profiles_and_sandboxes_are_rules_of_their_records(environment: Any, live: Any) -> None:
    policy = GlobalPolicy.objects.get()
    policy.sandbox_deny = ["read"]
    policy.save()
    profile = Profile.objects.create(environment=environment, key="own", position=0, allow=["read"])
    for kind, record, field in (("global", policy, "sandbox_deny"), ("profile", profile, "allow")):
        rule = rule_located(environment, kind=kind, record=record.pk, field=field, entry="read")
        assert removal_diff(environment, rule) is not None
        rule_remove(environment, rule, by=None, expected_version=record.version)
        record.refresh_from_db()
        assert getattr(record, field) == []


def test_somebody_who_was_faster_is_a_conflict(environment: Any, live: Any, client_of: ClientOf, admin: Any) -> None:
    agent = Agent.objects.get(key="bot")
    query = {"kind": "agent", "record": str(agent.pk), "field": "deny", "entry": "exec", "version": 7}
    answer = client_of(admin).post(f"{PAGE}remove/", query)
    assert answer.status_code == 409
    assert "Nothing was changed." in answer.content.decode()
    agent.refresh_from_db()
    assert agent.deny == ["ls", "exec"]
    assert client_of(admin).post(f"{PAGE}remove/", query | {"entry": "read"}).status_code == 409


@pytest.mark.parametrize(
    "wrong", [{"record": "x"}, {"kind": "nosuch"}, {"field": "key"}, {"entry": "read"}, {"field": ""}]
)
def test_a_rule_that_is_not_there_has_no_effect(
    environment: Any, live: Any, client_of: ClientOf, admin: Any, wrong: dict[str, str]
) -> None:
    agent = Agent.objects.get(key="bot")
    query = {"kind": "agent", "record": str(agent.pk), "field": "deny", "entry": "exec"} | wrong
    assert client_of(admin).get(f"{PAGE}effect/", query).status_code == 404


def test_without_calls_nothing_is_said_of_a_rule(environment: Any, live: Any, client_of: ClientOf, admin: Any) -> None:
    count(environment)
    text = client_of(admin).get(PAGE).content.decode()
    assert "nothing speaks for a rule, or against it" in text
    assert "See what its removal does" not in text


def test_what_the_draft_has_no_longer_says_so(environment: Any, live: Any, client_of: ClientOf, admin: Any) -> None:
    call_record_write(live, "ls")
    count(environment)
    SenderRule.objects.filter(key="id:7").delete()
    text = client_of(admin).get(PAGE).content.decode()
    assert "The draft has it no longer." in text


def test_the_page_asks_few_questions(
    environment: Any, live: Any, client_of: ClientOf, admin: Any, django_assert_max_num_queries: Any
) -> None:
    count(environment)
    browser = client_of(admin)
    browser.get(PAGE)
    with django_assert_max_num_queries(25):
        assert browser.get(PAGE).status_code == 200


def test_programs_count_read_and_see_what_goes_with_a_rule(environment: Any, live: Any, token: Any) -> None:
    _row, secret = token("audit_read", "policy_read")
    headers = {"Authorization": f"Bearer {secret}"}
    url = "/api/v1/unmatched-rules"
    assert Client().get(url, headers=headers).json()["count"] is None
    call_record_write(live, "ls")
    asked = Client().post(url, headers=headers)
    assert asked.status_code == 202
    replay_run(Replay.objects.get().pk, at=timezone.now())
    page = Client().get(f"{url}?limit=2", headers=headers).json()
    assert (page["count"]["state"], page["idle"], page["next"], page["is_stale"]) == ("done", 1, 2, False)
    assert page["never"] == len(page["results"]) + len(
        Client().get(f"{url}?after=2", headers=headers).json()["results"]
    )
    rule = page["results"][0]
    assert (rule["kind"], rule["field"], rule["entry"], rule["path"]) == ("global", "deny", "x_search", "tools.deny")
    query = {name: rule[name] for name in ("kind", "record", "field", "entry")}
    blast = Client().get(f"{url}/effect", query, headers=headers).json()
    assert [change["gained"] for change in blast["changes"]] == [["x_search"]]
    assert Client().get(f"{url}/effect", query | {"entry": "ls"}, headers=headers).status_code == 404
    assert Client().get(f"{url}?standing=x", headers=headers).status_code in {400, 422}


def test_a_command_changes_no_list(environment: Any, live: Any, client_of: ClientOf, admin: Any) -> None:
    entry = allowlist_entry_create(environment, "*", "/**/nosuch", by=None)
    query = {"kind": "allowlist", "record": str(entry.pk)}
    browser = client_of(admin)
    assert "No list of tools changes." in browser.get(f"{PAGE}effect/", query).content.decode()
    assert browser.post(f"{PAGE}remove/", query | {"version": entry.version}).status_code == 302
    assert not AllowlistEntry.objects.exists()


@pytest.mark.parametrize("agent", ["*", "bot"])
def test_of_two_commands_alike_the_one_that_was_meant_goes(
    environment: Any, live: Any, client_of: ClientOf, admin: Any, agent: str
) -> None:
    entries = {key: allowlist_entry_create(environment, key, "/**/nosuch", by=None) for key in ("*", "bot")}
    meant, other = entries.pop(agent), *entries.values()
    query = {"kind": "allowlist", "record": str(meant.pk), "version": meant.version}
    assert client_of(admin).post(f"{PAGE}remove/", query).status_code == 302
    assert AllowlistEntry.objects.get() == other
