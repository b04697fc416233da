"""Rules by sender in their three scopes: the page of a rule, what its key means, what it would do."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.models import Agent, ChannelGroup, SenderRule
from apps.policies.selectors import live_publication
from apps.policies.services import document_import, publish, record_update, sender_rule_create

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
DOCUMENT = {
    "agents": {
        "ownership": "explicit",
        "entries": {
            "main": {"tools": {"toolsBySender": {"id:7": {"deny": ["write"]}, "name:Ann": {"deny": ["exec"]}}}},
            "ops": {},
        },
    },
    "channels": {
        "telegram": {"groups": {"-100": {"toolsBySender": {"id:7": {"deny": ["exec"]}, "*": {"deny": ["write"]}}}}}
    },
}
VALUES = {"version": "1", "key": "id:7", "also_allow": "", "allow": "read", "deny": ""}


@pytest.fixture
def ruled(environment: Any, admin: Any) -> Any:
    """An environment with rules in a group and with an agent, which are live."""
    document_import(environment, json.dumps(DOCUMENT), by=admin)
    publish(environment, by=admin, message="first", expected_live="")
    return environment


def start(scope: str) -> str:
    return f"/groups/{ChannelGroup.objects.get(key='-100').pk}/" if scope == "group" else "/agents/main/"


def rule(scope: str, key: str = "id:7") -> SenderRule:
    return SenderRule.objects.get(key=key, agent__isnull=scope == "group")


def page(scope: str, part: str = "", key: str = "id:7") -> str:
    return f"{start(scope)}senders/{rule(scope, key).pk}/{part}"


SCOPES = ["group", "agent"]


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_one(
    name: str, scope: str, client_of: ClientOf, ruled: Any, request: pytest.FixtureRequest
) -> None:
    answer = client_of(request.getfixturevalue(name)).get(page(scope))
    assert answer.status_code == 200
    assert ("Save to draft" in answer.content.decode()) is (name == "admin")


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_one(
    name: str, scope: str, client_of: ClientOf, ruled: Any, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    paths = (page(scope), page(scope, "delete/"), f"{start(scope)}senders/new/")
    assert {browser.post(path, VALUES).status_code for path in paths} == {403}
    assert (rule(scope).version, SenderRule.objects.count()) == (1, 4)


@pytest.mark.parametrize("scope", SCOPES)
def test_an_admin_adds_saves_and_deletes_one(scope: str, client_of: ClientOf, ruled: Any, admin: Any) -> None:
    browser = client_of(admin)
    back = start(scope) if scope == "group" else "/agents/main/senders/"
    added = browser.post(f"{start(scope)}senders/new/", {"version": "0", "key": "e164:+46701", "deny": "exec"})
    assert (added.status_code, added["Location"]) == (302, back)
    assert rule(scope, "e164:+46701").deny == ["exec"]
    saved = browser.post(page(scope), VALUES)
    assert (saved.status_code, saved["Location"]) == (302, back)
    assert (rule(scope).allow, rule(scope).deny) == (["read"], None)
    assert browser.post(page(scope, "delete/"), {"version": "1"}).status_code == 409
    assert browser.post(page(scope, "delete/"), {"version": "2"})["Location"] == back
    assert not SenderRule.objects.filter(key="id:7", agent__isnull=scope == "group").exists()


def test_a_rule_is_found_in_its_own_scope_only(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    assert client_of(viewer).get(f"/agents/ops/senders/{rule('agent').pk}/").status_code == 404
    assert client_of(viewer).get(f"/agents/main/senders/{rule('group').pk}/").status_code == 404
    assert client_of(viewer).get(f"/agents/nobody/senders/{rule('agent').pk}/").status_code == 404


def test_a_key_that_is_there_already_is_refused_beside_the_field(client_of: ClientOf, ruled: Any, admin: Any) -> None:
    answer = client_of(admin).post(f"{start('group')}senders/new/", VALUES | {"version": "0"})
    assert answer.status_code == 422
    assert SenderRule.objects.count() == 4
    assert "Nothing was saved." in answer.content.decode()


def test_a_second_writer_sees_both_sides(client_of: ClientOf, ruled: Any, admin: Any) -> None:
    record_update(rule("group"), {"deny": ["read"]}, by=admin, expected_version=1)
    answer = client_of(admin).post(page("group"), VALUES | {"deny": "message"})
    assert answer.status_code == 409
    assert rule("group").deny == ["read"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("id: 7 ", "means the same sender as `id:7`, which counts"),
        ("7", "`id:7` means the same sender as `7`, which counts"),
        ("id:", "can match nobody"),
        ("@lead", "write `username:lead`"),
        ("+46701234567", "write `e164:+46701234567`"),
        ("name:Build Bot", "Anyone can pick this display name."),
    ],
)
def test_remarks_on_a_key_stand_beside_the_field(
    key: str, said: str, client_of: ClientOf, ruled: Any, viewer: Any
) -> None:
    typed = {"version": "0", "key": key, "deny": "exec"}
    answer = client_of(viewer).post(f"{start('group')}senders/new/preview/", typed, headers=HTMX)
    assert said in answer.content.decode()


def test_a_sound_key_has_no_remark(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    typed = {"version": "0", "key": "id:4410087731", "deny": "exec"}
    answer = client_of(viewer).post(f"{start('group')}senders/new/preview/", typed, headers=HTMX)
    assert answer.context["key_remarks"] == []


def decisive(answer: Any) -> tuple[str, str]:
    return next((step.title, step.key) for step in answer.context["ladder"].steps if step.outcome == "decides")


def test_the_sender_of_a_rule_is_tried_on_its_page(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    assert decisive(client_of(viewer).get(page("group"))) == ("This group, by id", "id:7")
    assert decisive(client_of(viewer).get(page("agent"))) == ("Agent main, by id", "id:7")


def test_a_rule_that_is_typed_wins_or_not_before_it_is_stored(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    browser, typed = client_of(viewer), {"version": "0", "key": "username:lead", "deny": "exec"}
    answer = browser.post(f"{start('group')}senders/new/preview/", typed | {"try_username": "LEAD"}, headers=HTMX)
    assert decisive(answer) == ("This group, by username", "username:lead")
    beaten = typed | {"try_username": "lead", "try_id": "7"}
    answer = browser.post(f"{start('group')}senders/new/preview/", beaten, headers=HTMX)
    assert decisive(answer) == ("This group, by id", "id:7")
    assert SenderRule.objects.count() == 4


def test_a_changed_key_takes_the_rule_with_it(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    typed = {"version": "1", "key": "id:8", "deny": "exec", "try_id": "7"}
    answer = client_of(viewer).post(page("group", "preview/"), typed, headers=HTMX)
    assert decisive(answer) == ("This group, any other sender", "*")


def test_changed_lists_show_what_is_left(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    typed = {"version": "1", "key": "id:7", "allow": "", "deny": "read", "try_id": "7"}
    for scope in SCOPES:
        answer = browser.post(page(scope, "preview/"), typed, headers=HTMX)
        assert answer.status_code == 200
        funnel = answer.context["funnel"]
        assert "read" not in {chip.name for chip in funnel.allowed}
        assert "read" in funnel.lost


def test_without_scripts_the_preview_is_the_whole_page(client_of: ClientOf, ruled: Any, viewer: Any) -> None:
    text = client_of(viewer).post(page("group", "preview/"), VALUES | {"deny": "nodes"}).content.decode()
    assert "<html" in text
    assert ">nodes</textarea>" in text
    assert client_of(viewer).get(page("group", "preview/")).status_code == 405


def test_the_list_goes_in_the_order_in_which_keys_are_tried(
    client_of: ClientOf, ruled: Any, viewer: Any, admin: Any
) -> None:
    group = ChannelGroup.objects.get(key="-100")
    for key in ("name:Bob", "username:bob", "channel:telegram:9", "e164:+15"):
        sender_rule_create(ruled, key, by=admin, group=group)
    rows = client_of(viewer).get(start("group")).context["rules"]
    assert [(row.tried, row.kind, row.state) for row in rows] == [
        (1, "channel", "created"),
        (2, "id", ""),
        (3, "e164", "created"),
        (4, "username", "created"),
        (5, "name", "created"),
        (6, "*", ""),
    ]
    assert [row.is_spoofable for row in rows].count(True) == 1


def test_an_agent_s_rules_have_their_page(
    client_of: ClientOf, ruled: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get("/agents/main/senders/")  # the draft is compiled once
    with django_assert_max_num_queries(25):
        answer = browser.get("/agents/main/senders/")
    assert [row.record.key for row in answer.context["rules"]] == ["id:7", "name:Ann"]
    part = browser.get("/agents/main/senders/", {"try_name": "ann"}, headers=HTMX)
    assert "<html" not in part.content.decode()
    assert decisive(part) == ("Agent main, by name", "name:Ann")


def test_an_older_release_says_that_it_asks_no_rule_outside_groups(
    client_of: ClientOf, ruled: Any, viewer: Any
) -> None:
    ruled.dialect = "2026.2"
    ruled.save(update_fields=["dialect"])
    text = client_of(viewer).get("/agents/main/senders/").content.decode()
    assert "This release knows rules by sender in groups only." in text


def test_long_lists_have_pages_and_a_search(client_of: ClientOf, ruled: Any, viewer: Any, admin: Any) -> None:
    group = ChannelGroup.objects.get(key="-100")
    SenderRule.objects.bulk_create(
        SenderRule(environment=ruled, group=group, key=f"id:{number}", position=number) for number in range(1000, 1120)
    )
    browser = client_of(viewer)
    first = browser.get(start("group")).context
    assert (len(first["rules"]), first["rules_page"].pages, first["rules_page"].total) == (50, 3, 122)
    assert len(browser.get(start("group"), {"rules_page": "3"}).context["rules"]) == 22
    assert [row.record.key for row in browser.get(start("group"), {"rules_q": "1077"}).context["rules"]] == ["id:1077"]


def test_a_live_rule_is_laid_beside_what_is_typed(client_of: ClientOf, ruled: Any, viewer: Any, admin: Any) -> None:
    record_update(rule("group"), {"deny": ["exec", "read"]}, by=admin, expected_version=1)
    fields = {field.name: field for field in client_of(viewer).get(page("group")).context["fields"]}
    assert (fields["deny"].live, fields["deny"].added) == (("exec",), 1)
    live = live_publication(ruled)
    assert live is not None
    publish(ruled, by=admin, message="second", expected_live=live.snapshot_id)
    fields = {field.name: field for field in client_of(viewer).get(page("group")).context["fields"]}
    assert fields["deny"].added == 0
    assert Agent.objects.count() == 2
