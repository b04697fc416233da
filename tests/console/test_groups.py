"""Channel groups: the list, one group against what is live, the ladder of a sender, what a change would leave."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.decide import allowed_tools
from apps.policies.models import Channel, ChannelAccount, ChannelGroup
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import document_import, group_create, publish, record_update, sender_rule_create

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
VALUES = {"version": "1", "key": "-100", "also_allow": "", "allow": "", "deny": "exec\nwrite", "has_tools": "on"}
DOCUMENT = {
    "agents": {"ownership": "explicit", "entries": {"main": {}, "ops": {}}},
    "channels": {
        "telegram": {
            "groups": {
                "*": {"tools": {"deny": ["exec"]}},
                "-100": {
                    "name": "War room",
                    "tools": {"deny": ["exec"]},
                    "toolsBySender": {
                        "id:7": {"deny": ["message"]},
                        "username:lead": {"allow": ["read", "exec"]},
                        "name:Build Bot": {"deny": ["read"]},
                        "*": {"deny": ["exec", "write"]},
                    },
                },
                "-200": {},
            }
        },
        "discord": {"guilds": {"9": {"channels": {"help": {"tools": {"deny": ["write"]}}}}}},
        "whatsapp": {"accounts": {"work": {"groups": {"120@g.us": {"tools": {"deny": ["read"]}}}}}},
    },
}


@pytest.fixture
def grouped(environment: Any, admin: Any) -> Any:
    """An environment with groups of four kinds whose draft is live."""
    document_import(environment, json.dumps(DOCUMENT), by=admin)
    publish(environment, by=admin, message="first", expected_live="")
    return environment


def group(key: str = "-100") -> ChannelGroup:
    return ChannelGroup.objects.get(key=key)


def page(part: str = "", key: str = "-100") -> str:
    return f"/groups/{group(key).pk}/{part}"


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(name: str, client_of: ClientOf, grouped: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path in ("/groups/", page(), page("history/")):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert ("Save to draft" in answer.content.decode()) is (name == "admin" and path == page())


def test_an_outsider_does_not_and_an_unknown_one_is_not_found(
    client_of: ClientOf, grouped: Any, outsider: Any, viewer: Any
) -> None:
    assert {client_of(outsider).get(path).status_code for path in ("/groups/", page())} == {403}
    assert client_of(viewer).get(f"/groups/{grouped.pk}/").status_code == 404


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_them(name: str, client_of: ClientOf, grouped: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    paths = ("/groups/", page(), page("discard/"), page("delete/"))
    assert {browser.post(path, VALUES | {"channel": "telegram"}).status_code for path in paths} == {403}
    assert (group().version, ChannelGroup.objects.count()) == (1, 6)


def test_the_list_goes_by_channel_and_what_lies_inside_comes_below(
    client_of: ClientOf, grouped: Any, viewer: Any
) -> None:
    rows = client_of(viewer).get("/groups/").context["rows"]
    assert [(row.heading, row.record.key, row.is_inside) for row in rows] == [
        ("telegram", "*", False),
        ("", "-100", False),
        ("", "-200", False),
        ("discord", "9", False),
        ("", "help", True),
        ("whatsapp", "120@g.us", False),
    ]
    assert [row.senders for row in rows] == [0, 4, 0, 0, 0, 0]
    assert [row.label for row in rows][:2] == ["Default for telegram", "War room"]
    assert "account work" in rows[-1].label


@pytest.mark.parametrize(("query", "keys"), [("WAR", ["-100"]), ("work", ["120@g.us"]), ("9", ["9", "help"])])
def test_a_group_is_found_by_its_name_or_by_what_is_around_it(
    query: str, keys: list[str], client_of: ClientOf, grouped: Any, viewer: Any
) -> None:
    rows = client_of(viewer).get("/groups/", {"groups_q": query}).context["rows"]
    assert [row.record.key for row in rows] == keys


@pytest.mark.slow
def test_the_list_has_pages_and_a_group_s_own_page_shows_the_one_that_holds_it(
    client_of: ClientOf, grouped: Any, viewer: Any, admin: Any, django_assert_max_num_queries: Any
) -> None:
    telegram = Channel.objects.get(key="telegram")
    made = [group_create(telegram, f"-9{number:03}", by=admin) for number in range(130)]
    browser = client_of(viewer)
    context = browser.get("/groups/", {"groups_page": "2"}).context
    assert (context["page"].number, context["page"].pages, len(context["rows"])) == (2, 3, 60)
    browser.get(page())  # the draft is compiled once
    with django_assert_max_num_queries(25):
        answer = browser.get(f"/groups/{made[120].pk}/")
    assert made[120].pk in {row.record.pk for row in answer.context["rows"]}
    assert answer.context["page"].number == 3
    assert browser.get("/groups/", {"groups_page": "x"}).context["page"].number == 1
    assert browser.get("/groups/", {"groups_page": "999"}).context["page"].number == 3


def test_what_was_written_since_the_publication_is_marked(
    client_of: ClientOf, grouped: Any, viewer: Any, admin: Any
) -> None:
    record_update(group("-200"), {"deny": ["read"]}, by=admin, expected_version=1)
    sender_rule_create(grouped, "id:9", by=admin, group=group())
    group_create(Channel.objects.get(key="telegram"), "-300", by=admin)
    rows = client_of(viewer).get("/groups/").context["rows"]
    assert {row.record.key: row.state for row in rows if row.state} == {
        "-100": "changed",
        "-200": "changed",
        "-300": "created",
    }


def test_an_admin_adds_a_group_with_all_that_is_missing_around_it(
    client_of: ClientOf, grouped: Any, admin: Any
) -> None:
    wanted = {
        "channel": "msteams",
        "account": "eu",
        "kind": "groups",
        "space": "T1",
        "space_kind": "teams",
        "key": "C1",
    }
    answer = client_of(admin).post("/groups/", wanted)
    made = group("C1")
    assert (answer.status_code, answer["Location"]) == (302, page(key="C1"))
    assert (made.channel.key, made.kind, made.parent and (made.parent.kind, made.parent.key)) == (
        "msteams",
        "channels",
        ("teams", "T1"),
    )
    assert made.account == ChannelAccount.objects.get(key="eu")
    again = client_of(admin).post("/groups/", wanted)
    assert again.status_code == 422
    assert Channel.objects.filter(key="msteams").count() == 1


def test_a_group_without_its_channel_is_refused_beside_the_field(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    answer = client_of(admin).post("/groups/", {"kind": "groups", "key": "-5"})
    assert answer.status_code == 422
    assert "channel" in answer.context["form"].errors


def test_an_admin_saves_discards_and_deletes_one(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    browser, address = client_of(admin), page()
    answer = browser.post(address, VALUES)
    assert (answer.status_code, answer["Location"]) == (302, address)
    assert (group().deny, group().version) == (["exec", "write"], 2)
    assert browser.get(address).context["changed"] == 1
    assert browser.post(f"{address}discard/").status_code == 302
    assert group().deny == ["exec"]
    assert browser.post(f"{address}delete/", {"version": "1"}).status_code == 409
    assert browser.post(f"{address}delete/", {"version": "3"}).status_code == 302
    assert not ChannelGroup.objects.filter(key="-100").exists()
    assert {browser.get(f"{address}{part}").status_code for part in ("preview/", "discard/", "delete/")} == {405}


def test_empty_lists_pass_on_unless_the_group_answers_by_itself(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    browser = client_of(admin)
    empty = {"version": "1", "key": "-200", "also_allow": "", "allow": "", "deny": ""}
    assert browser.post(page(key="-200"), empty | {"has_tools": "on"}).status_code == 302
    assert group("-200").has_tools is True
    assert browser.post(page(key="-200"), empty | {"version": "2"}).status_code == 302
    assert (group("-200").has_tools, group("-200").deny) == (False, None)


def test_a_second_writer_sees_both_sides(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    record_update(group(), {"deny": ["read"]}, by=admin, expected_version=1)
    answer = client_of(admin).post(page(), VALUES)
    assert answer.status_code == 409
    assert "Somebody changed this" in answer.content.decode()
    assert group().deny == ["read"]
    settled = client_of(admin).post(page(), VALUES | {"version": "2", "choose_deny": "theirs"})
    assert settled.status_code == 302
    assert group().deny == ["read"]


def steps(answer: Any) -> list[tuple[str, str]]:
    return [(step.title, step.outcome) for step in answer.context["ladder"].steps]


def test_the_ladder_tells_what_is_tried_and_what_is_not_read(client_of: ClientOf, grouped: Any, viewer: Any) -> None:
    tried = {"agent": "main", "try_id": "90017722", "try_username": "@Lead", "try_name": "build bot"}
    answer = client_of(viewer).post(page("preview/"), tried, headers=HTMX)
    assert steps(answer) == [
        ("This group, by channel", "no_match"),
        ("This group, by id", "no_match"),
        ("This group, by e164", "no_match"),
        ("This group, by username", "decides"),
        ("This group, by name", "not_read"),
        ("This group, any other sender", "not_read"),
        ("This group, everyone", "not_read"),
        ("telegram › *, everyone", "not_read"),
        ("No rule of the channel", "not_read"),
    ]
    text = answer.content.decode()
    assert "90017722 is not listed" in text
    assert "the sender has no phone number" in text


def test_the_ladder_follows_what_is_typed_and_stores_nothing(client_of: ClientOf, grouped: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    typed = {"version": "1", "key": "-200", "also_allow": "", "allow": "", "deny": "read", "agent": "main"}
    saved = browser.post(page("preview/", "-200"), {"agent": "main"}, headers=HTMX)
    assert ("telegram › *, everyone", "decides") in steps(saved)
    answer = browser.post(page("preview/", "-200"), typed, headers=HTMX)
    assert ("This group, everyone", "decides") in steps(answer)
    left = {chip.name for chip in answer.context["funnel"].allowed}
    known = set(allowed_tools(draft_snapshot(grouped), CallContext(agent_id="main")))
    assert "read" not in left and "exec" in left & known
    assert (group("-200").version, group("-200").has_tools) == (1, False)


def test_the_funnel_is_the_engine_s(client_of: ClientOf, grouped: Any, viewer: Any) -> None:
    answer = client_of(viewer).post(page("preview/"), {"agent": "ops", "try_id": "7"}, headers=HTMX)
    context = CallContext(
        agent_id="ops", session_key="agent:ops:telegram:group:-100", channel="telegram", sender_id="7"
    )
    expected = allowed_tools(draft_snapshot(grouped), context)
    assert tuple(chip.name for chip in answer.context["funnel"].allowed) == expected


@pytest.mark.parametrize("key", ["help", "120@g.us", "9", "*"])
def test_every_kind_of_group_is_reached_by_its_own_ladder(
    key: str, client_of: ClientOf, grouped: Any, viewer: Any
) -> None:
    answer = client_of(viewer).get(page(key=key))
    if key == "9":
        assert ("No rule of the channel", "decides") in steps(answer)
    else:
        assert ("This group, everyone", "decides") in steps(answer)


def test_without_scripts_the_preview_is_the_whole_page(client_of: ClientOf, grouped: Any, viewer: Any) -> None:
    text = client_of(viewer).post(page("preview/"), VALUES | {"deny": "nodes"}).content.decode()
    assert "<html" in text
    assert ">nodes</textarea>" in text


def test_remarks_stand_beside_the_fields(client_of: ClientOf, grouped: Any, viewer: Any) -> None:
    typed = VALUES | {"deny": "exce", "key": "war-room"}
    text = client_of(viewer).post(page("preview/"), typed, headers=HTMX).content.decode()
    assert "exce is no tool, group or plugin." in text
    assert "no group of this channel has the key `war-room`" in text


def test_hostile_names_are_shown_as_text(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    made = group_create(Channel.objects.get(key="telegram"), "<img src=x>\u202e", by=admin)
    text = client_of(admin).get(f"/groups/{made.pk}/").content.decode()
    assert "<img src=x>" not in text
    assert "U+202E" in text


def test_records_of_channels_lead_to_their_pages(client_of: ClientOf, grouped: Any, viewer: Any) -> None:
    browser, rule = client_of(viewer), group().sender_rules.get(key="id:7")
    assert browser.get(f"/records/group/{group().pk}/")["Location"] == page()
    assert browser.get(f"/records/sender/{rule.pk}/")["Location"] == page(f"senders/{rule.pk}/")
    channel = Channel.objects.get(key="discord")
    assert browser.get(f"/records/channel/{channel.pk}/")["Location"] == "/groups/?groups_q=discord"


def test_history_names_the_group_and_its_rules(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    record_update(group(), {"deny": ["read"]}, by=admin, expected_version=1)
    entries = client_of(admin).get(page("history/")).context["entries"]
    assert entries[0].actor == "admin"
    assert "toolsBySender.id:7" in {entry.place for entry in entries}


def test_a_group_that_was_never_published_is_new(client_of: ClientOf, grouped: Any, admin: Any) -> None:
    made = group_create(Channel.objects.get(key="telegram"), "-300", by=admin)
    context = client_of(admin).get(f"/groups/{made.pk}/").context
    assert context["is_new"] is True
    assert client_of(admin).post(f"/groups/{made.pk}/discard/").status_code == 404
    live = live_publication(grouped)
    assert live is not None
    publish(grouped, by=admin, message="second", expected_live=live.snapshot_id)
    assert client_of(admin).get(f"/groups/{made.pk}/").context["is_new"] is False


@pytest.mark.parametrize("key", ["42", "7"])
def test_a_direct_chat_that_was_imported_has_its_page(
    environment: Any, admin: Any, client_of: ClientOf, key: str
) -> None:
    block = {"tools": {"deny": ["exec"]}, "toolsBySender": {"id:1": {"deny": ["read"]}}}
    telegram = {"direct": {"42": block}, "accounts": {"work": {"direct": {"7": block}}}}
    document_import(environment, json.dumps({"channels": {"telegram": telegram}}), by=admin)
    browser = client_of(admin)
    for part in ("", "history/"):
        assert browser.get(page(part, key)).status_code == 200
    previewed = browser.post(page("preview/", key), VALUES | {"key": key}, headers=HTMX)
    assert previewed.status_code == 200
    assert browser.get(f"/groups/{group(key).pk}/?sender_id=1").status_code == 200
