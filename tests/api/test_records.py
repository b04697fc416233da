"""Records of the draft, as programs read and write them."""

from typing import Any

import pytest

PATHS = [
    "global-policy", "profiles", "agents", "provider-policies", "exec-settings", "channels", "accounts", "groups",
    "sender-rules", "permission-grants", "content-filters",
    "exec-allowlist", "registry/tools", "registry/plugins", "environments", "approvals",
    "document", "draft/changes",
    "draft/lint", "publications",
]  # fmt: skip
WRITES = [("POST", "agents"), ("PUT", "document"), ("POST", "publications"), ("POST", "publications/rollback")]

pytestmark = pytest.mark.django_db


def main_agent(reader: Any) -> Any:
    return reader.get("agents").json()["results"][0]


@pytest.mark.parametrize("path", PATHS)
def test_a_stranger_is_asked_for_a_token(program: Any, path: str) -> None:
    answer = program().get(path)

    assert answer.status_code == 401
    assert answer.json()["code"] == "not_authenticated"
    assert answer.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("path", PATHS)
def test_a_token_without_the_scope_is_refused(program: Any, path: str) -> None:
    answer = program("calls_make").get(path)

    assert answer.status_code == 403
    assert answer.json()["code"] == "permission_denied"


@pytest.mark.parametrize(("method", "path"), WRITES)
def test_reading_rights_write_nothing(program: Any, draft: Any, method: str, path: str) -> None:
    answer = program("policy_read", "explain").ask(method, path, {"key": "other", "message": "x", "expected_live": ""})

    assert answer.status_code == 403
    assert [agent["key"] for agent in program("policy_read").get("agents").json()["results"]] == ["main"]


@pytest.mark.parametrize("path", PATHS)
def test_a_reader_gets_an_answer(program: Any, draft: Any, path: str) -> None:
    assert program("policy_read", "approvals_read").get(path).status_code == 200


def test_an_unknown_token_says_nothing_about_why(program: Any) -> None:
    from tests.api.conftest import Program

    answer = Program("oca_unknown_secret").get("agents")

    assert answer.status_code == 401
    assert answer.json()["code"] == "token_invalid"


def test_an_agent_is_added_read_changed_and_deleted(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")

    made = writer.post("agents", {"key": "ops", "profile": "minimal", "also_allow": ["read"]})
    assert made.status_code == 201
    record = made.json()
    changed = writer.ask("PATCH", f"agents/{record['id']}", {"version": record["version"], "deny": ["write"]})
    assert (changed.status_code, changed.json()["deny"]) == (200, ["write"])
    assert writer.get(f"agents/{record['id']}").json() == changed.json()

    version = changed.json()["version"]
    assert writer.ask("DELETE", f"agents/{record['id']}?version={version}").status_code == 204
    assert writer.get(f"agents/{record['id']}").status_code == 404


def test_labels_of_an_agent_are_read_and_written(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")
    place = f"agents/{main_agent(writer)['id']}"
    assert writer.ask("PATCH", place, {"version": 1, "labels": ["production"]}).json()["labels"] == ["production"]
    refused = writer.ask("PATCH", place, {"version": 2, "labels": ["*"]})
    assert (refused.status_code, refused.json()["details"][0]["path"]) == (422, "labels")
    assert main_agent(writer)["labels"] == ["production"]


def test_a_stale_change_is_a_conflict_that_names_the_field(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")
    agent = main_agent(writer)
    writer.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": ["read"]})

    late = writer.ask("PATCH", f"agents/{agent['id']}", {"version": agent["version"], "deny": ["write"]})

    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert [detail["path"] for detail in late.json()["details"]] == ["deny"]
    assert main_agent(writer)["deny"] == ["read"]


def test_a_record_with_mistakes_names_each_of_them(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")

    answer = writer.post("agents", {"key": "bad", "profile": "no-such", "allow": ["read"], "also_allow": ["write"]})

    assert (answer.status_code, answer.json()["code"]) == (422, "record_invalid")
    assert "profile" in {detail["path"] for detail in answer.json()["details"]}
    assert len(writer.get("agents").json()["results"]) == 1


def test_a_change_without_the_version_that_was_seen_is_refused(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")

    answer = writer.ask("PATCH", f"agents/{main_agent(writer)['id']}", {"deny": ["write"]})

    assert answer.status_code == 400
    assert answer.json()["details"] == [{"path": "version", "code": "required", "message": "This field is required."}]


def test_groups_and_sender_rules_name_their_parents(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")
    channel = writer.post("channels", {"key": "telegram"}).json()

    group = writer.post("groups", {"channel": channel["id"], "key": "-100", "deny": ["write"]})
    rule = writer.post("sender-rules", {"group": group.json()["id"], "key": "id:42", "allow": ["read"]})

    assert (group.status_code, rule.status_code) == (201, 201)
    assert rule.json()["group"] == group.json()["id"]
    document = writer.get("document").json()["document"]
    assert document["channels"]["telegram"]["groups"]["-100"]["toolsBySender"] == {"id:42": {"allow": ["read"]}}


def test_a_record_of_another_environment_does_not_exist(program: Any, draft: Any, admin: Any) -> None:
    from apps.registry.services import environment_create

    environment_create(slug="staging", by=admin)
    agent = main_agent(program("policy_read"))

    assert program("policy_read").get(f"agents/{agent['id']}?environment=staging").status_code == 404
    assert program("policy_read", environment="staging").get("agents?environment=production").status_code == 404
    assert program("policy_read").get("agents?environment=nowhere").status_code == 404


def test_pages_go_on_where_they_stopped(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")
    for number in range(3):
        writer.post("agents", {"key": f"agent-{number}"})

    first = writer.get("agents?limit=3").json()
    second = writer.get("agents?" + first["next"].partition("?")[2]).json()

    keys = [agent["key"] for page in (first, second) for agent in page["results"]]
    assert keys == ["main", "agent-0", "agent-1", "agent-2"]
    assert second["next"] is None


def test_json_that_is_too_deep_or_none_at_all_is_refused(program: Any, draft: Any) -> None:
    writer = program("policy_write")

    deep = writer.ask("POST", "agents", "[" * 100 + "]" * 100)
    broken = writer.ask("POST", "agents", "{")

    assert (deep.status_code, deep.json()["code"]) == (400, "parse_error")
    assert (broken.status_code, broken.json()["code"]) == (400, "parse_error")


def test_a_token_has_its_own_rate(program: Any, draft: Any) -> None:
    reader = program("policy_read", rate_per_minute=2)

    statuses = [reader.get("agents").status_code for _ in range(3)]

    assert statuses == [200, 200, 429]
    assert int(reader.get("agents").headers["Retry-After"]) > 0


def test_an_account_joins_its_channel(program: Any, draft: Any) -> None:
    writer = program("policy_read", "policy_write")
    channel = writer.ask("POST", "channels", {"key": "signal"}).json()
    answer = writer.ask("POST", "accounts", {"key": "work", "channel": channel["id"]})
    assert answer.status_code == 201
    assert answer.json()["channel"] == channel["id"]
    assert writer.ask("POST", "accounts", {"key": "work", "channel": channel["id"]}).status_code == 422
