"""Review and publish: what changes for whom, what is in the way, who was faster."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.console.blast import blast_of
from apps.firewall.tools.definition import Definition
from apps.policies.models import Agent
from apps.policies.selectors import (
    agent_get,
    draft_change_count,
    draft_snapshot,
    live_publication,
    live_snapshot,
    publications,
)
from apps.policies.services import agent_create, demo_import, document_import, publish, record_update
from apps.policies.services.records import (
    content_filter_create,
    exec_settings_create,
    permission_grant_create,
)
from apps.registry.models import Tool
from apps.registry.services import plugin_save, tool_register, tool_save, tool_set_state, tools_import

pytestmark = pytest.mark.django_db
ClientOf = Callable[..., Client]
HTMX = {"HX-Request": "true"}

DOCUMENT = """{
  "agents": {"ownership": "explicit", "entries": {"bot": {"tools": {"allow": ["read", "exec", "write"]}}, "ops": {}}}
}"""


@pytest.fixture
def published(environment: Any, admin: Any) -> Any:
    """An environment with two agents, published once."""
    document_import(environment, DOCUMENT, by=admin)
    return publish(environment, by=admin, message="first", expected_live=None)


def _deny(environment: Any, by: Any, *names: str) -> None:
    agent = agent_get(environment, "bot")
    assert agent is not None
    record_update(agent, {"deny": list(names)}, by=by, expected_version=agent.version)


def test_it_leads_to_the_start_while_nothing_has_begun(client_of: ClientOf, admin: Any, environment: Any) -> None:
    assert client_of(admin).get("/publish/").headers["location"] == "/start/"


@pytest.mark.usefixtures("published")
def test_the_review_shows_each_change_marked(client_of: ClientOf, admin: Any, environment: Any) -> None:
    _deny(environment, admin, "exec")
    page = client_of(admin).get("/publish/").content.decode()
    assert "1 change since v1" in page
    assert "agents.entries.bot" in page
    assert "<ins>exec</ins>" in page
    assert 'name="expected_live"' in page


@pytest.mark.usefixtures("published")
@pytest.mark.slow
def test_the_review_names_the_tools_that_come_change_and_go(client_of: ClientOf, admin: Any, environment: Any) -> None:
    assert 'id="tool-changes"' not in client_of(admin).get("/publish/").content.decode()
    definition = Definition(name="lamp_set", description="Switches a lamp.")
    tools_import(environment, [definition], source="plugin", plugin=plugin_save(environment, key="lamps"))
    page = client_of(admin).get("/publish/").content.decode()
    assert "No rule has changed since v1, 1 tool has." in page
    assert 'href="/tools/lamp_set/"' in page
    assert ">added</span>" in page
    assert "The draft and the live snapshot say the same." not in page

    live = live_publication(environment)
    assert live is not None
    publish(environment, by=admin, message="lamps", expected_live=live.snapshot_id)
    lamp, write = (Tool.objects.get(environment=environment, name=name) for name in ("lamp_set", "write"))
    tool_save(lamp, fields={"owner_only": True}, expected_version=lamp.version, by=admin)
    tool_set_state(write, state="disabled", by=admin)
    page = client_of(admin).get("/publish/").content.decode()
    assert "2 tools have" in page
    assert "owner only" in page
    assert ">removed</span>" in page


def test_commands_that_would_run_without_approval_stand_first_and_in_red(
    client_of: ClientOf, admin: Any, environment: Any, published: Any
) -> None:
    browser = client_of(admin)
    agent = agent_get(environment, "bot")
    exec_settings_create(environment, agent=agent, by=admin, mode="full")
    blast = browser.get("/publish/blast/", headers=HTMX).content.decode()
    page = browser.get("/publish/").content.decode()

    assert blast.index('id="access-changes"') < blast.index("Lose access")
    assert 'class="access-wider"' in blast and "rm -rf build" in blast and "runs without approval" in blast
    assert '<span class="agent">bot</span>' in blast
    assert "circle-check" not in blast
    assert "More can run than today" in page.split("pub-checks")[1].split("</ul>")[0]
    assert "let more run than today." in blast or "lets more run than today." in blast
    assert "btn-deny-solid pub-do" in page or "Replay this draft first" in page


@pytest.mark.usefixtures("published")
def test_the_button_is_off_and_says_why(client_of: ClientOf, admin: Any, environment: Any) -> None:
    def button() -> str:
        fragment = client_of(admin).get("/publish/button/", headers=HTMX).content.decode()
        assert 'id="publish-do"' in fragment and "<html" not in fragment
        return fragment

    assert "disabled" in button() and "the draft is the same as what is live" in button()
    _deny(environment, admin, "exec")
    assert "the same as what is live" not in button()
    assert "disabled" not in button() or "Replay this draft first" in button()


@pytest.mark.usefixtures("published")
def test_the_blast_radius_names_who_loses_what(client_of: ClientOf, admin: Any, environment: Any) -> None:
    _deny(environment, admin, "exec")
    fragment = client_of(admin).get("/publish/blast/", headers=HTMX).content.decode()
    assert "<html" not in fragment
    assert 'id="blast"' in fragment
    assert '<span class="agent">bot</span>' in fragment
    assert ">exec</a>" in fragment
    assert "Nobody gains a tool." in fragment
    assert "draft-changed from:body" in fragment


def test_the_blast_radius_names_tools_that_meet_other_grants_and_filters(
    client_of: ClientOf, admin: Any, environment: Any, published: Any
) -> None:
    lookup = tool_register(
        environment, Definition(name="lookup", description="Look a word up.", permissions=("db:read",))
    )
    tool_set_state(lookup, state="active")
    publish(environment, by=admin, message="a tool", expected_live=published.snapshot_id)
    browser = client_of(admin)
    assert 'id="blast-guards"' not in browser.get("/publish/blast/", headers=HTMX).content.decode()

    grant = permission_grant_create(environment, "reads", by=admin, permissions=["db:read"], agent="bot")
    cards = content_filter_create(environment, "cards", by=admin, pattern="[0-9]{16}", action="mask", tools=["read"])
    blast = browser.get("/publish/blast/", headers=HTMX).content.decode()
    review = browser.get("/publish/").content.decode()

    guards = blast_of(live_snapshot(environment), draft_snapshot(environment)).guards
    assert [(each.tools, each.grants.gained, each.filters.gained) for each in guards] == [
        (("lookup",), ("reads",), ()),
        (("read",), (), ("cards",)),
    ]
    assert 'id="blast-guards"' in blast and "No agent gains or loses a tool." in blast
    assert "Every context keeps exactly" not in blast
    assert f'href="/records/permission_grant/{grant.pk}/"' in review
    assert f'href="/records/content_filter/{cards.pk}/"' in review


def test_the_pill_and_the_overview_count_tools_beside_records(
    client_of: ClientOf, admin: Any, environment: Any, published: Any
) -> None:
    browser = client_of(admin)
    assert browser.get("/draft/pill/").content.decode().strip() == ""
    tool_set_state(Tool.objects.get(environment=environment, name="write"), state="disabled")
    assert "Draft: 1 unpublished change<" in browser.get("/draft/pill/").content.decode()
    _deny(environment, admin, "exec")
    assert "Draft: 2 unpublished changes" in browser.get("/draft/pill/").content.decode()
    assert "The draft holds 2 unpublished changes." in browser.get("/").content.decode()
    assert "2 changes since v1" in browser.get("/publish/").content.decode()


@pytest.mark.usefixtures("published")
def test_without_scripts_the_blast_radius_is_a_page(client_of: ClientOf, admin: Any) -> None:
    page = client_of(admin).get("/publish/blast/").content.decode()
    assert "<html" in page
    assert "Every context keeps exactly the tools that it has." in page


def test_the_first_publication_compares_with_nothing(client_of: ClientOf, admin: Any, environment: Any) -> None:
    document_import(environment, DOCUMENT, by=admin)
    browser = client_of(admin)
    assert "Nothing was ever published" in browser.get("/publish/").content.decode()
    fragment = browser.get("/publish/blast/", headers=HTMX).content.decode()
    assert "Compared with nothing" in fragment
    assert "Nobody loses a tool." in fragment


def test_a_large_first_publication_is_told_agent_by_agent(client_of: ClientOf, admin: Any, environment: Any) -> None:
    demo_import(environment, by=admin)
    fragment = client_of(admin).get("/publish/blast/", headers=HTMX).content.decode()
    assert "all contexts together" in fragment
    assert '<span class="agent">support-bot</span>' in fragment


def test_a_context_counts_once_however_many_changes_meet_it(admin: Any, environment: Any) -> None:
    demo_import(environment, by=admin)
    blast = blast_of(None, draft_snapshot(environment))
    assert 0 < blast.unchanged < blast.contexts
    assert blast.gain.contexts + blast.unchanged == blast.contexts
    assert sum(row.contexts for row in blast.rows) == blast.gain.contexts


@pytest.mark.usefixtures("empty_ledger")  # nothing was called, so nothing need be replayed
def test_publishing_makes_the_draft_live(client_of: ClientOf, admin: Any, environment: Any, published: Any) -> None:
    _deny(environment, admin, "exec")
    answer = client_of(admin).post("/publish/", {"message": "no exec", "expected_live": published.snapshot_id})
    live = live_publication(environment)
    assert answer.status_code == 302
    assert live is not None
    assert (live.number, live.message, live.published_by) == (2, "no exec", admin)


def test_htmx_is_sent_to_the_new_snapshot(client_of: ClientOf, admin: Any, environment: Any, published: Any) -> None:
    _deny(environment, admin, "exec")
    answer = client_of(admin).post(
        "/publish/", {"message": "again", "expected_live": published.snapshot_id}, headers=HTMX
    )
    assert answer.headers["HX-Redirect"].startswith("/snapshots/pub_")


def test_what_is_live_already_is_refused_by_the_form_too(
    client_of: ClientOf, admin: Any, environment: Any, published: Any
) -> None:
    form = {"message": "again", "expected_live": published.snapshot_id}
    answer = client_of(admin).post("/publish/", form, headers=HTMX)
    assert answer.status_code == 422
    assert "nothing would change" in answer.content.decode()
    assert publications(environment).count() == 1


@pytest.mark.usefixtures("empty_ledger")
@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_draft_that_was_reviewed_and_changed_since_is_not_published(
    client_of: ClientOf, admin: Any, make_user: Any, environment: Any, published: Any, headers: dict[str, str]
) -> None:
    _deny(environment, admin, "exec")
    browser = client_of(admin)
    form = {field.html_name: field.value() or "" for field in browser.get("/publish/").context["form"]}
    assert form["expected_draft"]
    _deny(environment, make_user("rita", role="admin"), "exec", "write")

    answer = browser.post("/publish/", form | {"message": "no exec"}, headers=headers)

    page = answer.content.decode()
    assert answer.status_code == 409
    assert "The draft has changed since you reviewed it. Nothing was published." in page
    assert "rita" in page.lower() and "/publish/#changes" in page
    assert 'name="message"' not in page
    assert publications(environment).count() == 1
    again = {field.html_name: field.value() or "" for field in browser.get("/publish/").context["form"]}
    assert browser.post("/publish/", again | {"message": "no exec"}, headers=headers).status_code in {200, 302}
    assert publications(environment).count() == 2


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_who_was_faster_is_told_and_nothing_is_published(
    client_of: ClientOf, make_user: Any, admin: Any, environment: Any, published: Any, headers: dict[str, str]
) -> None:
    _deny(environment, admin, "exec")
    publish(environment, by=make_user("rita", role="admin"), message="mine", expected_live=published.snapshot_id)
    _deny(environment, admin, "exec", "write")
    form = {"message": "theirs", "expected_live": published.snapshot_id}
    answer = client_of(admin).post("/publish/", form, headers=headers)
    page = answer.content.decode()
    assert answer.status_code == 409
    assert "Rita published v2 in the meantime." in page
    assert 'name="message"' not in page
    assert publications(environment).count() == 2
    assert ("<html" in page) == (not headers)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_message_is_needed(
    client_of: ClientOf, admin: Any, environment: Any, published: Any, headers: dict[str, str]
) -> None:
    answer = client_of(admin).post(
        "/publish/", {"message": " ", "expected_live": published.snapshot_id}, headers=headers
    )
    assert answer.status_code == 422
    assert "c-deny" in answer.content.decode()
    assert publications(environment).count() == 1


def test_what_blocks_is_listed_and_not_published(client_of: ClientOf, admin: Any, environment: Any) -> None:
    document_import(environment, '{"agents": {"entries": {"bot": {}}}}', by=admin)
    Agent.objects.filter(environment=environment).update(profile="codng")  # as an earlier version took it
    browser = client_of(admin)
    assert "1 blocks" in browser.get("/publish/").content.decode()
    answer = browser.post("/publish/", {"message": "try", "expected_live": ""}, headers=HTMX)
    assert answer.status_code == 422
    assert "Not published." in answer.content.decode()
    assert "`codng` is no profile, did you mean `coding`?" in answer.content.decode()
    assert live_publication(environment) is None


@pytest.mark.usefixtures("published")
def test_hostile_names_stay_text(client_of: ClientOf, admin: Any, environment: Any) -> None:
    agent_create(environment, "<script>x</script>", by=admin)
    _deny(environment, admin, "<img src=x>\u202e")
    browser = client_of(admin)
    for page in (browser.get("/publish/"), browser.get("/publish/blast/")):
        text = page.content.decode()
        assert "<script>x" not in text
        assert "<img" not in text
        assert "\u202e" not in text


@pytest.mark.usefixtures("published")
def test_a_draft_is_discarded_after_a_question(client_of: ClientOf, admin: Any, environment: Any) -> None:
    _deny(environment, admin, "exec")
    browser = client_of(admin)
    assert "Go back to v1?" in browser.get("/publish/discard/").content.decode()
    agent = agent_get(environment, "bot")
    assert agent is not None
    assert agent.deny == ["exec"]
    assert browser.post("/publish/discard/").headers["location"] == "/publish/"
    agent = agent_get(environment, "bot")
    assert agent is not None
    assert agent.deny is None


@pytest.mark.usefixtures("published")
def test_reading_the_review_changes_nothing(client_of: ClientOf, admin: Any, environment: Any) -> None:
    _deny(environment, admin, "exec")
    browser = client_of(admin)
    for path in ("/publish/", "/publish/blast/", "/publish/discard/"):
        browser.get(path)
    assert (publications(environment).count(), draft_change_count(environment)) == (1, 1)


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer"])
def test_other_roles_read_and_learn_which_role_is_needed(
    client_of: ClientOf, environment: Any, published: Any, name: str, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    page = browser.get("/publish/").content.decode()
    assert "Publishing needs the role administrator." in page
    assert 'name="message"' not in page
    form = {"message": "x", "expected_live": published.snapshot_id}
    assert browser.post("/publish/", form).status_code == 403
    assert browser.post("/publish/discard/").status_code == 403
    assert publications(environment).count() == 1


def test_strangers_are_kept_out(client_of: ClientOf, outsider: Any, environment: Any) -> None:
    assert client_of(outsider).get("/publish/").status_code == 403
    assert client_of(outsider).get("/publish/blast/").status_code == 403
    assert client_of().get("/publish/").status_code == 302


@pytest.mark.usefixtures("published")
def test_the_number_of_queries_does_not_grow_with_the_draft(
    client_of: ClientOf, admin: Any, environment: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        agent_create(environment, f"agent-{number}", by=admin)
    browser = client_of(admin)
    browser.get("/publish/")
    with django_assert_max_num_queries(25):
        assert browser.get("/publish/").status_code == 200
