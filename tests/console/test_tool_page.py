"""One tool's page: its schema as a table, what providers receive, who has it, its calls, where it may go."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.tools.definition import Definition, SandboxNeeds
from apps.policies.services import publish
from apps.registry import services
from apps.registry.models import Tool
from apps.registry.services import plugin_save, tool_set_state, tools_import
from tests.registry.test_tool_failures import draft as failure_draft

ClientOf = Callable[..., Client]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "maxLength": 256, "description": "One line."},
        "labels": {"type": "array", "items": {"type": "string"}, "uniqueItems": True, "maxItems": 20},
        "milestone": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "priority": {"enum": ["low", "normal"], "default": "normal"},
        "author": {
            "type": "object",
            "properties": {"mail": {"type": "string", "format": "email"}},
            "required": ["mail"],
        },
    },
    "required": ["title"],
    "additionalProperties": False,
}


@pytest.fixture
def tool(draft: Any, admin: Any) -> Tool:
    """A plugin's tool in the live snapshot."""
    plugin = plugin_save(draft, key="tracker", by=admin)
    definition = Definition(
        name="tracker/create_issue",
        description="Opens an issue.",
        parameters=SCHEMA,
        permissions=("issues:write",),
        sensitive=("title",),
    )
    tools_import(draft, [definition], source="plugin", plugin=plugin, by=admin)
    publish(draft, by=admin, message="first", expected_live="")
    return Tool.objects.get(name="tracker/create_issue")


def page(client_of: ClientOf, user: Any, name: str = "tracker/create_issue", query: str = "") -> Any:
    return client_of(user).get(f"/tools/{name}/{query}")


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, tool: Tool, request: pytest.FixtureRequest) -> None:
    assert page(client_of, request.getfixturevalue(name)).status_code == 200


def test_nobody_else_does_and_a_strange_name_is_not_there(
    client_of: ClientOf, tool: Tool, outsider: Any, viewer: Any
) -> None:
    assert page(client_of, outsider).status_code == 403
    assert page(client_of, viewer, "nothing").status_code == 404


def test_the_schema_is_a_table_in_words(client_of: ClientOf, tool: Tool, viewer: Any) -> None:
    table = page(client_of, viewer).context["table"]
    rows = {row.name: row for row in table.rows}
    assert (table.top, table.required) == (5, 1)
    assert table.rows[0].name == "title"
    assert (rows["title"].limits, rows["title"].notes) == (("1–256 characters",), ("masked in records",))
    assert (rows["labels"].type, rows["labels"].limits) == ("list of string", ("up to 20 items", "no repeats"))
    assert rows["milestone"].type == "integer or null"
    assert (rows["priority"].type, rows["priority"].limits) == ("one of low, normal", ("default normal",))
    assert (rows["author.mail"].depth, rows["author.mail"].limits) == (1, ("format email",))


def test_it_says_what_gemini_does_not_receive_and_why(client_of: ClientOf, tool: Tool, viewer: Any) -> None:
    previews = {each.key: each for each in page(client_of, viewer).context["previews"]}
    gemini = previews["gemini"]
    assert gemini.is_open
    stripped = {
        change.label: change for kind, _heading, changes in gemini.kinds if kind == "removed" for change in changes
    }
    assert stripped["maxLength"].paths == ("title",)
    assert stripped["maxLength"].reason == "Gemini does not accept it"
    assert any(part.mark == "del" and "maxLength" in part.text for line in gemini.lines for part in line.parts)
    assert "maxLength" not in str(gemini.sent)
    assert previews["anthropic"].badge != gemini.badge


def test_it_says_who_has_it_and_which_layer_takes_it_elsewhere(client_of: ClientOf, tool: Tool, viewer: Any) -> None:
    exec_rows = {row.agent: row for row in page(client_of, viewer, "exec").context["reached"]}
    assert exec_rows["main"].count < exec_rows["main"].places
    assert [denier.name for denier in exec_rows["main"].deniers] == ["Group"]
    rows = {row.agent: row for row in page(client_of, viewer).context["reached"]}
    assert (rows["main"].count, rows["main"].deniers[0].name) == (0, "Profile")


def test_figures_and_errors_come_from_the_ledger(
    client_of: ClientOf, tool: Tool, auditor: Any, viewer: Any, called: Callable[..., Any]
) -> None:
    before = page(client_of, auditor).context["use"].use
    called(tool=tool.name, agent="main")
    use = page(client_of, auditor).context["use"].use
    assert (use.calls, use.denied, use.failed, use.p50_ms, use.last_agent) == (before.calls + 1, 0, 0, 31, "main")
    assert sum(use.series) == use.calls
    assert page(client_of, viewer).context["use"] is None


def test_a_tool_that_is_not_live_says_so(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    text = page(client_of, viewer, "exec").content.decode()
    assert "Nothing is live yet" in text
    assert "after it was published it can be tried here" in text


def test_it_says_how_much_it_may_answer_and_what_it_asks_of_its_sandbox(
    client_of: ClientOf, environment: Any, viewer: Any, admin: Any
) -> None:
    needs = SandboxNeeds(level="isolated", memory_bytes=64 * 1024 * 1024, network=True)
    definition = Definition(name="shrink", result_limit=2500, sandbox=needs)
    tools_import(environment, [definition], source="client", by=admin)

    shown = page(client_of, viewer, "shrink").content.decode()

    assert "2500 characters" in shown
    assert "Level isolated, Memory 64 MB, Network yes" in shown


def test_the_schema_can_be_taken_away(client_of: ClientOf, tool: Tool, viewer: Any) -> None:
    answer = client_of(viewer).get("/tool/schema/tracker/create_issue/")
    assert answer.json() == SCHEMA
    assert answer["Content-Disposition"] == 'attachment; filename="tracker_create_issue.schema.json"'


def test_a_schema_that_mocks_the_page_is_shown_as_text(client_of: ClientOf, tool: Tool, viewer: Any) -> None:
    hostile = {"type": "object", "properties": {"<img src=x>": {"description": "\u202ehidden", "enum": ["</script>"]}}}
    Tool.objects.filter(pk=tool.pk).update(params_schema=hostile, description="<b>bold</b>")
    text = page(client_of, viewer).content.decode()
    assert "<img src=x>" not in text
    assert "<b>bold" not in text
    assert "U+202E" in text


def test_the_page_costs_a_bounded_number_of_queries(
    client_of: ClientOf, tool: Tool, auditor: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(auditor)
    browser.get("/tools/tracker/create_issue/")
    with django_assert_max_num_queries(24):
        assert browser.get("/tools/tracker/create_issue/").status_code == 200


# --- life cycle ---


def test_an_admin_disables_a_tool_after_seeing_who_loses_it(client_of: ClientOf, tool: Tool, admin: Any) -> None:
    browser = client_of(admin)
    asked = browser.get("/tool/state/exec/?to=disabled")
    assert {row.agent for row in asked.context["losing"]} == {"main", "ops-runner"}
    assert Tool.objects.get(name="exec").state == "active"
    done = browser.post("/tool/state/exec/", {"to": "disabled", "reason": "broken", "version": "1"})
    assert (done.status_code, done["Location"]) == (302, "/tools/exec/")
    row = Tool.objects.get(name="exec")
    assert (row.state, row.state_reason) == ("disabled", "broken")
    text = browser.get("/tools/exec/").content.decode()
    assert "calls to it are refused until it is back" in text


def test_a_state_that_does_not_follow_is_not_there(client_of: ClientOf, tool: Tool, admin: Any) -> None:
    assert client_of(admin).get("/tool/state/exec/?to=registered").status_code == 404
    assert client_of(admin).get("/tool/state/exec/").status_code == 404


def test_a_stale_page_changes_nothing(client_of: ClientOf, tool: Tool, admin: Any) -> None:
    tool_set_state(Tool.objects.get(name="exec"), state="deprecated", by=admin)
    answer = client_of(admin).post("/tool/state/exec/", {"to": "disabled", "version": "1"})
    assert answer.status_code == 409
    assert Tool.objects.get(name="exec").state == "deprecated"


def test_a_successor_must_be_there(client_of: ClientOf, tool: Tool, admin: Any) -> None:
    answer = client_of(admin).post("/tool/state/exec/", {"to": "deprecated", "successor": "nothing"})
    assert answer.status_code == 422
    assert "no offered tool is named" in answer.content.decode()


@pytest.mark.parametrize("name", ["operator", "auditor", "viewer", "outsider"])
def test_nobody_else_moves_a_tool(name: str, client_of: ClientOf, tool: Tool, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/tool/state/exec/?to=disabled").status_code == 403
    assert browser.post("/tool/state/exec/", {"to": "disabled"}).status_code == 403
    assert Tool.objects.get(name="exec").state == "active"


def test_the_page_names_who_may_when_the_reader_may_not(client_of: ClientOf, tool: Tool, viewer: Any) -> None:
    moves = page(client_of, viewer, "exec").context["moves"]
    assert {move.state for move in moves} == {"quarantined", "deprecated", "disabled", "unregistered"}
    assert {(move.is_allowed, move.who) for move in moves} == {(False, "Administrator")}


def test_its_history_tells_who_and_why(client_of: ClientOf, tool: Tool, admin: Any, viewer: Any) -> None:
    tool_set_state(Tool.objects.get(name="exec"), state="disabled", reason="too loud", by=admin)
    changes = page(client_of, viewer, "exec").context["changes"]
    assert (str(changes[0].state.label), changes[0].reason, changes[0].actor) == ("Disabled", "too loud", "admin")
    assert changes[-1].action == "added"


@pytest.mark.parametrize(("mode", "is_told"), [("direct_only", True), ("searchable", False)])
def test_a_tool_that_tool_search_never_hides_says_so(
    mode: Any, is_told: bool, client_of: ClientOf, draft: Any, admin: Any, viewer: Any
) -> None:
    plugin = plugin_save(draft, key="glance", by=admin)
    definition = Definition(name="glance_take", description="Looks at the screen.", catalog_mode=mode)
    tools_import(draft, [definition], source="plugin", plugin=plugin, by=admin)

    text = page(client_of, viewer, "glance_take").content.decode()

    assert ("always in sight" in text) is is_told


def test_its_author_sees_what_it_raised_and_who_may_not_read_calls_does_not(
    client_of: ClientOf, tool: Tool, admin: Any, environment: Any
) -> None:
    services.tool_failure_record(failure_draft(message="<b>no lamp</b>"))

    page = client_of(admin).get("/tools/exec/").content.decode()

    assert "Exceptions" in page
    assert "&lt;b&gt;no lamp&lt;/b&gt;" in page
    assert "lamp_tool.py&quot;, line 7, in set\n" in page


def test_a_tool_with_errors_is_not_offered_from_its_page(client_of: ClientOf, environment: Any, admin: Any) -> None:
    row = services.tool_register(environment, Definition(name="lamp_list"))

    answer = client_of(admin).post("/tool/state/lamp_list/", {"to": "active", "version": str(row.version)})

    assert answer.status_code == 422
    assert "without a description a model does not know when to use the tool" in answer.content.decode()
    row.refresh_from_db()
    assert row.state == "registered"
