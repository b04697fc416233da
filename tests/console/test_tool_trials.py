"""Trying a tool: a dry run for everybody who may explain, a real and recorded call for who may make calls."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from apps.audit.filters import EntryFilters
from apps.audit.selectors import calls
from apps.console.trial_fields import fields_of, params_of, params_of_json
from apps.firewall.tools.definition import Definition, Example
from apps.registry.models import Tool
from apps.registry.services import tool_set_state
from tests.gateway.server import Server

ClientOf = Callable[..., Client]

WRITE = {"agent": "main", "p.path": "a.txt", "p.content": "hello"}
DEFINITION = Definition(
    name="everything",
    parameters={
        "type": "object",
        "properties": {
            "title": {"type": "string", "minLength": 1, "maxLength": 80},
            "body": {"type": "string"},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "loud": {"type": "boolean"},
            "level": {"enum": ["low", "high"]},
            "place": {"enum": [f"place-{n}" for n in range(9)]},
            "labels": {"type": "array", "items": {"type": "string"}},
            "sizes": {"type": "array", "items": {"type": "integer"}},
            "more": {"type": "object"},
            "caller": {"type": "string"},
        },
        "required": ["title"],
    },
    context_mappings={"caller": "sender.id"},
    examples=(Example(parameters={"title": "One", "labels": ["a", "b"], "loud": True}),),
)


@pytest.fixture(autouse=True)
def workspaces(settings: Any, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path


def check(client_of: ClientOf, user: Any, tool: str, /, **members: str) -> Any:
    return client_of(user).post(f"/tool/try/{tool}/", members, headers={"hx-request": "true"})


# --- the form ---


def test_each_kind_of_parameter_has_its_kind_of_field() -> None:
    kinds = {field.name: field.kind for field in fields_of(DEFINITION, {})}
    assert kinds == {
        "title": "text",
        "body": "long",
        "count": "number",
        "share": "number",
        "loud": "flag",
        "level": "radios",
        "place": "choice",
        "labels": "lines",
        "sizes": "lines",
        "more": "json",
    }


def test_what_was_typed_becomes_params() -> None:
    texts = {
        "title": "One",
        "count": " 3 ",
        "share": "0.5",
        "loud": "true",
        "level": '"high"',
        "labels": "a b\n\nc",
        "sizes": "1\n2",
        "more": '{"a": [1]}',
    }
    assert params_of(DEFINITION, texts) == (
        {
            "title": "One",
            "count": 3,
            "share": 0.5,
            "loud": True,
            "level": "high",
            "labels": ["a b", "c"],
            "sizes": [1, 2],
            "more": {"a": [1]},
        },
        [],
    )


def test_empty_fields_are_left_out_but_for_a_text_that_must_have_letters() -> None:
    assert params_of(DEFINITION, {}) == ({"title": ""}, [])


def test_what_is_no_number_stays_as_it_was_typed() -> None:
    assert params_of(DEFINITION, {"title": "x", "count": "soon", "share": "nan"})[0] == {
        "title": "x",
        "count": "soon",
        "share": "nan",
    }


def test_what_cannot_be_read_as_json_is_told_at_its_field() -> None:
    params, problems = params_of(DEFINITION, {"title": "x", "more": "{NaN}"})
    assert (params, [problem["path"] for problem in problems]) == ({"title": "x"}, ["more"])


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": NaN}', "[" * 100_000])
def test_json_that_is_no_object_is_refused(text: str) -> None:
    assert params_of_json(text)[1]


# --- a dry run ---


def test_a_viewer_learns_what_a_call_would_meet(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = check(client_of, viewer, "write", **WRITE)
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "no approval needed" in text
    assert "Run for real" not in text


def test_mistakes_stand_at_their_fields_with_what_was_typed(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = check(client_of, viewer, "exec", **{"agent": "main", "p.command": "", "p.timeout": "soon"})
    assert answer.status_code == 422
    wrong = {field.name: field for field in answer.context["trial"].wrong_fields}
    assert set(wrong) == {"command", "timeout"}
    assert wrong["timeout"].value == "soon"
    assert 'aria-invalid="true"' in answer.content.decode()


def test_a_denial_names_its_layer_and_rule(client_of: ClientOf, published: Any, viewer: Any) -> None:
    out = check(client_of, viewer, "browser", agent="ops-runner").context["trial"].outcome
    assert (out.css, out.layer) == ("deny", "Profile")
    assert out.rehearsal.judgement.rule == "agents.ops-runner.tools.profile coding"


def test_a_place_counts(client_of: ClientOf, published: Any, viewer: Any) -> None:
    here = check(client_of, viewer, "exec", **{"agent": "main", "p.command": "ls"})
    there = check(client_of, viewer, "exec", **{"agent": "main", "where": "telegram/-100", "p.command": "ls"})
    assert here.context["trial"].outcome.rehearsal.allowed
    assert there.context["trial"].outcome.layer == "Group"


def test_a_command_that_would_ask_says_so(client_of: ClientOf, published: Any, viewer: Any) -> None:
    out = check(client_of, viewer, "exec", **{"agent": "ops-runner", "p.command": "ls"}).context["trial"].outcome
    assert (out.css, out.rehearsal.asks) == ("ask", True)


def test_a_withdrawn_tool_would_be_refused(client_of: ClientOf, published: Any, viewer: Any, admin: Any) -> None:
    tool_set_state(Tool.objects.get(name="write"), state="disabled", by=admin)
    out = check(client_of, viewer, "write", **WRITE).context["trial"].outcome
    assert (out.layer, out.rehearsal.judgement.reason) == ("Life cycle", "the tool `write` is switched off")


def test_a_dry_run_leaves_no_trace(client_of: ClientOf, published: Any, viewer: Any, tmp_path: Path) -> None:
    before = calls(EntryFilters(tool=("write",))).rows
    check(client_of, viewer, "write", **WRITE)
    assert calls(EntryFilters(tool=("write",))).rows == before
    assert list(tmp_path.rglob("a.txt")) == []


def test_params_may_be_written_as_json(client_of: ClientOf, published: Any, viewer: Any) -> None:
    members = {"agent": "main", "as": "json", "raw": '{"path": "a.txt", "content": 5}'}
    assert check(client_of, viewer, "write", **members).context["trial"].outcome.rehearsal.allowed
    answer = check(client_of, viewer, "write", **members | {"raw": "{"})
    assert (answer.status_code, answer.context["trial"].mistakes[0]["message"]) == (422, "This is no JSON.")


def test_without_scripts_the_whole_page_answers(client_of: ClientOf, published: Any, viewer: Any) -> None:
    answer = client_of(viewer).post("/tool/try/write/", WRITE)
    text = answer.content.decode()
    assert "<html" in text
    assert "no approval needed" in text


def test_a_tool_that_is_not_live_cannot_be_tried(client_of: ClientOf, environment: Any, viewer: Any) -> None:
    assert check(client_of, viewer, "exec").status_code == 404


def test_an_outsider_tries_nothing(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert check(client_of, outsider, "write", **WRITE).status_code == 403


def test_hostile_params_come_back_as_text(client_of: ClientOf, published: Any, viewer: Any) -> None:
    members = {"agent": "main", "p.path": '"><script>x</script>', "p.content": "</textarea><b>"}
    text = check(client_of, viewer, "write", **members).content.decode()
    assert "<script>x" not in text
    assert "</textarea><b>" not in text


# --- a real call ---


@pytest.fixture
def serving(transactional_db: None, published: Any) -> Iterator[Server]:
    """A server of this process whose gateway runs what is published."""
    running = Server().start()
    yield running
    running.stop()


@pytest.mark.parametrize("name", ["auditor", "viewer"])
def test_who_may_not_make_calls_makes_none(
    name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest
) -> None:
    for step in ("ask", "run"):
        assert check(client_of, request.getfixturevalue(name), "write", do=step, **WRITE).status_code == 403


def test_it_asks_once_before_it_runs(client_of: ClientOf, published: Any, operator: Any, tmp_path: Path) -> None:
    answer = check(client_of, operator, "write", do="ask", **WRITE)
    assert "Run it for real as main?" in answer.content.decode()
    assert list(tmp_path.rglob("a.txt")) == []


def test_without_a_gateway_it_says_so(client_of: ClientOf, published: Any, operator: Any) -> None:
    answer = check(client_of, operator, "write", do="run", **WRITE)
    assert "this process runs no calls" in answer.content.decode()


def test_a_real_call_runs_and_is_in_the_ledger_under_the_persons_name(
    client_of: ClientOf, serving: Server, operator: Any, tmp_path: Path
) -> None:
    answer = check(client_of, operator, "write", do="run", **WRITE)
    call = answer.context["call"].shown.call
    assert (call.status, call.tool, call.agent, call.actor) == ("completed", "write", "main", operator.actor)
    assert [file.read_text() for file in tmp_path.rglob("a.txt")] == ["hello"]
    shown = client_of(operator).get(f"/tool/call/{answer.context['call_shown_id']}/")
    assert "every 1s" not in shown.content.decode()


def test_a_call_that_needs_a_person_waits_for_another_one(
    client_of: ClientOf, serving: Server, operator: Any, admin: Any
) -> None:
    answer = check(client_of, operator, "exec", do="run", **{"agent": "ops-runner", "p.command": "ls"})
    text = answer.content.decode()
    assert "It waits for a person." in text
    assert "every 1s" in text


def test_mistakes_keep_a_call_from_being_made(client_of: ClientOf, published: Any, operator: Any) -> None:
    answer = check(client_of, operator, "write", do="run", agent="main")
    assert answer.status_code == 422
    assert "call" not in answer.context
