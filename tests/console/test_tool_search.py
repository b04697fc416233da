"""Tool search for people: figures, runs, labelled queries, a query to try, settings of the draft."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.console import tool_search as shown
from apps.console.tool_search_forms import NUMBERS, remarks_of
from apps.firewall.tools.search.settings import tool_search_problems
from apps.policies.selectors import document_export, global_policy, live_publication
from apps.policies.services import kept_update, publish
from apps.runs.labels import label_add
from apps.runs.models import RunCall, RunSearch, SearchLabel, ToolRun
from apps.runs.services import run_end
from tests.runs.making import MakeRun, published_in, run_made

ClientOf = Callable[..., Client]
HTMX = {"hx-request": "true"}
TOOL = "core:read"
PLACE = ("tools", "toolSearch")
MARK = "</svg>labelled</span>"


@pytest.fixture
def make_run(environment: Any) -> MakeRun:
    return lambda **fields: run_made(environment, **fields)


@pytest.fixture
def published(environment: Any, admin: Any) -> Any:
    return published_in(environment, admin)


@pytest.fixture
def made(make_run: MakeRun, called: Callable[..., Any]) -> ToolRun:
    """A run with a search, a call after it that the ledger knows, and a search that found nothing."""
    found = [TOOL, *(f"plugin:crm:tool_{n}" for n in range(7))]
    run = make_run(searched=[("look at a file", found), ("fly to the moon", [])], called=[(TOOL, "tool_call")])
    RunCall.objects.filter(run=run).update(call_id=called())
    return run


# --- figures ---


def test_without_runs_the_page_says_how_one_begins(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    page = client_of(auditor).get("/tool-search/").content.decode()

    assert "No runs in this time" in page and "POST /api/v1/runs" in page
    assert "data-chart" not in page


@pytest.mark.parametrize("span", ["7d", "30d", "nonsense"])
def test_figures_say_what_was_saved_and_found(
    client_of: ClientOf,
    auditor: Any,
    made: ToolRun,
    make_run: MakeRun,
    span: str,
) -> None:
    make_run(mode="direct", why="small_catalogue", direct_bytes=10_000, surface_bytes=10_000)

    page = client_of(auditor).get(f"/tool-search/?span={span}").content.decode()

    assert '<dd class="v">81 %</dd>' in page
    assert page.count("data-chart=") == page.count('class="plot-table"') == 1
    assert "the catalogue is small" in page and "through tool_call" in page
    assert "fly to the moon" in page and "#label" not in page  # an auditor changes nothing


def test_a_query_that_found_nothing_leads_to_where_it_is_labelled(
    client_of: ClientOf, admin: Any, made: ToolRun
) -> None:
    browser = client_of(admin)

    page = browser.get("/tool-search/").content.decode()

    assert 'href="/tool-search/quality/?query=fly%20to%20the%20moon#label"' in page
    form = browser.get("/tool-search/quality/?query=fly%20to%20the%20moon").content.decode()
    assert 'value="fly to the moon"' in form


def test_figures_take_so_many_queries(
    client_of: ClientOf,
    auditor: Any,
    made: ToolRun,
    make_run: MakeRun,
    django_assert_max_num_queries: Any,
) -> None:
    for _ in range(5):
        make_run(searched=[("x", [])], called=[(TOOL, "direct")])
    browser = client_of(auditor)
    browser.get("/tool-search/")

    with django_assert_max_num_queries(16):
        assert browser.get("/tool-search/").status_code == 200


@pytest.mark.parametrize("path", ["", "runs/", "quality/"])
def test_who_may_not_read_the_ledger_is_refused(
    client_of: ClientOf, viewer: Any, outsider: Any, environment: Any, path: str
) -> None:
    assert [client_of(user).get(f"/tool-search/{path}").status_code for user in (viewer, outsider)] == [403, 403]


def test_what_strangers_wrote_is_shown_and_not_run(
    client_of: ClientOf,
    auditor: Any,
    make_run: MakeRun,
) -> None:
    run = make_run(agent="<img src=x>", searched=[("<script>alert(1)</script>\u202e", [])])

    for path in ("", "runs/", f"runs/{run.shown_id}/"):
        page = client_of(auditor).get(f"/tool-search/{path}").content.decode()
        assert "<script>alert" not in page and "<img src=x" not in page and "\u202e" not in page


# --- runs ---


def test_runs_are_listed_newest_first_and_filtered(
    client_of: ClientOf,
    auditor: Any,
    make_run: MakeRun,
) -> None:
    make_run(agent="main")
    run_end(make_run(agent="clerk", mode="directory"), outcome="completed", at=timezone.now())
    browser = client_of(auditor)

    counts = {
        query: browser.get(f"/tool-search/runs/?{query}").content.decode().count('<tr id="row-trun_')
        for query in ("", "agent=clerk", "mode=tools", "outcome=completed", "outcome=open", "agent=x", "mode=nonsense")
    }

    assert counts == {
        "": 2,
        "agent=clerk": 1,
        "mode=tools": 1,
        "outcome=completed": 1,
        "outcome=open": 1,
        "agent=x": 0,
        "mode=nonsense": 2,
    }
    assert "No runs match" in browser.get("/tool-search/runs/?agent=x").content.decode()


def test_the_list_alone_goes_to_htmx_and_pages_follow(
    client_of: ClientOf,
    auditor: Any,
    make_run: MakeRun,
) -> None:
    at = timezone.now()
    for _ in range(51):
        make_run(at=at)
    browser = client_of(auditor)

    first = browser.get("/tool-search/runs/?agent=main", headers=HTMX).content.decode()
    older = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")

    assert first.lstrip().startswith('<div id="run-list"')
    assert "agent=main" in older
    assert browser.get(older).content.decode().count('<tr id="row-trun_') == 1
    assert browser.get("/tool-search/runs/?after=x").status_code == 422


def test_a_run_tells_what_it_was_offered_searched_and_called(client_of: ClientOf, auditor: Any, made: ToolRun) -> None:
    page = client_of(auditor).get(f"/tool-search/runs/{made.shown_id}/").content.decode()

    assert "12 of 300 tools with their schemas, and a search for the rest" in page
    assert "90 % less in every request" in page
    assert "look at a file" in page and "and 3 more" in page and "It found nothing." in page
    assert "was called, found at rank 1." in page
    assert f'/audit/calls/{RunCall.objects.get().shown_id}/"' in page
    assert "This query means this tool" not in page  # an auditor changes nothing


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("direct", "All 300 tools, each with its schema"),
        ("directory", "a directory of 4,000 characters that names the rest"),
        ("code", "code that searches and calls the rest"),
    ],
)
def test_each_mode_has_its_words(
    client_of: ClientOf,
    auditor: Any,
    make_run: MakeRun,
    mode: str,
    said: str,
) -> None:
    run = make_run(mode=mode, directory_characters=4000)

    assert said in client_of(auditor).get(f"/tool-search/runs/{run.shown_id}/").content.decode()


def test_a_run_of_another_environment_is_not_there(
    client_of: ClientOf, auditor: Any, made: ToolRun, environment: Any
) -> None:
    from apps.registry.services import environment_create

    made.environment = environment_create(slug="elsewhere")
    made.save(update_fields=["environment"])

    assert client_of(auditor).get(f"/tool-search/runs/{made.shown_id}/").status_code == 404


def test_a_run_takes_so_many_queries_whatever_it_did(
    client_of: ClientOf,
    operator: Any,
    make_run: MakeRun,
    django_assert_max_num_queries: Any,
) -> None:
    searched = [(f"query {n}", [TOOL]) for n in range(20)]
    run = make_run(searched=searched, called=[(TOOL, "code")] * 20)
    browser = client_of(operator)
    browser.get(f"/tool-search/runs/{run.shown_id}/")

    with django_assert_max_num_queries(15):
        assert browser.get(f"/tool-search/runs/{run.shown_id}/").status_code == 200


# --- labels ---


def test_one_click_on_a_run_says_that_its_query_means_its_tool(
    client_of: ClientOf,
    admin: Any,
    published: Any,
    made: ToolRun,
) -> None:
    browser = client_of(admin)
    path = f"/tool-search/runs/{made.shown_id}/"
    before = browser.get(path).content.decode()

    answer = browser.post(
        "/tool-search/quality/add/",
        {"of_run": made.shown_id, "query": "look at a file", "tools": "read"},
        headers=HTMX,
    )

    assert "This query means this tool" in before and MARK not in before
    assert (answer.status_code, MARK in answer.content.decode()) == (200, True)
    assert SearchLabel.objects.get().tools == ["read"]
    after = browser.get(path).content.decode()
    assert "This query means this tool" not in after and MARK in after


def test_a_tool_that_the_caller_brings_cannot_be_labelled(
    client_of: ClientOf, admin: Any, published: Any, make_run: MakeRun
) -> None:
    run = make_run(searched=[("drive", ["client:driver_find"])], called=[("client:driver_find", "tool_call")])

    page = client_of(admin).get(f"/tool-search/runs/{run.shown_id}/").content.decode()

    assert "driver_find" in page and "was called, found at rank 1." in page
    assert "This query means this tool" not in page


def test_the_click_says_why_a_tool_that_is_gone_cannot_be_meant(
    client_of: ClientOf,
    admin: Any,
    published: Any,
) -> None:
    asked = {"of_run": "x", "query": "look", "tools": "gone_by_now"}
    browser = client_of(admin)

    answer = browser.post("/tool-search/quality/add/", asked, headers=HTMX)
    plain = browser.post("/tool-search/quality/add/", asked, follow=True)

    assert answer.status_code == 422 and "gone_by_now" in answer.content.decode()
    assert "gone_by_now" in plain.content.decode()
    assert not SearchLabel.objects.exists()


def test_a_label_by_hand_is_added_measured_and_removed(
    client_of: ClientOf,
    admin: Any,
    published: Any,
) -> None:
    browser = client_of(admin)

    browser.post("/tool-search/quality/add/", {"query": "read", "tools": "read, exec"})
    label = SearchLabel.objects.get()
    page = browser.get("/tool-search/quality/").content.decode()

    assert label.tools == ["read", "exec"] and label.added_by == "user:admin"
    assert "Recall@10" in page and "1 labelled query" in page and "No labelled queries yet" not in page
    browser.post(f"/tool-search/quality/{label.shown_id}/remove/")
    assert not SearchLabel.objects.exists()


@pytest.mark.parametrize("asked", [{"query": "", "tools": "read"}, {"query": "x", "tools": "raed"}])
def test_a_label_with_a_mistake_is_answered_beside_its_field(
    client_of: ClientOf,
    admin: Any,
    published: Any,
    asked: dict[str, str],
) -> None:
    answer = client_of(admin).post("/tool-search/quality/add/", asked)

    assert answer.status_code == 422
    assert 'role="alert"' in answer.content.decode()


def test_labels_of_tools_that_are_gone_are_marked_and_not_asked(
    client_of: ClientOf,
    auditor: Any,
    published: Any,
) -> None:
    label_add(published, "look", ["read"], by=None, at=timezone.now())
    SearchLabel.objects.update(tools=["gone_by_now"])

    page = client_of(auditor).get("/tool-search/quality/").content.decode()

    assert "chip static mono gone" in page
    assert "None of the labelled tools is live." in page


def test_of_many_labels_the_newest_are_shown_and_asked(
    client_of: ClientOf, auditor: Any, published: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        label_add(published, f"query {number}", ["read"], by=None, at=timezone.now())
    monkeypatch.setattr(shown, "ASKED_AT_ONCE", 2)

    page = client_of(auditor).get("/tool-search/quality/").content.decode()

    assert page.count('<tr id="row-label_') == 2 and "query 2" in page and "query 0" not in page
    assert "3 labelled queries" in page and "The newest 2 are shown" in page


def test_quality_is_measured_before_anything_is_live(client_of: ClientOf, auditor: Any, environment: Any) -> None:
    page = client_of(auditor).get("/tool-search/quality/").content.decode()

    assert "Shipped with this release" in page
    assert "Nothing is live yet: publish first." in page


# --- try it ---


def test_a_query_is_answered_with_what_the_agents_model_would_find(
    client_of: ClientOf,
    viewer: Any,
    published: Any,
) -> None:
    answer = client_of(viewer).get("/tool-search/try/", {"agent": "main", "query": "run a shell command"})
    page = answer.content.decode()

    assert answer.status_code == 200
    assert 'href="/tools/exec/"' in page and "core:exec" in page
    assert "command: string" in page
    assert not RunSearch.objects.exists() and not ToolRun.objects.exists()


def test_a_query_finds_nothing_that_policy_forbids(
    client_of: ClientOf,
    viewer: Any,
    admin: Any,
    published: Any,
) -> None:
    from apps.policies.selectors import agent_get
    from apps.policies.services import record_update

    record = agent_get(published, "main")
    assert record is not None
    record_update(record, {"deny": ["exec"]}, by=admin, expected_version=record.version)
    publish(published, by=admin, message="no exec", expected_live=live_digest(published))

    page = client_of(viewer).get("/tool-search/try/", {"agent": "main", "query": "exec"}).content.decode()

    assert "core:exec" not in page


@pytest.mark.parametrize(
    ("query", "status", "said"),
    [
        ("火星", 200, "Nothing is found"),
        ("", 422, "required"),
        ("x" * 513, 422, "512"),
        ("   ", 422, "required"),
    ],
)
def test_a_query_that_finds_nothing_or_is_none_is_answered(
    client_of: ClientOf,
    viewer: Any,
    published: Any,
    query: str,
    status: int,
    said: str,
) -> None:
    answer = client_of(viewer).get("/tool-search/try/", {"agent": "main", "query": query}, headers=HTMX)

    assert (answer.status_code, said in answer.content.decode()) == (status, True)
    assert answer.content.decode().lstrip().startswith('<div id="found"')


def test_a_session_key_that_belongs_to_another_agent_changes_nothing_silently(
    client_of: ClientOf,
    viewer: Any,
    published: Any,
) -> None:
    asked = {"agent": "main", "session": "agent:main:telegram:group:-100", "query": "read a file"}

    assert client_of(viewer).get("/tool-search/try/", asked).status_code == 200
    answer = client_of(viewer).get("/tool-search/try/", asked | {"agent": "nobody"})
    assert answer.status_code == 422


def test_before_anything_is_live_the_page_says_so(client_of: ClientOf, viewer: Any, environment: Any) -> None:
    assert "Nothing is live yet" in client_of(viewer).get("/tool-search/try/").content.decode()


# --- settings ---


def live_digest(environment: Any) -> str:
    live = live_publication(environment)
    assert live is not None
    return str(live.snapshot_id)


def saved(browser: Client, environment: Any, **fields: Any) -> Any:
    policy = global_policy(environment)
    assert policy is not None
    return browser.post("/tool-search/settings/", {"version": policy.version, "mode": "", **fields})


def block(environment: Any) -> Any:
    return document_export(environment).get("tools", {}).get("toolSearch")


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"mode": "off"}, False),
        ({"mode": "tools"}, {"mode": "tools"}),
        ({"mode": "code", "code_timeout_ms": 5000}, {"mode": "code", "codeTimeoutMs": 5000}),
        ({"mode": "off", "max_search_limit": 10}, {"enabled": False, "maxSearchLimit": 10}),
        ({"mode": "", "max_search_limit": ""}, None),
    ],
)
def test_the_mode_is_saved_to_the_draft(
    client_of: ClientOf,
    admin: Any,
    published: Any,
    fields: dict[str, Any],
    written: Any,
) -> None:
    answer = saved(client_of(admin), published, **fields)

    assert answer.status_code == 302
    assert block(published) == written


def test_it_says_what_publishing_does_and_then_it_holds(
    client_of: ClientOf,
    admin: Any,
    published: Any,
) -> None:
    browser = client_of(admin)
    before = browser.get("/tool-search/settings/").content.decode()
    saved(browser, published, mode="directory")
    changed = browser.get("/tool-search/settings/").content.decode()
    publish(published, by=admin, message="directory", expected_live=live_digest(published))
    after = browser.get("/tool-search/settings/").content.decode()

    assert "Publishing changes nothing here: runs stay in the mode Tools." in before
    assert "Publishing changes the mode of new runs from Tools to Directory." in changed
    assert "differs from what is live" in changed
    assert "runs stay in the mode Directory" in after


def test_what_is_brought_into_its_range_is_said_beside_its_field(
    client_of: ClientOf,
    admin: Any,
    published: Any,
) -> None:
    browser = client_of(admin)
    saved(browser, published, mode="tools", code_timeout_ms=99_999, search_default_limit=30)

    page = browser.get("/tool-search/settings/").content.decode()

    assert block(published)["codeTimeoutMs"] == 99_999
    assert page.count("is brought to") == 2


@pytest.mark.parametrize(
    "value",
    [
        {"mode": "fast"},
        {"codeTimeoutMs": 1},
        {"maxSearchLimit": 51, "searchDefaultLimit": 0},
        {"searchDefaultLimit": 30, "maxSearchLimit": 20},
        {"enabled": "yes"},
        "tools",
        {"mode": "tools"},
        True,
        None,
    ],
)
def test_the_form_remarks_on_what_the_runtime_mends(value: Any) -> None:
    places = {each["path"] for each in tool_search_problems(value)}

    assert bool(remarks_of(value)) == bool(places)
    for field, member in {**NUMBERS, "mode": "mode"}.items():
        assert (field in remarks_of(value)) == (f"tools.toolSearch.{member}" in places)


def test_what_the_form_does_not_know_and_what_means_the_same_stay_as_written(
    client_of: ClientOf,
    admin: Any,
    published: Any,
) -> None:
    browser = client_of(admin)
    policy = global_policy(published)
    assert policy is not None
    kept_update(policy, PLACE, value=True, by=admin, expected_version=policy.version)

    saved(browser, published, mode="code")

    assert block(published) is True


def test_two_people_are_asked_whose_counts(client_of: ClientOf, admin: Any, published: Any) -> None:
    browser = client_of(admin)
    policy = global_policy(published)
    assert policy is not None
    kept_update(policy, PLACE, value=False, by=admin, expected_version=policy.version)

    refused = browser.post("/tool-search/settings/", {"version": policy.version, "mode": "tools"})
    page = refused.content.decode()
    taken = browser.post(
        "/tool-search/settings/", {"version": policy.version + 1, "mode": "tools", "choose_toolSearch": "theirs"}
    )

    assert refused.status_code == 409
    assert "Take theirs" in page and f'name="version" value="{policy.version + 1}"' in page
    assert taken.status_code == 302 and block(published) is False
    saved(browser, published, mode="tools", choose_toolSearch="yours")
    assert block(published) == {"mode": "tools"}


def test_who_only_reads_sees_it_and_changes_nothing(
    client_of: ClientOf,
    viewer: Any,
    published: Any,
) -> None:
    browser = client_of(viewer)

    page = browser.get("/tool-search/settings/").content.decode()

    assert "Read-only." in page and "Save to draft" not in page
    assert saved(browser, published, mode="off").status_code == 403
    assert block(published) is None


@pytest.mark.parametrize("fields", [{"mode": "fast"}, {"mode": "tools", "code_timeout_ms": "soon"}, {"version": "x"}])
def test_a_mistake_in_the_form_saves_nothing(
    client_of: ClientOf,
    admin: Any,
    published: Any,
    fields: dict[str, Any],
) -> None:
    answer = saved(client_of(admin), published, **fields)

    assert answer.status_code == 422
    assert block(published) is None


def test_without_a_draft_the_page_leads_to_one(client_of: ClientOf, admin: Any, environment: Any) -> None:
    assert "There is no draft yet" in client_of(admin).get("/tool-search/settings/").content.decode()
