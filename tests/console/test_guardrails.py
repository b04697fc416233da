"""Guardrails in the console: the list, the form and how it reads, accepting by name, what keeps from publishing."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.console.guardrails import STARTS
from apps.firewall.identifiers import new_id, show_id
from apps.policies.guardrail_words import sentence
from apps.policies.models import Agent, Guardrail, GuardrailAcceptance
from apps.policies.services import guardrail_create, record_update
from apps.registry.models import Environment

HTMX = {"HX-Request": "true"}
LIST, NEW, REVIEW = "/guardrails/", "/guardrails/new/", "/guardrails/review/"
ClientOf = Callable[..., Client]
FORM: dict[str, Any] = {"requires": "never", "tools": ["exec"], "agents": ["ops-*"], "place": "direct"}
TYPED = {
    "name": "ops asks in groups",
    "description": "house rule 7",
    "severity": "warning",
    "is_enabled": "on",
    "requires": "asks",
    "tools": "exec",
    "agents": "ops-runner\nmain",
    "channels": "telegram",
    "place": "group",
    "groups": "",
    "sender": "named",
    "senders": "id:7",
    "sandboxed": "outside",
    "min_depth": "1",
    "ask": "always",
}


@pytest.fixture
def rail(published: Any, admin: Any) -> Guardrail:
    """One that fails in draft and live, and may be accepted."""
    return guardrail_create(published, by=admin, name="ops never runs", form=FORM, severity="warning")


def page(rail: Guardrail, action: str = "") -> str:
    return f"/guardrails/{rail.shown_id}/{action}"


def fingerprint(browser: Client) -> str:
    (row,) = browser.get(REVIEW).context["guarding"].rows
    return str(row.checked.check.fingerprint)


# --- who ---


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them_and_only_admins_are_offered_changes(
    name: str, client_of: ClientOf, rail: Guardrail, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path, word in ((LIST, NEW), (page(rail), 'value="save"'), (REVIEW, 'name="reason"')):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert (word in answer.content.decode()) is (name == "admin")


def test_an_outsider_does_not_and_an_unknown_one_is_not_found(
    client_of: ClientOf, rail: Guardrail, outsider: Any, viewer: Any
) -> None:
    assert {client_of(outsider).get(path).status_code for path in (LIST, REVIEW, page(rail))} == {403}
    assert client_of(viewer).get(f"/guardrails/{show_id('grail', new_id())}/").status_code == 404


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_or_accepts(
    name: str, client_of: ClientOf, rail: Guardrail, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    paths = (NEW, page(rail), page(rail, "remove/"), page(rail, "accept/"))
    assert {browser.post(path, TYPED | {"version": "1", "reason": "x"}).status_code for path in paths} == {403}
    assert [(each.name, each.version) for each in Guardrail.objects.all()] == [("ops never runs", 1)]


def test_one_of_another_environment_is_not_found(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    other = Environment.objects.create(slug="zoo", name="Zoo", dialect="2026.9")
    theirs = guardrail_create(other, by=admin, name="x", form=FORM)
    assert client_of(admin).get(page(theirs)).status_code == 404


# --- the list ---


def test_without_any_it_says_what_they_are_for(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert "No guardrails yet" in client_of(viewer).get(LIST).content.decode()


def test_the_list_shows_a_counterexample_that_leads_to_the_explorer(
    client_of: ClientOf, rail: Guardrail, viewer: Any
) -> None:
    browser = client_of(viewer)
    answer = browser.get(LIST)
    (row,) = answer.context["guarding"].rows
    assert (row.draft.state, row.live.state) == ("fails", "fails")
    assert "`exec` is allowed for agent `ops-runner`" in row.draft.why
    assert "Agent `ops-*`, in direct conversations: may never use `exec`" in answer.content.decode()
    explored = browser.get(row.draft.url)
    assert explored.status_code == 200
    assert "ops-runner" in explored.content.decode()


def test_a_fragment_is_the_list_alone(client_of: ClientOf, rail: Guardrail, viewer: Any) -> None:
    text = client_of(viewer).get(LIST, headers=HTMX).content.decode()
    assert text.startswith('<section class="panel" id="guardrails"')


def test_the_list_asks_few_questions(
    client_of: ClientOf, rail: Guardrail, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get(LIST)
    with django_assert_max_num_queries(25):
        assert browser.get(LIST).status_code == 200


# --- the form ---


def test_an_untouched_form_is_blamed_for_nothing(client_of: ClientOf, published: Any, admin: Any) -> None:
    reads = client_of(admin).get(NEW).content.decode().split('id="reads"')[1].split("</div>")[0]
    assert "What you fill in is read out here" in reads
    assert "required" not in reads


def test_one_is_added_as_it_was_typed(client_of: ClientOf, published: Any, admin: Any) -> None:
    assert client_of(admin).post(NEW, TYPED).status_code == 302
    made = Guardrail.objects.get()
    assert (made.name, made.severity, made.description) == ("ops asks in groups", "warning", "house rule 7")
    assert made.form == {
        "requires": "asks",
        "tools": ["exec"],
        "agents": ["ops-runner", "main"],
        "channels": ["telegram"],
        "place": "group",
        "sender": "named",
        "senders": ["id:7"],
        "sandboxed": False,
        "min_depth": 1,
        "ask": "always",
    }
    shown = client_of(admin).get(page(made)).context["form"]
    assert {name: shown[name].value() for name in ("place", "sandboxed", "min_depth")} == {
        "place": "group",
        "sandboxed": "outside",
        "min_depth": 1,
    }


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"name": ""}, "name"),
        ({"tools": ""}, "tools"),
        ({"senders": ""}, "senders"),
        ({"place": "direct", "groups": "-100"}, "groups"),
        ({"min_depth": "-1"}, "min_depth"),
        ({"requires": "perhaps"}, "requires"),
    ],
)
def test_a_mistake_stands_beside_its_field(
    typed: dict[str, str], field: str, client_of: ClientOf, published: Any, admin: Any
) -> None:
    answer = client_of(admin).post(NEW, TYPED | typed)
    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not Guardrail.objects.exists()


def test_a_name_that_is_taken_is_refused(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    assert client_of(admin).post(NEW, TYPED | {"name": rail.name}).status_code == 422


def test_one_is_changed_and_the_second_editor_sees_the_conflict(
    client_of: ClientOf, rail: Guardrail, admin: Any
) -> None:
    browser = client_of(admin)
    assert browser.post(page(rail), TYPED | {"version": "1"}).status_code == 302
    answer = browser.post(page(rail), TYPED | {"version": "1", "name": "other"})
    assert answer.status_code == 409
    assert "Somebody changed this guardrail" in answer.content.decode()
    assert Guardrail.objects.get().name == "ops asks in groups"


def test_one_is_removed(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    assert client_of(admin).post(page(rail, "remove/"), {"version": "1"}).status_code == 302
    assert not Guardrail.objects.exists()


def test_the_form_says_how_it_reads_and_what_comes_of_it(client_of: ClientOf, published: Any, admin: Any) -> None:
    typed = TYPED | {"do": "try", "requires": "never", "sender": "anybody", "name": ""}
    text = client_of(admin).post(NEW, typed, headers=HTMX).content.decode()
    assert "may never use `exec`" in text and "is allowed for agent" in text
    assert not Guardrail.objects.exists()
    nothing = client_of(admin).post(NEW, typed | {"tools": ""}, headers=HTMX).content.decode()
    assert "Tools:" in nothing
    assert client_of(admin).post(NEW, typed).status_code == 200


@pytest.mark.parametrize("start", [key for key, _title, _form in STARTS])
def test_each_ready_made_one_can_be_added_as_it_is(start: str, client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    (wanted,) = [form for key, _title, form in STARTS if key == start]
    page_of = browser.get(f"{NEW}?start={start}")
    form = page_of.context["form"]
    assert page_of.context["reads"]["sentence"] == sentence(wanted)
    given = {name: form[name].value() for name in form.fields}
    typed = {
        name: "\n".join(value) if isinstance(value, list | tuple) else "on" if value is True else value
        for name, value in given.items()
        if value not in (None, False)
    }
    assert browser.post(NEW, typed).status_code == 302
    assert Guardrail.objects.get().form == wanted.to_json()


def test_hostile_names_stay_text(client_of: ClientOf, published: Any, admin: Any) -> None:
    guardrail_create(published, by=admin, name="<b>bold\u202e", form=FORM | {"agents": ["<i>*"]})
    for path in (LIST, REVIEW):
        text = client_of(admin).get(path).content.decode()
        assert "<b>bold" not in text and "<i>*" not in text and "\u202e" not in text


def test_one_that_cannot_be_read_is_said_to_be_unchecked(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    Guardrail.objects.update(form={"requires": "never"})
    browser = client_of(admin)
    assert "cannot be checked" in browser.get(LIST).content.decode()
    assert browser.get(page(rail)).status_code == 200
    assert 'name="reason"' not in browser.get(REVIEW).content.decode()


# --- the review ---


def test_the_review_waits_for_the_guardrails_and_renews_them(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    browser = client_of(admin)
    assert f'hx-get="{REVIEW}"' in browser.get("/publish/").content.decode()
    text = browser.get(REVIEW, headers=HTMX).content.decode()
    assert text.startswith('<section class="panel" id="guardrail-review"')
    assert "1 keeps from publishing" in text


def test_a_failure_is_accepted_with_a_reason_on_the_page_and_in_the_fragment(
    client_of: ClientOf, rail: Guardrail, admin: Any
) -> None:
    browser = client_of(admin)
    seen = fingerprint(browser)
    for body in ({"fingerprint": seen, "reason": " "}, {"fingerprint": "0", "reason": "until Friday"}):
        refused = browser.post(page(rail, "accept/"), body)
        assert refused.status_code == 422
        assert 'role="alert"' in refused.content.decode()
    accepted = browser.post(page(rail, "accept/"), {"fingerprint": seen, "reason": "until Friday"}, headers=HTMX)
    text = accepted.content.decode()
    assert (accepted.status_code, GuardrailAcceptance.objects.count()) == (200, 1)
    assert "Accepted by user:admin" in text and "until Friday" in text and "nothing in the way" in text
    assert "until Friday" in browser.get(page(rail)).content.decode()
    again = browser.post(page(rail, "accept/"), {"fingerprint": seen, "reason": "x"})
    assert (again.status_code, again.headers["Location"]) == (302, "/publish/")


def test_one_that_blocks_is_offered_to_nobody(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    Guardrail.objects.update(severity="blocking")
    browser = client_of(admin)
    assert 'name="reason"' not in browser.get(REVIEW).content.decode()
    refused = browser.post(page(rail, "accept/"), {"fingerprint": fingerprint(browser), "reason": "x"})
    assert (refused.status_code, GuardrailAcceptance.objects.count()) == (422, 0)


def test_the_pill_names_how_many_stop_the_draft(client_of: ClientOf, rail: Guardrail, admin: Any) -> None:
    agent = Agent.objects.get(key="main")
    record_update(agent, {"name": "Main"}, by=admin, expected_version=agent.version)
    assert "1 guardrail stops it" in client_of(admin).get("/draft/pill/").content.decode()
