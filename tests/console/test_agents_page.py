"""One agent's tool policy: reading, saving, conflicts, going back."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.policies.models import Agent
from apps.policies.selectors import draft_change_count
from apps.policies.services import record_update

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
PAGE = "/agents/ops-runner/"
VALUES = {"version": "1", "profile": "coding", "also_allow": "", "allow": "", "deny": "browser\ngroup:media"}


def agent() -> Agent:
    return Agent.objects.get(key="ops-runner")


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    answer = client_of(request.getfixturevalue(name)).get(PAGE)
    assert answer.status_code == 200
    assert answer.context["may_write"] is (name == "admin")
    assert ("Read-only." in answer.content.decode()) is (name != "admin")


def test_whoever_may_not_write_is_told_which_role_is_needed(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).get(PAGE).content.decode()
    assert "Administrator" in text
    assert '<fieldset class="plain-set" disabled>' in text


def test_an_unknown_agent_is_not_found(client_of: ClientOf, published: Any, viewer: Any, outsider: Any) -> None:
    assert client_of(viewer).get("/agents/nobody/").status_code == 404
    assert client_of(outsider).get(PAGE).status_code == 403


def test_reading_changes_nothing(client_of: ClientOf, published: Any, admin: Any) -> None:
    client_of(admin).get(PAGE, VALUES)
    assert agent().version == 1
    assert draft_change_count(published) == 0


def test_the_page_asks_few_questions(
    client_of: ClientOf, published: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get(PAGE)
    with django_assert_max_num_queries(26):
        assert browser.get(PAGE).status_code == 200


def test_a_save_without_scripts_goes_to_the_draft(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {"deny": "browser, exec\n\n exec "})
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert (agent().deny, agent().version) == (["browser", "exec"], 2)


def test_a_save_by_htmx_answers_with_the_form_and_tells_the_page(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {"deny": "exec"}, headers=HTMX)
    text = answer.content.decode()
    assert answer["HX-Trigger"] == "draft-changed"
    assert 'name="version" value="2"' in text
    assert "Saved to the draft." in text
    assert "<html" not in text


def test_lists_that_said_nothing_go_on_saying_nothing(client_of: ClientOf, published: Any, admin: Any) -> None:
    client_of(admin).post(PAGE, VALUES | {"profile": "*inherit"})
    assert (agent().profile, agent().allow, agent().also_allow) == (None, None, None)


def test_what_the_form_does_not_carry_stays(client_of: ClientOf, published: Any, admin: Any) -> None:
    client_of(admin).post(PAGE, {"version": "1", "deny": "exec"})
    assert (agent().profile, agent().deny) == ("coding", ["exec"])


def test_a_refused_value_is_shown_with_what_was_typed(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {"profile": "codding", "deny": "exec"}, headers=HTMX)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "Nothing was saved." in text
    assert ">exec</textarea>" in text
    assert 'name="version" value="1"' in text
    assert agent().version == 1


def test_a_stale_save_shows_both_sides(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(agent(), {"deny": ["browser", "nodes"]}, by=None, expected_version=1)
    answer = client_of(admin).post(PAGE, VALUES | {"deny": "browser\nexec"}, headers=HTMX)
    assert answer.status_code == 409
    side = next(side for side in answer.context["conflict"].fields if side.name == "deny")
    assert (side.theirs, side.yours, side.keeps) == (("browser", "nodes"), ("browser", "exec"), "yours")
    text = answer.content.decode()
    assert "Take theirs" in text
    assert "Keep mine" in text
    assert 'name="version" value="2"' in text
    assert agent().deny == ["browser", "nodes"]


def test_after_a_conflict_mine_can_be_kept(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(agent(), {"deny": ["nodes"]}, by=None, expected_version=1)
    client_of(admin).post(PAGE, VALUES | {"version": "2", "deny": "exec", "choose_deny": "yours"})
    assert (agent().deny, agent().version) == (["exec"], 3)


def test_after_a_conflict_theirs_can_be_taken(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(agent(), {"deny": ["nodes"]}, by=None, expected_version=1)
    chosen = {"version": "2", "deny": "exec", "choose_deny": "theirs", "also_allow": "message"}
    client_of(admin).post(PAGE, VALUES | chosen)
    assert (agent().deny, agent().also_allow) == (["nodes"], ["message"])


def test_what_only_they_changed_is_theirs_unless_chosen(client_of: ClientOf, published: Any, admin: Any) -> None:
    record_update(agent(), {"profile": "minimal"}, by=None, expected_version=1)
    answer = client_of(admin).post(PAGE, VALUES | {"deny": "exec"}, headers=HTMX)
    sides = {side.name: side.keeps for side in answer.context["conflict"].fields}
    assert sides == {"profile": "theirs", "deny": "yours"}


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_saves(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    person = request.getfixturevalue(name)
    assert client_of(person).post(PAGE, VALUES | {"deny": "exec"}).status_code == 403
    assert client_of(person).post(f"{PAGE}discard/").status_code == 403
    assert agent().version == 1


def test_discarding_brings_back_what_is_live(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    browser.post(PAGE, VALUES | {"profile": "minimal", "deny": "exec", "also_allow": "message"})
    assert browser.get(PAGE).context["changed"] == 3
    assert browser.get(f"{PAGE}discard/").status_code == 405
    browser.post(f"{PAGE}discard/")
    assert (agent().profile, agent().deny, agent().also_allow) == ("coding", ["browser", "group:media"], None)
    assert browser.get(PAGE).context["changed"] == 0


def test_the_pill_counts_the_draft_everywhere(client_of: ClientOf, published: Any, admin: Any, outsider: Any) -> None:
    browser = client_of(admin)
    assert "draft-pill" not in browser.get("/draft/pill/").content.decode()
    assert 'hx-get="/draft/pill/"' in browser.get("/settings/").content.decode()
    browser.post(PAGE, VALUES | {"deny": "exec"})
    assert "Draft: 1 unpublished change" in browser.get("/draft/pill/").content.decode()
    assert client_of(outsider).get("/draft/pill/").status_code == 403


def test_the_pill_goes_when_everything_is_as_it_is_live(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    browser.post(PAGE, VALUES | {"deny": "exec"})
    browser.post(f"{PAGE}discard/")
    assert browser.get("/draft/pill/").content.decode().strip() == ""
