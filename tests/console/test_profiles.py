"""Profiles: the built-in ones of each release, those of one's own, who takes them, what a change would leave."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.engine.dialect import DIALECTS
from apps.policies.models import Agent, Profile
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import profile_create, provider_policy_create, publish, record_update

HTMX = {"HX-Request": "true"}
ClientOf = Callable[..., Client]
PAGE = "/profiles/night/"
VALUES = {"version": "1", "label": "Night shift", "description": "", "allow": "group:fs\nmessage", "deny": "write"}


@pytest.fixture
def own(published: Any, admin: Any) -> Any:
    """A profile of one's own that is live and that an agent and a provider rule take."""
    profile_create(published, "night", by=admin, label="Night", allow=["read", "message"])
    agent = Agent.objects.get(key="main")
    record_update(agent, {"profile": "night"}, by=admin, expected_version=agent.version)
    provider_policy_create(published, "openai/gpt-5", by=admin, agent=agent, profile="night")
    live = live_publication(published)
    assert live is not None
    publish(published, by=admin, message="night", expected_live=live.snapshot_id)
    return published


def profile() -> Profile:
    return Profile.objects.get(key="night")


@pytest.mark.parametrize("path", ["/profiles/", "/profiles/coding/", PAGE, f"{PAGE}history/"])
@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(
    name: str, path: str, client_of: ClientOf, own: Any, request: pytest.FixtureRequest
) -> None:
    answer = client_of(request.getfixturevalue(name)).get(path)
    assert answer.status_code == 200
    assert ("Save to draft" in answer.content.decode()) is (name == "admin" and path == PAGE)


def test_an_outsider_does_not_and_an_unknown_one_is_not_found(
    client_of: ClientOf, own: Any, outsider: Any, viewer: Any
) -> None:
    assert {client_of(outsider).get(path).status_code for path in ("/profiles/", PAGE)} == {403}
    assert client_of(viewer).get("/profiles/nobody/").status_code == 404


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_them(name: str, client_of: ClientOf, own: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    paths = ("/profiles/", PAGE, f"{PAGE}discard/", f"{PAGE}delete/")
    assert {browser.post(path, VALUES | {"key": "mine"}).status_code for path in paths} == {403}
    assert (profile().version, Profile.objects.count()) == (1, 1)


@pytest.mark.parametrize("release", DIALECTS)
def test_the_list_holds_the_profiles_of_the_release(client_of: ClientOf, draft: Any, viewer: Any, release: str) -> None:
    draft.dialect = release
    draft.save(update_fields=["dialect"])
    rows = client_of(viewer).get("/profiles/").context["built_in"]
    known = DIALECTS[release].profiles
    assert [(row.key, row.allow) for row in rows] == [(key, policy.allow or ()) for key, policy in known.items()]


def test_the_list_counts_who_takes_a_profile(client_of: ClientOf, own: Any, viewer: Any) -> None:
    context = client_of(viewer).get("/profiles/").context
    assert [(row.key, row.used, row.is_changed) for row in context["own"]] == [("night", 2, False)]
    assert {row.key: row.used for row in context["built_in"]}["coding"] == 1


def test_a_built_in_one_says_what_it_holds_in_each_release_and_is_read_only(
    client_of: ClientOf, own: Any, admin: Any
) -> None:
    answer = client_of(admin).get("/profiles/coding/")
    said = {each.name: each.allow for each in answer.context["releases"]}
    assert said == {name: dialect.profiles["coding"].allow for name, dialect in DIALECTS.items()}
    assert answer.context["releases"][0].name == own.dialect
    assert "<textarea" not in answer.content.decode()
    assert client_of(admin).post("/profiles/coding/", VALUES).status_code == 405


def test_the_tools_that_pass_are_the_engine_s(client_of: ClientOf, own: Any, viewer: Any) -> None:
    holds = client_of(viewer).post(f"{PAGE}preview/", VALUES, headers=HTMX).context["holds"]
    engine = draft_snapshot(own).engine
    known = set(engine.universe.names)
    wanted = (set(engine.dialect.groups["group:fs"]) | {"message"}) & known - {"write"}
    passed = {chip.name for chip in holds.tools}
    assert wanted <= passed | {"apply_patch"}
    assert "write" not in passed
    assert set(holds.gained) == passed - {"read", "message"}
    assert holds.lost == ()
    assert profile().version == 1


def test_a_preview_without_scripts_is_the_whole_page_with_what_was_typed(
    client_of: ClientOf, own: Any, viewer: Any
) -> None:
    text = client_of(viewer).post(f"{PAGE}preview/", VALUES | {"allow": "nodes"}).content.decode()
    assert "<html" in text
    assert ">nodes</textarea>" in text
    assert client_of(viewer).get(f"{PAGE}preview/").status_code == 405


def test_remarks_stand_beside_the_list(client_of: ClientOf, own: Any, viewer: Any) -> None:
    text = client_of(viewer).post(f"{PAGE}preview/", VALUES | {"allow": "raed"}, headers=HTMX).content.decode()
    assert "raed is no tool, group or plugin." in text
    assert 'data-with="read"' in text


def test_the_page_leads_to_where_it_is_used(client_of: ClientOf, own: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    users = browser.get(PAGE).context["users"]
    assert [each.place for each in users] == [
        "agents.entries.main",
        "agents.entries.main.tools.byProvider.openai/gpt-5",
    ]
    answer = browser.get(users[0].url)
    assert (answer.status_code, answer["Location"]) == (302, "/agents/main/")


def test_an_admin_adds_saves_and_deletes_one(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    answer = browser.post("/profiles/", {"key": "night", "label": "Night"})
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    assert browser.post(PAGE, VALUES).status_code == 302
    assert (profile().label, profile().allow, profile().deny) == ("Night shift", ["group:fs", "message"], ["write"])
    assert browser.get(f"{PAGE}delete/").status_code == 405
    assert browser.post(f"{PAGE}delete/", {"version": "1"}).status_code == 409
    assert browser.post(f"{PAGE}delete/", {"version": "2"}).status_code == 302
    assert not Profile.objects.exists()


def test_the_name_of_a_built_in_one_is_refused_beside_the_field(
    client_of: ClientOf, published: Any, admin: Any
) -> None:
    answer = client_of(admin).post("/profiles/", {"key": "coding"})
    assert answer.status_code == 422
    assert "is a built-in profile" in answer.content.decode()


def test_one_that_is_taken_is_not_deleted(client_of: ClientOf, own: Any, admin: Any) -> None:
    answer = client_of(admin).post(f"{PAGE}delete/", {"version": "1"})
    assert answer.status_code == 422
    assert "is in use" in answer.content.decode()
    assert Profile.objects.filter(key="night").exists()


def test_a_list_that_is_too_long_is_refused_with_what_was_typed(client_of: ClientOf, own: Any, admin: Any) -> None:
    many = "\n".join(f"tool-{number}" for number in range(2001))
    answer = client_of(admin).post(PAGE, VALUES | {"allow": many, "deny": "exec"})
    assert answer.status_code == 422
    assert "At most 2000 names." in answer.content.decode()
    assert ">exec</textarea>" in answer.content.decode()
    assert profile().version == 1


def test_a_stale_save_shows_both_sides_and_one_can_be_chosen(client_of: ClientOf, own: Any, admin: Any) -> None:
    record_update(profile(), {"deny": ["exec"]}, by=None, expected_version=1)
    browser = client_of(admin)
    answer = browser.post(PAGE, VALUES)
    assert answer.status_code == 409
    assert "Take theirs" in answer.content.decode()
    side = next(side for side in answer.context["conflict"].fields if side.name == "deny")
    assert (side.theirs, side.yours) == (("exec",), ("write",))
    assert browser.post(PAGE, VALUES | {"version": "2", "choose_deny": "theirs"}).status_code == 302
    assert (profile().allow, profile().deny) == (["group:fs", "message"], ["exec"])


def test_whoever_saves_second_is_told_of_fields_that_only_the_other_one_changed(
    client_of: ClientOf, own: Any, admin: Any
) -> None:
    record_update(profile(), {"label": "Graveyard shift"}, by=None, expected_version=1)
    answer = client_of(admin).post(PAGE, VALUES | {"label": "Night", "allow": "read\nmessage\nwrite"})
    side = next(side for side in answer.context["conflict"].fields if side.name == "label")
    assert (answer.status_code, side.theirs) == (409, ("Graveyard shift",))
    assert profile().allow == ["read", "message"]


@pytest.mark.parametrize("version", ["", "0", "nonsense"])
def test_a_save_that_does_not_say_what_it_changes_is_refused(
    client_of: ClientOf, own: Any, admin: Any, version: str
) -> None:
    answer = client_of(admin).post(PAGE, VALUES | {"version": version})
    assert answer.status_code in {409, 422}
    assert (profile().version, profile().label) == (1, "Night")


def test_discarding_brings_back_what_is_live(client_of: ClientOf, own: Any, admin: Any) -> None:
    browser = client_of(admin)
    browser.post(PAGE, VALUES)
    assert browser.get(PAGE).context["changed"] == 2
    assert browser.post(f"{PAGE}discard/").status_code == 302
    assert (profile().allow, profile().deny) == (["read", "message"], None)
    assert browser.get(PAGE).context["changed"] == 0


def test_history_says_who_changed_what(client_of: ClientOf, own: Any, admin: Any) -> None:
    client_of(admin).post(PAGE, VALUES)
    entry = client_of(admin).get(f"{PAGE}history/").context["entries"][0]
    assert (entry.actor, entry.version) == ("admin", 2)


def test_the_pages_ask_few_questions(
    client_of: ClientOf, own: Any, admin: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        profile_create(own, f"extra-{number}", by=admin, allow=["read"])
    browser = client_of(viewer)
    for path in ("/profiles/", PAGE, "/profiles/coding/"):
        browser.get(path)
        with django_assert_max_num_queries(25):
            assert browser.get(path).status_code == 200


def test_hostile_names_are_escaped_and_have_their_page(
    client_of: ClientOf, draft: Any, viewer: Any, admin: Any
) -> None:
    from django.urls import reverse

    profile_create(draft, "<q1>/y\u202e", by=admin, label="<q2>", allow=["<q3>"])
    browser = client_of(viewer)
    for path in ("/profiles/", reverse("profile", args=["<q1>/y\u202e"])):
        text = browser.get(path).content.decode()
        assert "<q" not in text
        assert "U+202E" in text


def test_a_record_of_a_kind_without_a_page_is_not_found(client_of: ClientOf, own: Any, viewer: Any) -> None:
    browser = client_of(viewer)
    assert browser.get(f"/records/nothing/{profile().pk}/").status_code == 404
    assert browser.get(f"/records/agent/{profile().pk}/").status_code == 404
    assert browser.get(f"/records/profile/{profile().pk}/")["Location"] == PAGE
