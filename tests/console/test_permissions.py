"""Grants of permissions in the console: the list, the form, the two editors, and calls that are only tried."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.firewall.tools.definition import Definition
from apps.policies.models import PermissionGrant
from apps.policies.services import permission_grant_create, record_update
from apps.registry.models import ToolSource
from apps.registry.services import tools_import

ClientOf = Callable[..., Client]

ORDERS = Definition(
    name="orders_query",
    description="Reads orders.",
    permissions=("db:read",),
    resources={"database": "database"},
)
TYPED = {
    "key": "main reads",
    "permissions": "db:read\n",
    "agent": "main",
    "database": "orders\nstock_*",
    "version": "0",
}


@pytest.fixture
def asking(published: Any, admin: Any) -> Any:
    """The published environment with a tool that asks for a permission."""
    environment = published
    tools_import(environment, [ORDERS], source=ToolSource.CLIENT, by=admin)
    return environment


@pytest.fixture
def grant(asking: Any, admin: Any) -> PermissionGrant:
    return permission_grant_create(
        asking, "ops reads", by=admin, permissions=["db:*"], agent="ops-runner", resources={"database": ["orders"]}
    )


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(
    name: str, client_of: ClientOf, grant: PermissionGrant, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(name))

    assert browser.get("/permissions/").status_code == 200
    assert browser.get(f"/permissions/{grant.pk}/").status_code == 200


def test_who_may_not_write_policy_changes_nothing(
    client_of: ClientOf, grant: PermissionGrant, viewer: Any, outsider: Any
) -> None:
    browser = client_of(viewer)

    assert browser.get("/permissions/new/").status_code == 403
    assert browser.post("/permissions/new/", TYPED).status_code == 403
    assert browser.post(f"/permissions/{grant.pk}/", TYPED | {"version": "1"}).status_code == 403
    assert browser.post(f"/permissions/{grant.pk}/delete/", {"version": "1"}).status_code == 403
    assert client_of(outsider).get("/permissions/").status_code == 403
    assert [each.key for each in PermissionGrant.objects.all()] == ["ops reads"]


def test_the_list_says_what_to_whom_for_what(client_of: ClientOf, grant: PermissionGrant, viewer: Any) -> None:
    answer = client_of(viewer).get("/permissions/")

    (row,) = answer.context["rows"]
    assert row.conditions == [("agent", "ops-runner")]
    assert row.limits == [("database", ["orders"])]
    assert row.tools == ["orders_query"]


def test_without_grants_the_page_says_what_cannot_run(client_of: ClientOf, asking: Any, viewer: Any) -> None:
    text = client_of(viewer).get("/permissions/").content.decode()

    assert "Nobody has a permission yet" in text
    assert "1 tool asks for permissions" in text


def test_without_tools_that_ask_there_is_nothing_to_grant(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert "No grants, and none needed" in client_of(viewer).get("/permissions/").content.decode()


def test_a_grant_is_added_changed_and_removed(client_of: ClientOf, asking: Any, admin: Any) -> None:
    browser = client_of(admin)

    assert browser.post("/permissions/new/", TYPED).status_code == 302
    made = PermissionGrant.objects.get()
    assert (made.permissions, made.agent, made.resources) == (
        ["db:read"],
        "main",
        {"database": ["orders", "stock_*"]},
    )

    changed = TYPED | {"version": "1", "agent": "", "owner": "on", "database": ""}
    assert browser.post(f"/permissions/{made.pk}/", changed).status_code == 302
    made.refresh_from_db()
    assert (made.agent, made.owner, made.resources, made.version) == ("", True, {}, 2)

    assert browser.post(f"/permissions/{made.pk}/delete/", {"version": "2"}).status_code == 302
    assert not PermissionGrant.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"permissions": ""}, "permissions"),
        ({"permissions": "db read"}, "permissions"),
        ({"agent": ""}, "__all__"),
        ({"sender": "anna"}, "sender"),
        ({"key": "a]b"}, "key"),
        ({"path": "/srv/../etc"}, "__all__"),
    ],
)
def test_a_mistake_stands_beside_its_field(
    client_of: ClientOf, asking: Any, admin: Any, changes: dict[str, str], field: str
) -> None:
    answer = client_of(admin).post("/permissions/new/", TYPED | changes)

    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not PermissionGrant.objects.exists()


def test_the_slower_of_two_editors_chooses_a_side(client_of: ClientOf, grant: PermissionGrant, admin: Any) -> None:
    record_update(grant, {"resources": {"database": ["hr"]}}, by=admin, expected_version=1)
    mine = {"key": "ops reads", "permissions": "db:*", "agent": "ops-runner", "database": "stock", "version": "1"}
    browser = client_of(admin)

    refused = browser.post(f"/permissions/{grant.pk}/", mine)
    assert refused.status_code == 409
    (side,) = refused.context["conflict"].fields
    assert (side.label, side.theirs, side.yours) == ("Limited to", ("database: hr",), ("database: stock",))

    browser.post(f"/permissions/{grant.pk}/", mine | {"version": "2", "choose_resources": "theirs"})
    grant.refresh_from_db()
    assert grant.resources == {"database": ["hr"]}


def verdicts(answer: Any) -> list[tuple[str, str]]:
    return [(each.answer.permission, each.answer.verdict) for each in answer.context["trial"].answers]


def test_a_call_is_tried_against_the_draft(client_of: ClientOf, grant: PermissionGrant, viewer: Any) -> None:
    browser = client_of(viewer)
    asked = {"q-tool": "orders_query", "q-agent": "ops-runner"}

    assert verdicts(browser.get("/permissions/", asked)) == [("db:read", "depends")]
    fits = browser.get("/permissions/", asked | {"q-params": '{"database": "orders"}'}, headers={"HX-Request": "true"})
    assert verdicts(fits) == [("db:read", "granted")]
    assert fits.templates[0].name == "console/permissions/_answer.html"
    missing = browser.get("/permissions/", asked | {"q-params": '{"database": "hr"}'})
    assert verdicts(missing) == [("db:read", "missing")]
    assert "not for the database" in missing.content.decode()


@pytest.mark.parametrize("params", ["{", "[]", '{"database": 7}'])
def test_params_that_cannot_be_read_are_said_to_be(
    client_of: ClientOf, grant: PermissionGrant, viewer: Any, params: str
) -> None:
    asked = {"q-tool": "orders_query", "q-agent": "ops-runner", "q-params": params}

    assert client_of(viewer).get("/permissions/", asked).context["trial"].mistake


def test_a_call_is_tried_with_the_grant_as_it_is_typed(client_of: ClientOf, grant: PermissionGrant, admin: Any) -> None:
    typed = {"key": "ops reads", "permissions": "db:*", "agent": "ops-runner", "database": "hr", "do": "try"}
    asked = {"q-tool": "orders_query", "q-agent": "ops-runner", "q-params": '{"database": "hr"}'}

    answer = client_of(admin).post(f"/permissions/{grant.pk}/", typed | asked, headers={"HX-Request": "true"})

    assert verdicts(answer) == [("db:read", "granted")]
    grant.refresh_from_db()
    assert grant.resources == {"database": ["orders"]}


def test_the_explorer_says_which_permissions_are_granted(
    client_of: ClientOf, grant: PermissionGrant, viewer: Any
) -> None:
    browser = client_of(viewer)

    def traced(agent: str) -> list[tuple[str, str]]:
        asked = {"agent": agent, "tool": "orders_query", "at": "draft"}
        (trace,) = browser.get("/explorer/", asked).context["traces"]
        return [(each.answer.permission, each.answer.verdict) for each in trace.permissions]

    assert traced("ops-runner") == [("db:read", "depends")]
    assert traced("main") == [("db:read", "missing")]


def test_a_grant_that_is_gone_or_of_another_kind_is_not_there(client_of: ClientOf, asking: Any, admin: Any) -> None:
    assert client_of(admin).get(f"/permissions/{asking.pk}/").status_code == 404


def test_the_page_of_a_tool_names_what_it_asks_for(client_of: ClientOf, asking: Any, viewer: Any) -> None:
    text = client_of(viewer).get("/tools/orders_query/").content.decode()

    assert "db:read" in text and "database database" in text


def test_the_review_shows_the_grant(client_of: ClientOf, grant: PermissionGrant, viewer: Any) -> None:
    text = client_of(viewer).get("/publish/").content.decode()

    assert "Permission grant" in text and "ops reads" in text


def test_the_pages_cost_a_bounded_number_of_queries(
    client_of: ClientOf, grant: PermissionGrant, admin: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(admin)
    browser.get("/permissions/")
    with django_assert_max_num_queries(10):
        assert browser.get("/permissions/").status_code == 200
    with django_assert_max_num_queries(11):
        assert browser.get(f"/permissions/{grant.pk}/").status_code == 200
