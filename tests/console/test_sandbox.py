"""The page on the sandbox: what the machine offers, what tools may use, what they ask for and get."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from apps.audit.models import Entry
from apps.console import sandbox as shown
from apps.firewall.sandbox.levels import Offer, Part
from apps.firewall.tools.sandboxing import Allowance, Sandbox
from apps.registry.models import Tool
from apps.registry.services.workspaces import workspaces_unused_remove

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


@pytest.fixture
def workspace(settings: Any, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path
    path = tmp_path / "workspaces" / "production" / "ops"
    path.mkdir(parents=True)
    (path / "made").write_bytes(b"x" * 3_000_000)
    return path


def test_it_shows_what_workspaces_hold_against_their_quotas(
    client_of: ClientOf, viewer: Any, environment: Any, workspace: Path
) -> None:
    text = page(client_of(viewer))

    assert "1 of 50,000 files" in text
    assert "WORKSPACE_QUOTA_MB" in text
    assert "Workspaces stay until somebody removes them" in text
    assert "Remove for good" not in text


def test_an_administrator_removes_a_workspace_and_the_ledger_keeps_that(
    client_of: ClientOf, admin: Any, environment: Any, workspace: Path
) -> None:
    browser = client_of(admin)
    assert "Remove for good" in page(browser)

    answer = browser.post("/sandbox/workspaces/remove/", {"environment": "production", "agent": "ops"})

    assert (answer.status_code, workspace.exists()) == (302, False)
    entry = Entry.objects.filter(kind="workspace_change").latest("at")
    changes: Any = entry.changes
    assert (entry.status, entry.environment, changes["agent"], changes["files"]) == (
        *("removed", "production", "ops", 1),
    )
    again = browser.post("/sandbox/workspaces/remove/", {"environment": "production", "agent": "../.."})
    assert again.status_code == 404


def test_workspaces_that_no_call_uses_go_after_as_long_as_an_administrator_says(
    environment: Any, workspace: Path, settings: Any
) -> None:
    os.utime(workspace, (1, 1))
    assert workspaces_unused_remove(at=timezone.now()) == 0

    settings.WORKSPACE_RETENTION_DAYS = 30
    assert workspaces_unused_remove(at=timezone.now()) == 1
    assert not workspace.exists()
    changes: Any = Entry.objects.filter(kind="workspace_change").latest("at").changes
    assert changes["why"] == "unused for 30 days"


def test_a_command_lists_workspaces(environment: Any, workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("sandbox", "workspaces")
    said = capsys.readouterr().out

    assert "production/ops" in said
    assert "kept for records 512 MB" in said
