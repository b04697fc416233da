"""A command with a terminal shows what it said, and a workspace what it holds; served as the product is served."""

import json
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import Installation

pytestmark = pytest.mark.journey
POLICY = {"agents": {"entries": {"main": {"tools": {"profile": "coding", "exec": {"security": "full", "ask": "off"}}}}}}
APPROVALS = {"version": 1, "defaults": {"security": "full", "ask": "off"}}
CODE = "import os; print('terminal', [os.isatty(n) for n in range(3)]); open('made', 'w').write('x')"


@pytest.fixture(scope="module")
def called(installation: Installation) -> dict[str, Any]:
    """Give the answer to a call whose command has a terminal."""
    policy, approvals = installation.var / "openclaw.json", installation.var / "approvals.json"
    policy.write_text(json.dumps(POLICY))
    approvals.write_text(json.dumps(APPROVALS))
    installation.manage("policy", "import", str(policy), "--approvals", str(approvals))
    installation.manage("policy", "publish", "-m", "commands run")
    params = {"command": f'python3 -c "{CODE}"', "pty": True}
    answer = httpx.post(
        f"{installation.url}/api/v1/calls",
        headers={"Authorization": f"Bearer {installation.token('calls_make')}"},
        json={"agent": "main", "tool": "exec", "params": params, "wait_ms": 30_000},
        timeout=60,
    )
    found: dict[str, Any] = answer.json()
    return found


def test_the_page_of_a_call_shows_what_its_terminal_said(
    installation: Installation, called: dict[str, Any], sign_in: Any
) -> None:
    assert called["status"] == "completed", called
    assert "terminal [True, True, True]" in called["result"]["stdout"]

    page = sign_in("operator").open(f"/audit/calls/{called['id']}/")

    # the page also holds the record as JSON, hidden: what a reader sees counts
    expect(page.get_by_role("main")).to_contain_text("terminal [True, True, True]", use_inner_text=True)


def test_the_page_on_the_sandbox_shows_what_a_workspace_holds_and_removes_it(
    installation: Installation, called: dict[str, Any], sign_in: Any
) -> None:
    made = installation.var / "workspaces" / "production" / "main" / "made"
    assert made.exists(), called
    visitor = sign_in("admin")
    page = visitor.open("/sandbox/")
    row = page.get_by_role("row").filter(has_text="main").filter(has_text="files")
    expect(row).to_contain_text("1 of 50,000 files")
    visitor.check_access()

    row.locator("summary").click()
    row.get_by_role("button", name="Remove for good").click()

    expect(page.get_by_text("The workspace of main was removed.")).to_be_visible()
    assert not made.exists()
