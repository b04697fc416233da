"""The smallest fix: found for the draft, shown with its records, put into the draft in one step."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.audit.models import Entry
from apps.console.templatetags.console import grouped
from apps.policies.models import Agent, ChannelGroup, GlobalPolicy, ShadowRule
from apps.policies.services import record_update
from tests.console.conftest import HTMX

ClientOf = Callable[..., Client]
IN_GROUP = {"agent": "ops-runner", "channel": "telegram", "group": "-100", "tool": "exec"}


def fix(browser: Client, asked: dict[str, str] | None = None, **headers: Any) -> Any:
    return browser.get("/explorer/fix/", asked or IN_GROUP, **headers)


def take(browser: Client, shown: Any, asked: dict[str, str] | None = None) -> Any:
    """Press the button of what was shown."""
    posted = [html.unescape(each) for each in re.findall(r'name="edit" value="([^"]*)"', shown.content.decode())]
    query = "&".join(f"{name}={value}" for name, value in (asked or IN_GROUP).items())
    return browser.post(f"/explorer/fix/?{query}", {"edit": posted})


def test_the_trace_asks_for_it_after_the_page_has_come(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).get("/explorer/", IN_GROUP).content.decode()
    assert (
        'hx-get="/explorer/fix/?agent=ops-runner&amp;channel=telegram&amp;group=-100&amp;tool=exec&amp;name=A"' in text
    )
    assert text.count('id="fix-A"') == 1


def test_it_names_the_edit_and_the_list_that_it_stands_in(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = fix(client_of(viewer), IN_GROUP, **HTMX)
    text = answer.content.decode()
    (edit,) = answer.context["found"].edits
    assert (edit.edit.kind, edit.edit.field, edit.edit.entry, edit.edit.is_added) == ("group", "deny", "exec", False)
    assert "channels.telegram.groups.-100.tools.deny" in text
    assert "No other tool of this very context changes." in text
    assert text.lstrip().startswith('<section id="fix-A"')


def test_it_links_to_the_page_of_the_record(client_of: ClientOf, published: Any, viewer: Any) -> None:
    (edit,) = fix(client_of(viewer), {"agent": "main", "tool": "gateway"}).context["found"].edits
    agent = Agent.objects.get(key="main")
    assert edit.url == f"/records/agent/{agent.pk}/"
    assert client_of(viewer).get(edit.url).headers["Location"] == "/agents/main/"


def test_it_counts_over_all_contexts(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = fix(client_of(viewer), {"agent": "main", "tool": "x_search"})
    found = answer.context["found"]
    assert [each.edit.path for each in found.edits if not each.edit.is_added] == ["tools.deny"]
    assert found.opened[0].contexts <= found.fix.contexts
    assert f"of {grouped(found.fix.contexts)} contexts" in answer.content.decode()


def test_it_says_in_sentences_who_gains_and_loses_what(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    found = fix(browser, IN_GROUP, **HTMX)
    assert 'hx-get="/explorer/fix/effects/?agent=ops-runner' in found.content.decode()
    answer = browser.get("/explorer/fix/effects/", IN_GROUP, headers={"HX-Request": "true"})
    text, blast = answer.content.decode(), answer.context["effects"].blast
    assert text.lstrip().startswith('<div id="fix-A-effects"')
    assert "gain" in text
    counted = {effect.tool: effect.opened for effect in found.context["found"].fix.fix.effects}
    assert sum(row.contexts for row in blast.rows if "exec" in row.gained) == counted["exec"]
    assert blast.contexts == found.context["found"].fix.contexts
    assert "<h1>" in browser.get("/explorer/fix/effects/", IN_GROUP).content.decode()


def test_lines_beyond_the_first_few_can_be_opened(client_of: ClientOf, published: Any, admin: Any, viewer: Any) -> None:
    shared = GlobalPolicy.objects.get()
    record_update(shared, {"deny": ["group:openclaw"]}, by=admin, expected_version=shared.version)
    asked = {"agent": "main", "tool": "x_search"}
    answer = client_of(viewer).get("/explorer/fix/effects/", asked, headers={"HX-Request": "true"})
    effects = answer.context["effects"]
    shown = answer.content.decode().count("<li>")
    assert shown == len(effects.first) + len(effects.more) == len(effects.blast.rows)
    assert effects.blast.rows_left == 0


def test_effects_of_what_is_not_asked_are_not_there(client_of: ClientOf, published: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    assert browser.get("/explorer/fix/effects/", {"agent": "main"}).status_code == 404
    assert browser.get("/explorer/fix/effects/", {"agent": "main", "tool": "nosuch"}).status_code == 404
    refused = browser.get("/explorer/fix/effects/", {"agent": "main", "tool": "exec", "depth": "x"})
    assert refused.status_code in {200, 422}


def test_without_scripts_it_is_a_page_of_its_own(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = fix(client_of(viewer)).content.decode()
    assert "<h1>" in text
    assert "Smallest fix" in text


def test_one_click_puts_it_into_the_draft(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    answer = take(browser, fix(browser))
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/explorer/?agent=ops-runner")
    assert "at=draft" in answer.headers["Location"]
    group = ChannelGroup.objects.get(key="-100")
    assert (group.deny, group.version) == ([], 2)
    assert browser.get(answer.headers["Location"]).context["traces"][0].decision.allowed
    entry = Entry.objects.filter(kind="policy_change").latest("pk")
    assert entry.changes is not None
    assert entry.changes["fields"] == {"deny": {"before": ["exec"], "after": []}}


def test_one_click_watches_it_in_shadow_and_leaves_the_draft(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    text = fix(browser).content.decode()
    assert 'formaction="/shadows/"' in text
    posted = [html.unescape(each) for each in re.findall(r'name="edit" value="([^"]*)"', text)]
    assert browser.post("/shadows/", {"edit": posted}).status_code == 302
    shadow = ShadowRule.objects.get()
    assert shadow.place == "channels.telegram.groups.-100"
    assert [(edit["before"], edit["after"]) for edit in shadow.edits] == [(["exec"], [])]
    assert ChannelGroup.objects.get(key="-100").deny == ["exec"]
    assert browser.post(f"/shadows/{shadow.shown_id}/draft/").status_code == 302
    assert ChannelGroup.objects.get(key="-100").deny == []


def test_edits_of_several_records_are_taken_together(client_of: ClientOf, published: Any, admin: Any) -> None:
    shared = GlobalPolicy.objects.get()
    record_update(shared, {"deny": ["x_search", "group:runtime"]}, by=admin, expected_version=shared.version)
    browser = client_of(admin)
    shown = fix(browser)
    assert len(shown.context["found"].edits) == 2
    assert take(browser, shown).status_code == 302
    assert ChannelGroup.objects.get(key="-100").deny == []
    assert GlobalPolicy.objects.get().deny == ["x_search"]


def test_someone_who_was_faster_is_a_conflict_and_nothing_is_saved(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    shared = GlobalPolicy.objects.get()
    record_update(shared, {"deny": ["x_search", "group:runtime"]}, by=admin, expected_version=shared.version)
    browser = client_of(admin)
    shown = fix(browser)
    shared.refresh_from_db()
    record_update(shared, {"deny": ["group:runtime", "tts"]}, by=admin, expected_version=shared.version)
    answer = take(browser, shown)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "Someone else changed the draft in the meantime." in text
    assert ChannelGroup.objects.get(key="-100").deny == ["exec"]
    assert take(browser, answer).status_code == 302


def test_taking_it_twice_is_harmless(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    shown = fix(browser)
    assert take(browser, shown).status_code == 302
    assert take(browser, shown).status_code == 302
    assert ChannelGroup.objects.get(key="-100").version == 2


def test_it_is_for_the_draft_and_says_when_the_draft_differs(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    take(browser, fix(browser))
    answer = fix(browser)
    assert "The draft differs from what is live: there it is allowed in this context." in answer.content.decode()
    assert not answer.context["found"].fix.fix.opens


def test_it_says_why_no_list_decides(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = fix(client_of(viewer), {"agent": "main", "tool": "cron", "channel": "telegram", "sender": "7"})
    assert answer.context["found"].fix.fix is None
    assert [reason.layer for reason in answer.context["found"].reasons] == ["Owner-only"]
    assert "No list of names decides here" in answer.content.decode()


def test_a_tool_that_does_not_exist_has_none(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = fix(client_of(viewer), {"agent": "main", "tool": "nosuch"})
    assert answer.status_code == 200
    assert "There is no such tool in the draft." in answer.content.decode()


def test_without_a_tool_there_is_nothing(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert fix(client_of(viewer), {"agent": "main"}).status_code == 404
    assert fix(client_of(viewer), {"agent": "main", "tool": "exec", "depth": "x"}).status_code == 422


@pytest.mark.parametrize("posted", [[], ["nonsense"], ["{}"], ['{"kind": 1}'], ["[]"] * 13])
def test_what_no_button_sends_is_refused(posted: list[str], client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post("/explorer/fix/?agent=main&tool=exec", {"edit": posted})
    assert answer.status_code == 400


def test_a_list_that_a_record_has_not_is_refused(client_of: ClientOf, published: Any, admin: Any) -> None:
    group = ChannelGroup.objects.get(key="-100")
    said = {"kind": "group", "record": str(group.pk), "version": 1, "field": "key", "entry": "x", "added": True}
    answer = client_of(admin).post("/explorer/fix/?agent=main&tool=exec", {"edit": [json.dumps(said)]})
    assert answer.status_code == 422


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_others_see_it_and_may_not_take_it(
    name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    shown = fix(browser)
    assert shown.status_code == 200
    text = shown.content.decode()
    assert "Put it into the draft" not in text
    assert "may change the draft" in text
    assert browser.post("/explorer/fix/?agent=main&tool=exec", {"edit": ["{}"]}).status_code == 403


def test_an_outsider_sees_nothing(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert fix(client_of(outsider)).status_code == 403
    assert fix(client_of()).status_code == 302


def test_it_costs_few_queries(
    client_of: ClientOf, published: Any, viewer: Any, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    browser = client_of(viewer)
    fix(browser)
    with django_assert_max_num_queries(25):
        assert fix(browser).status_code == 200
