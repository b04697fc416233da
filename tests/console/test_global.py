"""The global policy and the rules by provider of every agent: saving, previewing, what is live beside what is typed."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools, decide
from apps.policies.models import GlobalPolicy, ProviderPolicy
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import provider_policy_create, publish, record_update, sender_rule_create

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
PAGE = "/global/"
VALUES = {
    "version": "1",
    "profile": "*inherit",
    "also_allow": "",
    "allow": "",
    "deny": "x_search\nexec",
    "sandbox_also_allow": "",
    "sandbox_allow": "read",
    "sandbox_deny": "",
    "subagent_also_allow": "",
    "subagent_allow": "",
    "subagent_deny": "message",
    "max_spawn_depth": "3",
    "owners": "telegram:1001\nslack:U1",
}


def policy() -> GlobalPolicy:
    return GlobalPolicy.objects.get()


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path in (PAGE, f"{PAGE}history/", f"{PAGE}senders/"):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert ("Save to draft" in answer.content.decode()) is (name == "admin" and path == PAGE)


def test_an_outsider_does_not(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert {client_of(outsider).get(path).status_code for path in (PAGE, f"{PAGE}senders/")} == {403}


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_it(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    paths = (PAGE, f"{PAGE}discard/", f"{PAGE}providers/new/", f"{PAGE}senders/new/")
    assert {browser.post(path, VALUES | {"key": "openai"}).status_code for path in paths} == {403}
    assert (policy().version, ProviderPolicy.objects.filter(agent=None).count()) == (1, 0)


def test_an_environment_without_a_policy_leads_to_the_import(client_of: ClientOf, environment: Any, admin: Any) -> None:
    answer = client_of(admin).get(PAGE)
    assert answer.status_code == 200
    assert "The environment has no policy yet" in answer.content.decode()
    assert client_of(admin).post(PAGE, VALUES).status_code == 404


def test_an_admin_saves_and_discards_it(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    answer = browser.post(PAGE, VALUES)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    saved = policy()
    assert (saved.deny, saved.sandbox_allow, saved.subagent_deny) == (["x_search", "exec"], ["read"], ["message"])
    assert (saved.max_spawn_depth, saved.owners, saved.profile) == (3, ["telegram:1001", "slack:U1"], None)
    assert browser.get(PAGE).context["changed"] == 4
    assert browser.post(f"{PAGE}discard/").status_code == 302
    assert (policy().deny, policy().sandbox_allow, policy().max_spawn_depth) == (["x_search"], None, None)
    assert browser.get(f"{PAGE}discard/").status_code == 405


def test_saving_what_is_there_changes_nothing(client_of: ClientOf, published: Any, admin: Any) -> None:
    same = dict.fromkeys(VALUES, "") | {"version": "1", "deny": "x_search", "owners": "telegram:1001"}
    assert client_of(admin).post(PAGE, same).status_code == 302
    assert policy().version == 1


def test_groups_that_no_key_leads_to_are_refused_until_somebody_says_otherwise(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    browser = client_of(admin)
    claimed = CallContext(agent_id="main", channel="telegram", group_id="-1")

    def layer() -> str | None:
        return decide(draft_snapshot(policy().environment), claimed, "read").layer

    assert layer() == "group_unproven"
    shown = browser.get(PAGE).content.decode()
    assert '<option value="True" selected>Refuse the call' in shown

    assert browser.post(PAGE, VALUES | {"refuse_unproven_groups": "False"}).status_code == 302
    assert layer() is None
    assert browser.post(PAGE, VALUES | {"version": "2"}).status_code == 302  # a form that does not speak of it
    assert policy().refuse_unproven_groups is False
    assert browser.post(PAGE, VALUES | {"version": "2", "refuse_unproven_groups": "no"}).status_code == 422
    assert browser.post(f"{PAGE}discard/").status_code == 302
    assert layer() == "group_unproven"


def test_owners_that_are_numbers_stay_numbers(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(policy(), {"owners": [1001, "telegram:7"]}, by=admin, expected_version=1)
    assert client_of(admin).post(PAGE, VALUES | {"version": "2", "owners": "1001\n8"}).status_code == 302
    assert policy().owners == [1001, "8"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [("max_spawn_depth", "9", "less than or equal to 5"), ("profile", "nobody", "is not a profile")],
)
def test_a_mistake_is_told_beside_its_field(
    field: str, value: str, said: str, client_of: ClientOf, published: Any, admin: Any
) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {field: value})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert policy().version == 1


def test_a_second_writer_sees_both_sides(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(policy(), {"deny": ["read"]}, by=admin, expected_version=1)
    answer = client_of(admin).post(PAGE, VALUES)
    assert answer.status_code == 409
    assert policy().deny == ["read"]


def test_the_preview_is_what_would_be_decided(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    typed = VALUES | {"agent": "main", "depth": "1", "sandbox": "on"}
    shown = browser.post(f"{PAGE}preview/", typed, headers=HTMX).context
    assert policy().version == 1
    browser.post(PAGE, VALUES)
    context = CallContext(agent_id="main", sandboxed=True, subagent_depth=1)
    assert tuple(chip.name for chip in shown["funnel"].allowed) == allowed_tools(draft_snapshot(published), context)


def test_whom_a_change_meets_is_counted(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    same = browser.get(PAGE).context["effect"]
    assert (list(same.gain), list(same.lose), same.agents) == ([], [], 2)
    effect = browser.post(f"{PAGE}preview/", VALUES, headers=HTMX).context["effect"]
    assert dict(effect.lose) == {"main": 1, "ops-runner": 1}
    assert list(effect.gain) == []


def test_without_scripts_the_preview_is_the_whole_page(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).post(f"{PAGE}preview/", VALUES | {"deny": "raed"}).content.decode()
    assert "<html" in text
    assert ">raed</textarea>" in text
    assert "raed is no tool, group or plugin." in text


def test_the_page_needs_few_queries(
    client_of: ClientOf, published: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get(PAGE)
    with django_assert_max_num_queries(25):
        assert browser.get(PAGE).status_code == 200


def test_rules_by_provider_are_added_changed_and_deleted(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    assert (
        browser.post(f"{PAGE}providers/new/", {"key": "openai", "profile": "*inherit", "deny": "exec"})["Location"]
        == PAGE
    )
    rule = ProviderPolicy.objects.get(agent=None)
    address = f"{PAGE}providers/{rule.pk}/"
    assert "openai" in browser.get(PAGE).content.decode()
    assert browser.get(f"/records/provider/{rule.pk}/")["Location"] == address
    changed = {"key": "openai/gpt-5", "profile": "minimal", "deny": "exec\nread", "version": "1"}
    assert browser.post(address, changed).status_code == 302
    rule.refresh_from_db()
    assert (rule.key, rule.profile, rule.deny) == ("openai/gpt-5", "minimal", ["exec", "read"])
    assert browser.post(address, changed | {"deny": "write"}).status_code == 409
    assert browser.post(address, changed | {"version": "2", "key": ""}).status_code == 422
    assert browser.post(f"{address}delete/", {"version": "2"}).status_code == 302
    assert not ProviderPolicy.objects.filter(agent=None).exists()


def test_a_rule_of_an_agent_is_not_found_here(client_of: ClientOf, published: Any, admin: Any) -> None:
    rule = ProviderPolicy.objects.get(agent__key="ops-runner")
    assert client_of(admin).get(f"{PAGE}providers/{rule.pk}/").status_code == 404


def test_a_live_rule_stands_beside_what_is_typed(client_of: ClientOf, published: Any, admin: Any) -> None:
    rule = provider_policy_create(published, "openai", by=admin, deny=["exec"])
    live = live_publication(published)
    assert live is not None
    publish(published, by=admin, message="second", expected_live=live.snapshot_id)
    record_update(rule, {"deny": ["exec", "read"]}, by=admin, expected_version=1)
    fields = {field.name: field for field in client_of(admin).get(f"{PAGE}providers/{rule.pk}/").context["fields"]}
    assert fields["deny"].added == 1


def test_rules_by_sender_of_everybody_have_their_pages(client_of: ClientOf, published: Any, admin: Any) -> None:
    rule = sender_rule_create(published, "id:7", by=admin, deny=["exec"])
    browser = client_of(admin)
    answer = browser.get(f"{PAGE}senders/", {"try_id": "7"})
    assert [row.record.pk for row in answer.context["rules"]] == [rule.pk]
    assert [step.title for step in answer.context["ladder"].steps if step.outcome == "decides"] == [
        "Every agent, by id"
    ]
    address = f"{PAGE}senders/{rule.pk}/"
    assert browser.get(f"/records/sender/{rule.pk}/")["Location"] == address
    saved = browser.post(address, {"version": "1", "key": "id:8", "deny": "read"})
    assert (saved.status_code, saved["Location"]) == (302, f"{PAGE}senders/")
    assert browser.post(f"{address}delete/", {"version": "2"}).status_code == 302


def test_history_names_who_changed_it(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(policy(), {"deny": ["read"]}, by=admin, expected_version=1)
    assert client_of(admin).get(f"{PAGE}history/").context["entries"][0].actor == "admin"
