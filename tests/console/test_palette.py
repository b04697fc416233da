"""The palette: pages, actions, records, tools, people and calls, each only to whom its page is open."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from apps.accounts.selectors import users_named
from apps.console.palette import SHOWN
from apps.firewall.identifiers import id_range, new_id, show_id
from apps.policies.models import Agent, ChannelGroup
from apps.policies.services import guardrail_create, policy_test_create
from apps.registry.models import Environment
from apps.rows import rank_of_name

ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}
CAST = ("admin", "operator", "auditor", "viewer", "outsider")


def found(browser: Client, text: str) -> dict[str, Any]:
    """What the palette offers for a text, by label; of two with the same the first."""
    options = browser.get("/palette/", {"q": text}).context["options"]
    return {option.label: option for option in reversed(options)}


@pytest.mark.parametrize("name", CAST)
def test_everybody_signed_in_opens_it(
    name: str, client_of: ClientOf, draft: Any, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert {browser.get("/palette/", headers=part).status_code for part in ({}, HTMX)} == {200}
    assert browser.post("/palette/").status_code == 405
    assert "Sign out" in found(browser, "sign")


def test_nobody_else_does(client: Client, db: None) -> None:
    assert client.get("/palette/?q=a").status_code == 302
    assert client.get("/palette/?q=a", headers=HTMX).status_code == 401


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in {"admin", "viewer"} else pytest.mark.slow) for name in CAST]
)
def test_each_address_that_it_offers_opens_for_who_sees_it(
    name: str, client_of: ClientOf, published: Any, called: Any, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    call = show_id("call", called(tool="exec", agent="main"))
    for text in ("", "e", "main", "group:", "-100", call):
        for option in found(browser, text).values():
            if option.url:
                assert browser.get(option.url, follow=True).status_code == 200, option


def test_records_are_found_by_name_and_label(client_of: ClientOf, draft: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    assert found(browser, "ops-r")["ops-runner"].note == "Agent · Operations"
    assert "ops-runner" in found(browser, "OPERAT")
    assert "openai" in found(browser, "open")
    agent = found(browser, "ops-runner")["ops-runner"]
    assert browser.get(agent.url).headers["Location"] == "/agents/ops-runner/"


def test_guardrails_and_policy_tests_are_found(client_of: ClientOf, draft: Any, viewer: Any, admin: Any) -> None:
    form = {"requires": "never", "tools": ["exec"], "agents": ["main"]}
    rail = guardrail_create(draft, by=admin, name="nightly: nobody runs <b>exec</b>", form=form)
    case: dict[str, Any] = {"tool": "read", "verdict": "allowed", "context": {"agent_id": "main"}}
    test = policy_test_create(draft, by=admin, name="nightly reads", **case)
    browser = client_of(viewer)
    options = found(browser, "nightly")
    assert (options[rail.name].note, options[test.name].note) == ("Guardrail", "Policy test")
    for record in (rail, test):
        assert escape(record.name) in browser.get(options[record.name].url).content.decode()
    assert "<b>exec" not in browser.get("/palette/", {"q": "nightly"}).content.decode()


def test_tools_plugins_and_tool_groups_are_found(client_of: ClientOf, draft: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    assert found(browser, "web_fetch")["web_fetch"].url == "/tools/web_fetch/"
    assert found(browser, "group:fs")["group:fs"].url == "/tool-groups/group:fs/"


def test_somebody_without_a_role_learns_no_name(client_of: ClientOf, draft: Any, outsider: Any) -> None:
    browser = client_of(outsider)
    assert [*found(browser, "ops"), *found(browser, "exec"), *found(browser, "admin")] == []
    assert {option.url for option in found(browser, "").values() if option.url} == {"/notifications/", "/settings/"}


def test_only_who_manages_people_finds_them(client_of: ClientOf, draft: Any, make_user: Any, request: Any) -> None:
    make_user("zoe", role="viewer")
    seen = {name: "Zoe" in found(client_of(request.getfixturevalue(name)), "zoe") for name in CAST}
    assert [name for name, sees in seen.items() if sees] == ["admin"]


def test_only_who_reads_the_ledger_finds_calls(client_of: ClientOf, draft: Any, called: Any, request: Any) -> None:
    call = show_id("call", called(tool="exec", agent="main"))
    for text in (call, call[:20], f" {call} "):
        seen = {name: call in found(client_of(request.getfixturevalue(name)), text) for name in CAST}
        assert [name for name, sees in seen.items() if sees] == ["admin", "operator", "auditor"]


def test_calls_and_records_of_another_environment_stay_there(
    client_of: ClientOf, draft: Any, called: Any, admin: Any
) -> None:
    elsewhere = Environment.objects.create(slug="elsewhere", name="Elsewhere", position=9)
    Agent.objects.create(environment=elsewhere, key="stranger")
    call = show_id("call", called(environment="elsewhere"))
    browser = client_of(admin)
    assert found(browser, "stranger")["stranger"].id == "palette-search"
    assert not [option for option in found(browser, call).values() if option.url.startswith("/audit/calls/")]
    assert found(browser, "elsewhere")["Look at Elsewhere"].value == "elsewhere"


NO_CALLS = ["call_", "call_01", "call_!!!!!!!!", "call_zzzzzzzzz", "call_" + "0" * 27, "ap_0123456789"]


@pytest.mark.parametrize("text", NO_CALLS)
def test_what_begins_no_call_finds_none(client_of: ClientOf, draft: Any, called: Any, admin: Any, text: str) -> None:
    called()
    assert not [each for each in found(client_of(admin), text).values() if each.url.startswith("/audit/calls/")]


def test_a_beginning_counts_more_than_a_word_and_a_word_more_than_the_rest(
    client_of: ClientOf, draft: Any, viewer: Any
) -> None:
    for key in ("axbeam", "old-beam", "beam-1", "beam"):
        Agent.objects.create(environment=draft, key=key)
    options = client_of(viewer).get("/palette/?q=beam").context["options"]
    assert [option.label for option in options] == [
        "beam",
        "beam-1",
        "old-beam",
        "axbeam",
    ]


def test_what_one_types_is_text_not_a_pattern(client_of: ClientOf, draft: Any, admin: Any) -> None:
    Agent.objects.create(environment=draft, key="a.b(c%_*")
    browser = client_of(admin)
    for text in ("a.b(c", "(c%", "%_*"):
        assert "a.b(c%_*" in found(browser, text)
    for text in ("%", ".", "\\", "[", "***:", "(?", "x" * 900, "'\"<b>"):
        assert browser.get("/palette/", {"q": text}).status_code == 200
    for text in ("\0", "a\0b"):  # what nothing can store is refused at every door
        assert browser.get("/palette/", {"q": text}).status_code == 422
    assert "main" not in found(browser, "m.in")
    assert "<b>" not in browser.get("/palette/", {"q": "<b>"}, headers=HTMX).content.decode()


def test_actions_are_offered_to_who_may_take_them(client_of: ClientOf, draft: Any, admin: Any, viewer: Any) -> None:
    doing = {option.label for option in found(client_of(admin), "").values() if option.note == "Action"}
    assert {"Publish the draft", "Add agent", "Stop with the kill switch"} <= doing
    doing = {option.label for option in found(client_of(viewer), "").values() if option.note == "Action"}
    assert doing == {"Switch theme", "Sign out"}


def test_words_are_looked_for_in_audit_by_who_may(client_of: ClientOf, draft: Any, auditor: Any, viewer: Any) -> None:
    assert found(client_of(auditor), "rm -rf & more")["rm -rf & more"].url == "/audit/?q=rm+-rf+%26+more"
    assert "rm -rf" not in found(client_of(viewer), "rm -rf")


def test_the_language_is_chosen_from_it(client_of: ClientOf, draft: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    assert found(browser, "简")["简体中文"].value == "zh-hans"
    answer = browser.post("/language/", {"language": "zh-hans", "next": "/agents/"})
    assert answer.headers["Location"] == "/agents/"
    viewer.refresh_from_db()
    assert viewer.language == "zh-hans"
    assert "English" in found(browser, "eng")
    elsewhere = browser.post("/language/", {"language": "en", "next": "https://evil.example/"})
    assert elsewhere.headers["Location"] == "/settings/"
    assert browser.post("/language/", {"language": "xx"}).status_code == 400
    assert browser.get("/language/").status_code == 405


def test_the_list_alone_is_what_htmx_gets(client_of: ClientOf, draft: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    text = browser.get("/palette/", {"q": "ops"}, headers=HTMX).content.decode()
    assert text.startswith('<div id="palette-list"')
    assert 'role="option"' in text
    assert "<html" in browser.get("/palette/", {"q": "ops"}).content.decode()
    nothing = browser.get("/palette/", {"q": "nothing has this name"}, headers=HTMX).content.decode()
    assert 'aria-disabled="true"' in nothing


def test_every_page_holds_the_dialog_and_a_link_that_works_without_scripts(
    client_of: ClientOf, draft: Any, viewer: Any
) -> None:
    text = client_of(viewer).get("/agents/").content.decode()
    assert '<a class="cmdk" href="/palette/" data-dialog="#palette"' in text
    assert '<dialog id="palette"' in text
    assert 'hx-get="/palette/"' in text


@pytest.mark.slow
def test_ten_thousand_groups_cost_no_more_questions(
    client_of: ClientOf, draft: Any, admin: Any, django_assert_max_num_queries: Any
) -> None:
    channel = ChannelGroup.objects.get().channel
    ChannelGroup.objects.bulk_create(
        ChannelGroup(environment=draft, channel=channel, key=f"-2{number:05}") for number in range(10_000)
    )
    browser = client_of(admin)
    browser.get("/palette/", headers=HTMX)
    with django_assert_max_num_queries(8):
        options = browser.get("/palette/", {"q": "-2000"}, headers=HTMX).context["options"]
    assert len(options) <= SHOWN + 1


NAMES = st.text(alphabet="ab-_/ É", max_size=8)


@given(name=NAMES, text=st.text(alphabet="ab-_/É", min_size=1, max_size=3))
def test_the_rank_says_where_a_name_holds_a_text(name: str, text: str) -> None:
    rank, low, wanted = rank_of_name(name, text), name.casefold(), text.casefold()
    assert (rank is None) is (wanted not in low)
    assert (rank == 0) is low.startswith(wanted)
    after = any(low.startswith(wanted, place) and not low[place - 1].isalnum() for place in range(1, len(low)))
    assert (rank == 1) is (after and not low.startswith(wanted))


def test_rows_have_the_same_rank_as_other_names(make_user: Any) -> None:
    for username in ("ann", "old_ann", "joann"):
        make_user(username)
    rows = {user.username: user.rank for user in users_named("ann", limit=9)}  # type: ignore[attr-defined]
    assert rows == {name: rank_of_name(name, "ann") for name in rows}
    assert list(rows.values()) == [0, 1, 2]


@given(letters=st.integers(1, 26), bits=st.integers(0, 2**74))
def test_an_identifier_lies_in_the_range_of_each_of_its_beginnings(letters: int, bits: int) -> None:
    identifier = new_id(bits % 2**47)
    shown = show_id("call", identifier)[: len("call_") + letters]
    first, last = id_range("call", shown)
    assert first <= identifier <= last
    assert show_id("call", first).startswith(shown)
    assert show_id("call", last).startswith(shown)
