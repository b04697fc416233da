"""Grants of permissions and content filters, as programs write them, explain them and take them elsewhere."""

import json
from typing import Any

import pytest

from apps.firewall.tools.definition import Definition
from apps.registry.models import ToolSource
from apps.registry.services import tools_import

pytestmark = pytest.mark.django_db

GRANT = {"key": "main reads", "permissions": ["db:read"], "agent": "main", "resources": {"database": ["orders"]}}
CARDS = {"key": "cards", "pattern": "[0-9]{16}", "action": "block", "where": "params", "tools": ["orders_*"]}
ORDERS = Definition(
    name="orders_query",
    permissions=("db:read", "net:fetch"),
    resources={"database": "database", "domain": "url"},
)


@pytest.fixture
def writer(program: Any, draft: Any) -> Any:
    return program("policy_read", "policy_write", "explain")


@pytest.mark.parametrize(
    ("path", "record", "change"),
    [("permission-grants", GRANT, {"permissions": ["db:*"]}), ("content-filters", CARDS, {"action": "mask"})],
)
def test_a_record_is_added_read_changed_and_deleted(
    writer: Any, path: str, record: dict[str, Any], change: dict[str, Any]
) -> None:
    made = writer.post(path, record)
    assert made.status_code == 201, made.json()
    assert record.items() <= made.json().items()

    place = f"{path}/{made.json()['id']}"
    changed = writer.ask("PATCH", place, {"version": 1, **change})
    assert (changed.status_code, changed.json()["version"]) == (200, 2)
    assert writer.ask("PATCH", place, {"version": 1, "key": "other"}).status_code == 409
    assert writer.get(path).json()["results"] == [changed.json()]

    assert writer.ask("DELETE", f"{place}?version=2").status_code == 204
    assert writer.get(path).json()["results"] == []


@pytest.mark.parametrize("path", ["permission-grants", "content-filters"])
def test_reading_rights_write_nothing(program: Any, draft: Any, path: str) -> None:
    assert program("policy_read").post(path, GRANT).status_code == 403
    assert program("calls_make").get(path).status_code == 403


@pytest.mark.parametrize(
    ("path", "record", "field"),
    [
        ("permission-grants", GRANT | {"agent": ""}, ""),
        ("permission-grants", GRANT | {"permissions": []}, "permissions"),
        ("permission-grants", GRANT | {"resources": {"moon": ["x"]}}, "resources"),
        ("permission-grants", {"key": "x", "agent": "main"}, "permissions"),
        ("content-filters", CARDS | {"pattern": "(a+)+"}, "pattern"),
        ("content-filters", CARDS | {"action": "eat"}, "action"),
        ("content-filters", CARDS | {"key": "a]"}, "key"),
    ],
)
def test_a_mistake_is_named_at_its_field(writer: Any, path: str, record: dict[str, Any], field: str) -> None:
    answer = writer.post(path, record)

    assert answer.status_code in {400, 422}  # a shape, or a rule
    assert field in {detail["path"] for detail in answer.json()["details"]}


def test_two_grants_have_two_names(writer: Any) -> None:
    writer.post("permission-grants", GRANT)

    assert writer.post("permission-grants", GRANT).status_code == 422


def test_they_are_a_document_of_their_own(writer: Any) -> None:
    writer.post("permission-grants", GRANT)
    writer.post("content-filters", CARDS)
    written = writer.get("document").json()["guards"]
    assert written["permissionGrants"]["main reads"]["resources"] == {"database": ["orders"]}

    emptied = writer.ask("PUT", "document", {"guards": "{}"})
    assert emptied.json()["counts"]["deleted"] == 2
    again = writer.ask("PUT", "document", {"guards": json.dumps(written)})
    assert again.json()["records"] == {"permissiongrant": 1, "contentfilter": 1}
    assert writer.get("document").json()["guards"] == written


def test_a_document_with_mistakes_names_all_of_them_and_changes_nothing(writer: Any) -> None:
    writer.post("permission-grants", GRANT)
    before = writer.get("document").json()

    wrong = {"permissionGrants": {"a": {"agnt": "b"}}, "contentFilters": {"c": {"pattern": "("}}}
    refused = writer.ask("PUT", "document", {"document": '{"tools": {"deny": 3}}', "guards": json.dumps(wrong)})

    assert refused.status_code == 422
    assert {"guards:permissionGrants.a.agnt", "guards:contentFilters.c.pattern", "tools.deny"} <= {
        detail["path"] for detail in refused.json()["details"]
    }
    assert writer.get("document").json() == before


def explained(writer: Any, **asked: Any) -> list[tuple[str, str]]:
    body = {"context": {"agent_id": "main"}, "tool": "orders_query", "at": "draft", **asked}
    answer = writer.post("explain", body)
    assert answer.status_code == 200, answer.json()
    return [(each["permission"], each["verdict"]) for each in answer.json()["permissions"]]


def test_explain_says_what_the_grants_say(writer: Any, draft: Any, admin: Any) -> None:
    tools_import(draft, [ORDERS], source=ToolSource.CLIENT, by=admin)
    writer.post("permission-grants", GRANT)
    fetch = {"key": "operators fetch", "permissions": ["net:*"], "role": "operator"}
    writer.post("permission-grants", fetch)

    assert explained(writer) == [("db:read", "depends"), ("net:fetch", "missing")]
    orders = explained(writer, params={"database": "orders"}, role="operator")
    assert orders == [("db:read", "granted"), ("net:fetch", "granted")]
    assert explained(writer, params={"database": "hr"})[0] == ("db:read", "missing")
    assert explained(writer, context={"agent_id": "other"})[0] == ("db:read", "missing")
    assert explained(writer, tool="read") == []


def test_explain_refuses_params_in_which_a_resource_cannot_be_read(writer: Any, draft: Any, admin: Any) -> None:
    tools_import(draft, [ORDERS], source=ToolSource.CLIENT, by=admin)
    body = {"context": {"agent_id": "main"}, "tool": "orders_query", "at": "draft", "params": {"url": "https://a@b"}}

    answer = writer.post("explain", body)

    assert (answer.status_code, answer.json()["details"][0]["path"]) == (400, "params.url")
