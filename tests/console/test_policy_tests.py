"""Policy tests in the console: the list, the form, one made from a call or the explorer, what keeps from publishing."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from apps.firewall.engine.context import CallContext
from apps.firewall.engine.contexts import context_classes, context_of
from apps.firewall.identifiers import new_id, show_id
from apps.policies.models import Agent, PolicyTest
from apps.policies.selectors import draft_snapshot, live_publication
from apps.policies.services import policy_test_create, policy_test_save, record_update
from apps.registry.models import Environment

HTMX = {"HX-Request": "true"}
LIST, NEW = "/policy-tests/", "/policy-tests/new/"
ClientOf = Callable[..., Client]
TYPED = {
    "name": "support never runs commands",
    "tool": "exec",
    "verdict": "denied",
    "layer": "",
    "agent": "main",
    "where": "telegram/-100",
    "sender": "7",
    "owner": "no",
    "model": "openai/gpt-5",
    "sandbox": "",
    "depth": "1",
    "context": "",
    "params": "",
    "is_enabled": "on",
}


@pytest.fixture
def case(published: Any, admin: Any) -> PolicyTest:
    """One that draft and live pass: the agent's deny takes the gateway away."""
    context = {"agent_id": "main"}
    return policy_test_create(
        published, by=admin, name="no gateway", tool="gateway", verdict="denied", layer="agent", context=context
    )


@pytest.fixture
def failing(case: PolicyTest, published: Any, admin: Any) -> PolicyTest:
    """One that the draft fails and what is live passes."""
    context = {"agent_id": "ops-runner"}
    made = policy_test_create(published, by=admin, name="ops reads", tool="read", verdict="allowed", context=context)
    agent = Agent.objects.get(key="ops-runner")
    record_update(agent, {"deny": ["read"]}, by=admin, expected_version=agent.version)
    return made


def page(test: PolicyTest, action: str = "") -> str:
    return f"/policy-tests/{test.shown_id}/{action}"


# --- who ---


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them_and_only_admins_are_offered_changes(
    name: str, client_of: ClientOf, case: PolicyTest, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    for path, word in ((LIST, NEW), (page(case), 'value="save"')):
        answer = browser.get(path)
        assert answer.status_code == 200
        assert (word in answer.content.decode()) is (name == "admin")


def test_an_outsider_does_not_and_an_unknown_one_is_not_found(
    client_of: ClientOf, case: PolicyTest, outsider: Any, viewer: Any, admin: Any
) -> None:
    assert {client_of(outsider).get(path).status_code for path in (LIST, page(case))} == {403}
    unknown = f"/policy-tests/{show_id('ptest', new_id())}/"
    assert client_of(viewer).get(unknown).status_code == 404
    assert client_of(admin).post(f"{unknown}remove/", {"version": "1"}).status_code == 404


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_changes_them(
    name: str, client_of: ClientOf, case: PolicyTest, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))
    paths = (NEW, page(case), page(case, "switch/"), page(case, "remove/"))
    assert {browser.post(path, TYPED | {"version": "1", "on": "off"}).status_code for path in paths} == {403}
    assert [(test.name, test.version) for test in PolicyTest.objects.all()] == [("no gateway", 1)]


def test_one_of_another_environment_is_not_found(client_of: ClientOf, case: PolicyTest, admin: Any) -> None:
    other = Environment.objects.create(slug="zoo", name="Zoo", dialect="2026.9")
    theirs = policy_test_create(other, by=admin, name="x", tool="read", verdict="denied")
    assert client_of(admin).get(page(theirs)).status_code == 404


# --- the list ---


def test_without_any_it_says_what_they_are_for(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert "No policy tests yet" in client_of(viewer).get(LIST).content.decode()


def test_the_list_says_what_draft_and_live_answer_and_why(
    client_of: ClientOf, failing: PolicyTest, viewer: Any
) -> None:
    answer = client_of(viewer).get(LIST)
    rows = {row.record.name: row for row in answer.context["tests"].rows}
    assert [(row.draft.has_passed, row.live.has_passed) for row in rows.values()] == [(True, True), (False, True)]
    assert rows["ops reads"].draft.answer.layer == "agent"
    text = answer.content.decode()
    assert "1 fails in the draft" in text and "agents.ops-runner.tools.deny read" in text


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["no gateway", "off", "ops reads"]),
        ("?show=failing", ["ops reads"]),
        ("?show=passing", ["no gateway"]),
        ("?show=off", ["off"]),
        ("?show=moon", ["no gateway", "off", "ops reads"]),
        ("?q=GATE", ["no gateway", "off"]),
        ("?q=nothing", []),
    ],
)
def test_the_list_is_filtered(
    query: str, names: list[str], client_of: ClientOf, failing: PolicyTest, published: Any, viewer: Any, admin: Any
) -> None:
    policy_test_create(published, by=admin, name="off", tool="gateway", verdict="allowed", is_enabled=False)
    answer = client_of(viewer).get(f"{LIST}{query}", headers=HTMX)
    assert [row.record.name for row in answer.context["tests"].rows] == names
    text = answer.content.decode()
    assert text.startswith('<section class="panel" id="tests"') and "<html" not in text


def test_the_list_renews_itself_with_its_filter(client_of: ClientOf, case: PolicyTest, viewer: Any) -> None:
    text = client_of(viewer).get(f"{LIST}?show=failing").content.decode()
    assert 'hx-get="/policy-tests/?show=failing" hx-trigger="draft-changed from:body"' in text


def test_a_hostile_name_shows_as_text(client_of: ClientOf, case: PolicyTest, published: Any, admin: Any) -> None:
    name = "<b>x</b>\u202e"
    hostile = policy_test_create(published, by=admin, name=name, tool="<i>", verdict="denied", context={})
    for path in (LIST, page(hostile)):
        text = client_of(admin).get(path).content.decode()
        assert "<b>x</b>" not in text and "\u202e" not in text.split("<main")[1].split('name="name"')[0]


def test_more_tests_take_no_more_queries(
    client_of: ClientOf, case: PolicyTest, published: Any, admin: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(admin)
    browser.get(LIST)
    for number in range(30):
        policy_test_create(published, by=admin, name=f"n{number}", tool="read", verdict="allowed", context={})
    with django_assert_max_num_queries(16):
        assert len(browser.get(LIST).context["tests"].rows) == 31


# --- the form ---


def test_an_admin_adds_changes_switches_and_removes_one(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    answer = browser.post(NEW, TYPED)
    assert (answer.status_code, answer["Location"]) == (302, LIST)
    test = PolicyTest.objects.get()
    assert (test.origin, test.call, test.params, test.version) == ("hand", None, None, 1)
    assert CallContext.from_json(test.context) == CallContext(
        agent_id="main",
        session_key="agent:main:telegram:group:-100",
        provider="openai",
        model_id="gpt-5",
        channel="telegram",
        sender_id="7",
        sender_is_owner=False,
        subagent_depth=1,
    )

    text = browser.get(page(test)).content.decode()
    assert '<option value="telegram/-100" selected>' in text
    changed = TYPED | {"version": "1", "params": '{"command": "ls"}', "verdict": "asks", "layer": "exec_policy"}
    assert browser.post(page(test), changed).status_code == 302
    test.refresh_from_db()
    assert (test.params, test.verdict, test.layer, test.version) == ({"command": "ls"}, "asks", "exec_policy", 2)

    assert browser.post(page(test, "switch/"), {"version": "2", "on": "off"}).status_code == 302
    test.refresh_from_db()
    assert (test.is_enabled, test.version) == (False, 3)
    assert browser.post(page(test, "switch/"), {"version": "3", "on": "on"}).status_code == 302
    assert browser.post(page(test, "remove/"), {"version": "3"}).status_code == 409
    assert browser.post(page(test, "remove/"), {"version": "4"}).status_code == 302
    assert not PolicyTest.objects.exists()


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"name": ""}, "name"),
        ({"tool": ""}, "tool"),
        ({"verdict": "perhaps"}, "verdict"),
        ({"layer": "agnet"}, "layer"),
        ({"verdict": "allowed", "layer": "agent"}, "layer"),
        ({"params": "{"}, "params"),
        ({"params": "[]"}, "params"),
        ({"context": "7"}, "context"),
        ({"context": '{"agent": "main"}'}, "context"),
        ({"depth": "-1"}, "__all__"),
        ({"owner": "perhaps"}, "__all__"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    members: dict[str, str], field: str, client_of: ClientOf, published: Any, admin: Any
) -> None:
    answer = client_of(admin).post(NEW, TYPED | members)
    assert answer.status_code == 422 and field in answer.context["form"].errors
    assert "Nothing was saved" in answer.content.decode()
    assert not PolicyTest.objects.exists()


def test_a_name_that_is_taken_is_refused(client_of: ClientOf, case: PolicyTest, admin: Any) -> None:
    answer = client_of(admin).post(NEW, TYPED | {"name": case.name})
    assert (answer.status_code, PolicyTest.objects.count()) == (422, 1)


def test_the_second_of_two_editors_sees_the_conflict(client_of: ClientOf, case: PolicyTest, admin: Any) -> None:
    policy_test_save(case, by=admin, tool="read")
    answer = client_of(admin).post(page(case), TYPED | {"version": "1"})
    assert answer.status_code == 409
    assert "Somebody changed this test" in answer.content.decode()
    case.refresh_from_db()
    assert (case.tool, case.version) == ("read", 2)


def test_what_the_fields_cannot_say_is_kept_as_json(
    client_of: ClientOf, case: PolicyTest, published: Any, admin: Any
) -> None:
    context = {"agent_id": "main", "session_key": "agent:main:subagent:x", "runtime_tools": ["read"]}
    test = policy_test_create(published, by=admin, name="rest", tool="read", verdict="allowed", context=context)
    answer = client_of(admin).get(page(test))
    written = answer.context["form"]["context"].value()
    assert json.loads(written) == context and "<details" in answer.content.decode()
    typed = TYPED | {"version": "1", "context": written, "name": "rest", "verdict": "allowed"}
    assert client_of(admin).post(page(test), typed).status_code == 302
    test.refresh_from_db()
    assert test.context == context


def test_every_situation_of_the_explorer_is_read_back(client_of: ClientOf, published: Any, admin: Any) -> None:
    from apps.console.situations import known_classes, situation_of

    for each in context_classes(known_classes(draft_snapshot(published))):
        context = context_of(each)
        situation = situation_of(context)
        as_picked = replace(context, sandboxed=context.sandboxed or None)  # what is not picked is as configured
        assert situation is not None and situation.context() == as_picked, each


def test_the_answer_follows_what_is_typed_and_stores_nothing(client_of: ClientOf, case: PolicyTest, admin: Any) -> None:
    typed = TYPED | {"do": "try", "tool": "gateway", "where": "", "depth": "", "version": "1"}
    for path in (NEW, page(case)):
        answer = client_of(admin).post(path, typed, headers=HTMX)
        trial = answer.context["trial"]
        assert (trial.draft.answer.layer, trial.draft.has_passed, trial.live.has_passed) == ("agent", True, True)
        text = answer.content.decode()
        assert text.lstrip().startswith('<div id="answer"') and "<html" not in text
    assert [(test.name, test.version) for test in PolicyTest.objects.all()] == [("no gateway", 1)]


def test_a_reader_may_ask_too_and_without_scripts_gets_the_page(
    client_of: ClientOf, case: PolicyTest, viewer: Any
) -> None:
    answer = client_of(viewer).post(page(case), TYPED | {"do": "try", "version": "1", "tool": "read"})
    assert (answer.status_code, answer.context["trial"].draft.has_passed) == (200, False)
    assert "<html" in answer.content.decode()


# --- one click ---


def test_one_is_made_from_a_recorded_call(client_of: ClientOf, published: Any, admin: Any, called: Any) -> None:
    call = called(agent="main", session_key="agent:main:main", params={"path": "a.md"})
    browser = client_of(admin)
    drawer = browser.get(f"/audit/calls/{show_id('call', call)}/", headers=HTMX).content.decode()
    link = f"{NEW}?call={show_id('call', call)}"
    assert link in drawer
    form = browser.get(link).context["form"]
    assert {"tool": "read", "verdict": "allowed", "params": {"path": "a.md"}}.items() <= form.initial.items()
    posted = {name: value for name, value in TYPED.items() if name not in {"layer", "where"}}
    posted |= {"name": form["name"].value(), "tool": "read", "verdict": "allowed", "call": form["call"].value()}
    assert browser.post(NEW, posted | {"origin": "call", "params": '{"path": "a.md"}'}).status_code == 302
    test = PolicyTest.objects.get()
    assert (test.origin, test.call) == ("call", call)
    assert f"/audit/calls/{show_id('call', call)}/" in browser.get(page(test)).content.decode()


def test_only_who_may_change_policy_is_offered_it(
    client_of: ClientOf, published: Any, auditor: Any, called: Any
) -> None:
    call = show_id("call", called(agent="main"))
    assert NEW not in client_of(auditor).get(f"/audit/calls/{call}/").content.decode()
    assert client_of(auditor).get(f"{NEW}?call={call}").status_code == 403


@pytest.mark.parametrize("call", ["call_x", "ap_x", "call_01m87jy0rpfbp96p829nvjyj3m"])
def test_a_call_that_is_not_on_record_is_not_found(call: str, client_of: ClientOf, published: Any, admin: Any) -> None:
    assert client_of(admin).get(NEW, {"call": call}).status_code == 404
    answer = client_of(admin).post(NEW, TYPED | {"origin": "call", "call": call})
    assert answer.status_code == 302
    assert (PolicyTest.objects.get().origin, PolicyTest.objects.get().call) == ("hand", None)


def test_one_is_made_from_a_situation_of_the_explorer(client_of: ClientOf, published: Any, admin: Any) -> None:
    browser = client_of(admin)
    text = browser.get("/explorer/?agent=main&channel=telegram&group=-100&tool=exec").content.decode()
    link = f"{NEW}?agent=main&amp;channel=telegram&amp;group=-100&amp;tool=exec"
    assert link in text
    form = browser.get(link.replace("&amp;", "&")).context["form"]
    assert (form.initial["verdict"], form.initial["layer"], form.initial["tool"]) == ("denied", "group", "exec")
    assert form.situation.title == "main · telegram -100"
    posted = TYPED | {"name": form["name"].value(), "layer": "group", "origin": "explorer"}
    assert browser.post(NEW, posted).status_code == 302
    assert PolicyTest.objects.get().origin == "explorer"


def test_a_situation_that_cannot_be_read_says_why(client_of: ClientOf, published: Any, admin: Any) -> None:
    answer = client_of(admin).get(f"{NEW}?tool=read&depth=x")
    assert answer.status_code == 200 and "the depth is a whole number" in answer.content.decode()


# --- coverage ---


def test_coverage_names_the_records_with_and_without_a_test(
    client_of: ClientOf, case: PolicyTest, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get("/policy-tests/coverage/")
    with django_assert_max_num_queries(25):
        answer = browser.get("/policy-tests/coverage/", headers=HTMX)
    kinds = {str(kind.label): kind for kind in answer.context["kinds"]}
    agents = kinds["Agents"]
    assert [(row.record.path, row.record.cases) for row in agents.covered] == [("agents.entries.main", 1)]
    assert [row.record.path for row in agents.without] == ["agents.entries.ops-runner"]
    text = answer.content.decode()
    assert text.lstrip().startswith('<div id="coverage"') and "/records/agent/" in text and "<html" not in text
    assert "<html" in browser.get("/policy-tests/coverage/").content.decode()


# --- what stands in the way of a publication ---


def test_the_review_names_what_fails_and_locks(client_of: ClientOf, failing: PolicyTest, admin: Any) -> None:
    answer = client_of(admin).get("/publish/")
    assert [row.record.name for row in answer.context["failing"]] == ["ops reads"]
    text = answer.content.decode()
    assert page(failing) in text and "Failing policy tests must be mended" in text


def test_publishing_is_refused_with_the_reason(
    client_of: ClientOf, failing: PolicyTest, published: Any, admin: Any
) -> None:
    live = live_publication(published)
    assert live is not None
    posted = {"message": "x", "expected_live": live.snapshot_id}
    answer = client_of(admin).post("/publish/", posted, headers=HTMX)
    assert answer.status_code == 422 and "ops reads" in answer.content.decode()
    assert live_publication(published) == live


def test_the_pill_says_how_many_fail(client_of: ClientOf, failing: PolicyTest, viewer: Any, admin: Any) -> None:
    assert "1 policy test fails" in client_of(viewer).get("/draft/pill/").content.decode()
    policy_test_save(failing, by=admin, is_enabled=False)
    assert "policy test" not in client_of(viewer).get("/draft/pill/").content.decode()
