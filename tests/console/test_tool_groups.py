"""Tool groups: what each holds, what of it exists here, and which lists name it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from apps.registry.models import Tool

ClientOf = Callable[..., Client]


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_them(name: str, client_of: ClientOf, published: Any, request: pytest.FixtureRequest) -> None:
    browser = client_of(request.getfixturevalue(name))
    assert browser.get("/tool-groups/").status_code == 200
    assert browser.get("/tool-groups/group:fs/").status_code == 200


def test_an_outsider_does_not(client_of: ClientOf, published: Any, outsider: Any) -> None:
    assert client_of(outsider).get("/tool-groups/").status_code == 403


def test_the_list_counts_members_and_references(client_of: ClientOf, published: Any, viewer: Any) -> None:
    rows = {row.name: row for row in client_of(viewer).get("/tool-groups/").context["rows"]}
    assert rows["group:media"].references == 1
    assert "exec" in rows["group:runtime"].members
    assert rows["group:plugins"].is_made


def test_a_group_names_its_members_and_who_names_it(client_of: ClientOf, published: Any, viewer: Any) -> None:
    Tool.objects.filter(name="pdf").delete()
    group = client_of(viewer).get("/tool-groups/group:media/").context["group"]
    members = {member.name: member.record for member in group.members}
    assert members["pdf"] is None
    assert members["tts"] is not None
    (reference,) = group.references
    assert (reference.place, reference.is_deny) == ("agents.entries.ops-runner", True)


def test_a_strange_name_is_not_there(client_of: ClientOf, published: Any, viewer: Any) -> None:
    assert client_of(viewer).get("/tool-groups/group:nothing/").status_code == 404


def test_the_menu_marks_the_groups_and_not_the_tools(client_of: ClientOf, published: Any, viewer: Any) -> None:
    text = client_of(viewer).get("/tool-groups/").content.decode()
    assert 'href="/tool-groups/" aria-current="page"' in text
    assert 'href="/tools/" aria-current="page"' not in text


def test_the_list_costs_a_bounded_number_of_queries(
    client_of: ClientOf, published: Any, viewer: Any, django_assert_max_num_queries: Any
) -> None:
    browser = client_of(viewer)
    browser.get("/tool-groups/")
    with django_assert_max_num_queries(16):
        assert browser.get("/tool-groups/").status_code == 200
