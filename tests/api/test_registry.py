"""The catalogue by API: found, registered, changed, moved; sources and what they changed."""

from collections.abc import Callable
from typing import Any

import pytest

from apps.firewall.identifiers import new_id, show_id
from apps.registry import services
from apps.registry.models import DiscoverySource, Environment, Tool
from tests.registry.conftest import found, look, source  # noqa: F401 - fixtures
from tests.registry.test_tool_failures import draft as failure_draft

pytestmark = pytest.mark.django_db
SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


@pytest.fixture
def everything(program: Callable[..., Any]) -> Any:
    return program("policy_read", "policy_write", "publish", "audit_read")


def path_of(environment: Environment, name: str) -> str:
    return f"registry/tools/{Tool.objects.get(environment=environment, name=name).shown_id}"


# --- tools ---


def test_tools_are_found_by_filters_page_after_page(everything: Any) -> None:
    first = everything.get("registry/tools?section=fs&limit=2").json()
    second = everything.get(f"registry/tools?section=fs&limit=2&after={first['next']}").json()
    names = [tool["name"] for page in (first, second) for tool in page["results"]]
    assert len(names) == len(set(names)) == 4
    assert {"read", "write"} <= set(names)
    assert first["total"] == second["total"]
    assert everything.get(f"registry/tools?section=fs&limit=2&before={second['previous']}").json() == first


def test_a_filter_that_cannot_be_is_named(everything: Any) -> None:
    answer = everything.get("registry/tools?state=gone")
    assert (answer.status_code, answer.json()["details"][0]["path"]) == (400, "state")


def test_a_tool_is_read_whole(environment: Environment, everything: Any) -> None:
    shown = everything.get(path_of(environment, "read")).json()
    assert shown["tool"]["executor"] == {"kind": "builtin"}
    assert shown["definition"]["parameters"]["required"] == ["path"]
    assert set(shown["moves"]) == {"quarantined", "deprecated", "disabled", "unregistered"}


def test_a_tool_is_registered_activated_and_deprecated(environment: Environment, everything: Any) -> None:
    definition = {"name": "lamp_set", "description": "Sets a lamp.", "inputSchema": SCHEMA, "timeout": 2}
    answer = everything.post("registry/tools", {"definition": definition})
    assert (answer.status_code, answer.json()["state"]) == (201, "registered")
    assert answer.json()["traits"] == {"timeout_ms": 2000}

    path = f"registry/tools/{answer.json()['id']}/state"
    assert everything.post(path, {"state": "active"}).json()["state"] == "active"
    moved = everything.post(path, {"state": "deprecated", "successor": "READ", "reason": "old"}).json()
    assert (moved["state"], moved["traits"]["successor"]) == ("deprecated", "read")


def test_a_tool_stays_in_sight_of_models_where_its_definition_says_so(everything: Any) -> None:
    definition = {"name": "lamp_look", "description": "Looks at a lamp.", "catalogMode": "direct-only"}

    answer = everything.post("registry/tools", {"definition": definition})

    assert (answer.status_code, answer.json()["traits"]) == (201, {"catalog_mode": "direct_only"})


@pytest.mark.parametrize(
    ("order", "path"),
    [
        ({"definition": {"name": "x", "catalog_mode": "hidden"}}, "definition.catalog_mode"),
        ({"definition": {"name": "has space"}}, "definition.name"),
        ({"definition": {"name": "x", "parameters": {"type": "array"}}}, "definition.parameters"),
        ({"definition": {"name": "Bash"}}, "name"),
        ({"definition": {"name": "x"}, "executor": {"kind": "python", "attribute": "f", "module": "os"}}, "executor"),
        ({"definition": {"name": "x"}, "executor": {"kind": "mcp", "source": "nowhere", "tool": "x"}}, "executor"),
    ],
)
def test_what_cannot_be_registered_is_named(everything: Any, order: dict[str, Any], path: str) -> None:
    answer = everything.post("registry/tools", order)
    assert (answer.status_code, answer.json()["code"]) == (422, "tool_invalid")
    assert answer.json()["details"][0]["path"] == path


HTTP_SOURCE = {"url": "https://tools.example/registry", "allow_domains": ["tools.example"]}


@pytest.mark.parametrize(
    ("order", "path", "code"),
    [
        ({"definition": {"name": "x", "permisions": ["a:b"]}}, "definition.permisions", "unknown_field"),
        ({"definition": {"name": "x", "retry": {"max": 2}}}, "definition.retry.max", "unknown_field"),
        ({"definition": {"name": "x", "formats": {"a": "b"}}}, "definition.formats", "unknown_field"),
        (
            {"definition": {"name": "x", "parameters": {"type": "object", "required": ["city"]}}},
            "definition.parameters.required[0]",
            "required_unknown",
        ),
        ({"definition": {"name": "x"}, "executor": {}}, "executor.kind", "bad_executor"),
        ({"definition": {"name": "x"}, "executor": {"kind": "magic"}}, "executor.kind", "bad_executor"),
        ({"definition": {"name": "x"}, "executor": {"kind": "http"}}, "executor.source", "required_field_missing"),
        (
            {"definition": {"name": "x"}, "executor": {"kind": "http", "source": "web", "url": ""}},
            "executor.url",
            "required_field_missing",
        ),
        (
            {"definition": {"name": "x"}, "executor": {"kind": "http", "source": "web", "url": "tools/x"}},
            "executor.url",
            "url_refused",
        ),
        (
            {
                "definition": {"name": "x"},
                "executor": {"kind": "http", "source": "web", "url": "https://evil.example/"},
            },
            "executor.url",
            "url_refused",
        ),
        (
            {"definition": {"name": "x"}, "executor": {"kind": "http", "source": "web", "url": "ftp://tools.example/"}},
            "executor.url",
            "url_refused",
        ),
        (
            {
                "definition": {"name": "x"},
                "executor": {"kind": "http", "source": "web", "url": "https://tools.example/x", "method": "PUT"},
            },
            "executor.method",
            "unknown_field",
        ),
    ],
)
def test_what_would_fail_later_is_refused_at_the_door_with_its_place(
    environment: Environment, everything: Any, order: dict[str, Any], path: str, code: str
) -> None:
    services.source_create(environment, key="web", kind="remote", settings=HTTP_SOURCE)
    answer = everything.post("registry/tools", order)
    assert (answer.status_code, answer.json()["code"]) == (422, "tool_invalid")
    assert (answer.json()["details"][0]["path"], answer.json()["details"][0]["code"]) == (path, code)
    assert not Tool.objects.filter(name="x").exists()


def test_an_http_tool_with_a_whole_address_is_registered(environment: Environment, everything: Any) -> None:
    services.source_create(environment, key="web", kind="remote", settings=HTTP_SOURCE)
    executor = {"kind": "http", "source": "web", "url": "https://tools.example/x"}
    answer = everything.post("registry/tools", {"definition": {"name": "get_x"}, "executor": executor})
    assert (answer.status_code, answer.json()["executor"]) == (201, executor)


def test_a_tool_with_errors_is_not_activated(everything: Any) -> None:
    row = everything.post("registry/tools", {"definition": {"name": "lamp_list"}}).json()
    answer = everything.post(f"registry/tools/{row['id']}/state", {"state": "active"})
    assert (answer.status_code, answer.json()["code"]) == (422, "tool_invalid")
    assert answer.json()["details"][0]["path"] == "description"
    assert "cannot be offered before its errors are mended" in answer.json()["message"]


def test_an_author_reads_what_a_tool_raised_with_the_right_to_read_calls(
    environment: Environment, everything: Any, program: Callable[..., Any]
) -> None:
    failure = services.tool_failure_record(failure_draft())
    assert failure is not None
    path = f"{path_of(environment, 'exec')}/failures"

    (shown,) = everything.get(path).json()

    assert (shown["call_id"], shown["code"]) == (show_id("call", failure.call_id), "tool_raised")
    assert (shown["exception"], shown["message"]) == ("OSError", "no lamp")
    assert shown["traceback"].splitlines()[1].endswith("line 7, in set")
    assert program("policy_read", "policy_write").get(path).status_code == 403


def test_a_tool_is_changed_by_who_saw_its_last_version(environment: Environment, everything: Any) -> None:
    path = path_of(environment, "exec")
    assert everything.ask("PATCH", path, {"version": 1, "description": "Runs it"}).json()["description"] == "Runs it"
    answer = everything.ask("PATCH", path, {"version": 1, "description": "Runs it again"})
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_way_that_does_not_exist_is_refused(environment: Environment, everything: Any) -> None:
    answer = everything.post(f"{path_of(environment, 'exec')}/state", {"state": "initialised"})
    assert (answer.status_code, answer.json()["code"]) == (422, "tool_state_refused")


def test_what_makes_a_tool_live_again_takes_the_right_to_publish(
    environment: Environment, program: Callable[..., Any]
) -> None:
    writer = program("policy_write")
    path = f"{path_of(environment, 'exec')}/state"
    assert writer.post(path, {"state": "disabled"}).status_code == 200
    assert writer.post(path, {"state": "active"}).status_code == 403


@pytest.mark.usefixtures("empty_ledger")
def test_use_is_told_for_a_tool_that_was_never_called(environment: Environment, everything: Any) -> None:
    shown = everything.get(f"{path_of(environment, 'exec')}/use?days=7").json()
    assert (shown["days"], shown["calls"], shown["success_rate"], shown["last_at"]) == (7, 0, None, None)


def test_what_the_lint_says_and_what_each_provider_is_sent_is_told(everything: Any) -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string", "minLength": 3}}}
    tool = everything.post("registry/tools", {"definition": {"name": "stuff", "parameters": schema}}).json()
    shown = everything.get(f"registry/tools/{tool['id']}").json()
    assert "description_missing" in {finding["code"] for finding in shown["findings"]}

    listed = everything.get(f"registry/tools/{tool['id']}/previews").json()
    previews = {preview["provider"]: preview for preview in listed}
    assert set(previews) == {"openai-chat", "openai-responses", "anthropic", "gemini"}
    assert {change["keyword"] for change in previews["gemini"]["changes"]} == {"minLength"}
    assert previews["anthropic"]["changes"] == []


def test_a_reserved_name_is_taken_and_its_author_is_warned(everything: Any) -> None:
    made = everything.post("registry/tools", {"definition": {"name": "tool_search", "inputSchema": SCHEMA}}).json()

    found = everything.get(f"registry/tools/{made['id']}").json()["findings"]

    assert "name_reserved" in {each["code"] for each in found}


def test_the_history_of_a_tool_says_who_moved_it(environment: Environment, everything: Any, admin: Any) -> None:
    tool = Tool.objects.get(environment=environment, name="exec")
    services.tool_set_state(tool, state="disabled", reason="not here", by=admin)
    newest = everything.get(f"{path_of(environment, 'exec')}/history").json()[0]
    assert (newest["change"], newest["actor"], newest["state"]) == ("update", "user:admin", "disabled")


@pytest.mark.parametrize("kind", ["tool", "src", "run", "drift"])
def test_what_does_not_exist_is_not_found(everything: Any, kind: str) -> None:
    place = {"tool": "tools", "src": "sources", "run": "runs", "drift": "drifts"}[kind]
    answer = everything.get(f"registry/{place}/{show_id(kind, new_id())}")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


# --- plugins and groups ---


def test_a_plugin_is_added_and_switched_off(everything: Any) -> None:
    assert everything.post("registry/plugins", {"key": "search", "name": "Search"}).status_code == 201
    answer = everything.ask("PATCH", "registry/plugins/search", {"version": 1, "is_enabled": False})
    assert (answer.json()["name"], answer.json()["is_enabled"]) == ("Search", False)
    assert everything.get("registry/plugins").json()[0]["version"] == 2


def test_groups_are_those_of_the_release(everything: Any) -> None:
    groups = {group["name"]: group["members"] for group in everything.get("registry/groups").json()}
    assert "read" in groups["group:fs"]


# --- sources ---

REMOTE = {
    "key": "acme",
    "kind": "remote",
    "settings": {"url": "https://tools.acme.example/", "auth_token": "t0p-secret"},
    "interval_s": 300,
}


def test_a_source_is_added_and_its_secret_never_shown(everything: Any) -> None:
    answer = everything.post("registry/sources", REMOTE)
    assert answer.status_code == 201
    shown = answer.json()
    assert shown["settings"]["auth_token"] == {"$secret": "auth_token"}
    assert [(each["name"], each["length"]) for each in shown["secrets"]] == [("auth_token", 10)]
    assert shown["last_run"] is None
    for path in ("registry/sources", f"registry/sources/{shown['id']}"):
        assert b"t0p-secret" not in everything.get(path).content


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"key": "Has Space"}, "key"),
        ({"settings": {}}, "settings.url"),
        ({"settings": {"url": "ftp://x"}}, "settings.url"),
        ({"settings": {"url": "https://x.example", "colour": "red"}}, "settings.colour"),
        ({"settings": {"url": "https://x.example", "allow_networks": ["10.0.0.0/99"]}}, "settings.allow_networks[0]"),
        ({"settings": {"url": "https://x.example", "auth_token": {"$secret": "absent"}}}, "secrets"),
        ({"interval_s": 5}, "interval_s"),
    ],
)
def test_what_makes_no_source_is_named(everything: Any, change: dict[str, Any], path: str) -> None:
    answer = everything.post("registry/sources", {**REMOTE, **change})
    assert (answer.status_code, answer.json()["code"]) == (422, "source_invalid")
    assert path in [each["path"] for each in answer.json()["details"]]
    assert not DiscoverySource.objects.exists()


def test_a_source_is_changed_without_repeating_its_secret_and_removed(everything: Any) -> None:
    shown = everything.post("registry/sources", REMOTE).json()
    path = f"registry/sources/{shown['id']}"
    settings = {"url": "https://tools.acme.example/newer", "auth_token": {"$secret": "auth_token"}}
    changed = everything.ask("PATCH", path, {"version": 1, "settings": settings, "on_drift": "keep"}).json()
    assert (changed["settings"]["url"], changed["on_drift"]) == ("https://tools.acme.example/newer", "keep")
    assert changed["secrets"] == shown["secrets"]
    elsewhere = everything.ask(
        "PATCH", path, {"version": 2, "settings": settings | {"url": "https://elsewhere.example/"}}
    )
    assert elsewhere.status_code == 422
    assert [each["code"] for each in elsewhere.json()["details"]] == ["secret_needed"]
    assert everything.ask("DELETE", f"{path}?version=1").status_code == 409
    assert everything.ask("DELETE", f"{path}?version=2").status_code == 204
    assert everything.get("registry/sources").json() == []


def test_a_look_is_asked_for_and_told_of(everything: Any, source: DiscoverySource) -> None:  # noqa: F811
    path = f"registry/sources/{source.shown_id}"
    asked = everything.post(f"{path}/look", None)
    assert (asked.status_code, asked.json()["state"]) == (202, "running")
    again = everything.post(f"{path}/look", None)
    assert (again.status_code, again.json()["code"]) == (409, "source_busy")
    assert everything.get(path).json()["last_run"]["id"] == asked.json()["id"]
    assert [run["id"] for run in everything.get(f"{path}/runs").json()] == [asked.json()["id"]]


def test_a_changed_definition_is_shown_and_accepted(
    environment: Environment,
    everything: Any,
    program: Callable[..., Any],
    look: Callable[..., Any],  # noqa: F811
) -> None:
    look(found("files__list"))
    run = look(found("files__list", description="Otherwise."))
    findings = everything.get(f"registry/runs/{run.shown_id}").json()["findings"]
    assert (findings[0]["outcome"], findings[0]["code"]) == ("changed", "drift")

    (drift,) = everything.get("registry/drifts?state=pending").json()
    assert (drift["tool"], drift["source"]) == ("files__list", "files")
    expected = {"path": "description", "kind": "changed", "before": "Does files__list.", "after": "Otherwise."}
    assert drift["changes"] == [expected]
    assert everything.get(path_of(environment, "files__list")).json()["drift"] == drift["id"]

    path = f"registry/drifts/{drift['id']}/accept"
    assert program("policy_write").post(path, None).status_code == 403
    accepted = everything.post(path, None).json()
    assert (accepted["state"], accepted["description"]) == ("active", "Otherwise.")
    assert accepted["left"] == "publish"
    late = everything.post(f"registry/drifts/{drift['id']}/dismiss", None)
    assert (late.status_code, late.json()["code"]) == (409, "drift_decided")


def test_another_environments_records_do_not_exist(
    everything: Any,
    source: DiscoverySource,  # noqa: F811
) -> None:
    services.environment_create(slug="staging")
    answer = everything.get(f"registry/sources/{source.shown_id}?environment=staging")
    assert answer.status_code == 404


def test_who_may_only_read_changes_nothing(program: Callable[..., Any], environment: Environment) -> None:
    reader = program("policy_read")
    for path, body in (
        ("registry/tools", {"definition": {"name": "x"}}),
        ("registry/plugins", {"key": "x"}),
        ("registry/sources", REMOTE),
        (f"{path_of(environment, 'exec')}/state", {"state": "disabled"}),
    ):
        assert reader.post(path, body).status_code == 403
