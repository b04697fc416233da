"""The page on the sandbox: what the machine offers, what tools may use, what they ask for and get."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
from django.test import Client

from apps.console import sandbox as shown
from apps.firewall.sandbox.levels import Offer, Part
from apps.firewall.tools.sandboxing import Allowance, Sandbox
from apps.registry.models import Tool

ClientOf = Callable[..., Client]
WORKS = Part("a part")
GOOD = Sandbox(Allowance(), Offer(WORKS, WORKS, WORKS))
BAD = Sandbox(Allowance(), Offer(Part("bubblewrap", "bwrap is not installed"), Part("landlock", "none"), WORKS))


@pytest.fixture
def tools(environment: Any) -> None:
    for name, sandbox in (
        ("small", {"memory_bytes": 64 * 1024 * 1024, "wall_ms": 2000}),
        ("online", {"network": True}),
        ("odd", {"unknown": 1}),
    ):
        Tool.objects.create(environment=environment, name=name, traits={"sandbox": sandbox})


def page(client: Client, sandbox: Sandbox = GOOD) -> str:
    with patch.object(shown, "installation_sandbox", lambda: sandbox):
        answer = client.get("/sandbox/")
    assert answer.status_code == 200
    return str(answer.content.decode())


@pytest.mark.parametrize("name", ["admin", "operator", "auditor", "viewer"])
def test_every_role_reads_it(name: str, client_of: ClientOf, environment: Any, request: pytest.FixtureRequest) -> None:
    text = page(client_of(request.getfixturevalue(name)))

    assert "isolated" in text and "512 MB" in text and "SANDBOX_NETWORK" in text
    assert "No tool states any needs" in text


def test_it_says_what_is_missing_and_that_tools_do_not_run(client_of: ClientOf, viewer: Any, environment: Any) -> None:
    text = page(client_of(viewer), BAD)

    assert "Confined tools do not run" in text
    assert "bwrap is not installed" in text


@pytest.mark.parametrize(
    ("sandbox", "words"), [(GOOD, "node, for code"), (BAD, "it cannot be held on this machine: none")]
)
def test_it_says_whether_code_of_models_can_be_held(
    sandbox: Sandbox, words: str, client_of: ClientOf, viewer: Any, environment: Any
) -> None:
    assert words in page(client_of(viewer), sandbox)


def test_tools_are_listed_with_what_they_ask_for_and_get(client_of: ClientOf, viewer: Any, tools: None) -> None:
    text = page(client_of(viewer))

    assert "64 MB" in text and "2 s" in text
    assert "it needs the network, which is not allowed here" in text
    assert "its definition cannot be read" in text


def test_its_queries_are_few_and_do_not_grow_with_the_tools(
    client_of: ClientOf, viewer: Any, tools: None, django_assert_max_num_queries: Any
) -> None:
    client = client_of(viewer)
    with django_assert_max_num_queries(9):
        page(client)
