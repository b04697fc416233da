"""One command through the whole firewall, with everybody who has a part in it."""

import concurrent.futures
import json
import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from tests.journeys.conftest import Installation, Visitor

pytestmark = pytest.mark.journey

DEMO = Path(__file__).resolve().parents[2] / "apps" / "policies" / "demo"


def agent_calls(installation: Installation, secret: str, agent: str, command: str, wait_ms: int = 30_000) -> Any:
    answer = httpx.post(
        f"{installation.url}/api/v1/calls",
        headers={"Authorization": f"Bearer {secret}"},
        json={"agent": agent, "tool": "exec", "params": {"command": command}, "wait_ms": wait_ms},
        timeout=40,
    )
    return answer.status_code, answer.json()


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage("policy_import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json"))
    installation.manage("policy_publish", "-m", "the sample")
    return installation


def queue_of(visitor: Visitor) -> Page:
    page = visitor.open("/approvals/")
    expect(page.locator("#conn")).to_contain_text("Live")
    return page


def test_an_operator_lets_a_command_run_and_an_auditor_finds_it(published: Installation, sign_in: Any) -> None:
    secret = published.token("calls_make")
    first, second = queue_of(sign_in("operator")), queue_of(sign_in("admin"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(agent_calls, published, secret, "main", "touch seen-by-a-person.txt")
        card = first.get_by_role("article").filter(has_text="seen-by-a-person")
        expect(card).to_be_visible()
        late = second.get_by_role("article").filter(has_text="seen-by-a-person")
        expect(late).to_be_visible()
        second.route("**/resolve/", _slowly)
        late.get_by_role("button", name="Deny…").click()
        late.get_by_placeholder("Shown to the agent").fill("not today")
        late.get_by_role("button", name="Deny Enter").click(no_wait_after=True)
        card.get_by_role("button", name="Allow once").click()
        expect(second.get_by_text("operator was faster")).to_be_visible(timeout=10_000)
        status, answer = running.result(timeout=40)

    assert (status, answer["status"], answer["result"]["exit_code"]) == (200, "completed", 0)
    assert [found.name for found in published.var.glob("workspaces/*/main/*")] == ["seen-by-a-person.txt"]
    _auditor_finds(sign_in("auditor"), answer["id"])


def _slowly(route: Route) -> None:
    """Let the answer of the second operator arrive after the first one's."""
    time.sleep(1.5)
    route.continue_()


def _auditor_finds(auditor: Visitor, call_id: str) -> None:
    page = auditor.open("/audit/")
    page.get_by_role("link", name="exec").first.click()
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text("seen-by-a-person.txt")
    expect(drawer).to_contain_text("exit_code")
    expect(drawer).to_contain_text(re.compile(r"\d+ ms"))
    page.get_by_role("button", name="Export").click()
    page.get_by_role("button", name="JSONL").click()
    with page.expect_download(timeout=20_000) as loaded:
        page.get_by_role("link", name="Get").first.click(timeout=15_000)
    rows = [json.loads(line) for line in Path(loaded.value.path()).read_text().splitlines()]
    kinds = [row["kind"] for row in rows if row["call_id"] == call_id]
    assert kinds == ["approval_asked", "approval_answered", "call_intent", "call_outcome"]


def test_a_command_that_nobody_allows_does_not_run(published: Installation, sign_in: Any) -> None:
    secret = published.token("calls_make")
    page = queue_of(sign_in("operator"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(agent_calls, published, secret, "main", "touch forbidden.txt")
        card = page.get_by_role("article").filter(has_text="forbidden.txt")
        card.get_by_role("button", name="Deny…").click()
        card.get_by_placeholder("Shown to the agent").fill("not on a Friday")
        card.get_by_role("button", name="Deny Enter").click()
        _, answer = running.result(timeout=40)

    assert answer["status"] == "denied"
    assert "not on a Friday" in json.dumps(answer)
    assert list(published.var.glob("workspaces/*/main/forbidden.txt")) == []


@pytest.mark.parametrize(
    ("who", "path"),
    [("operator", "/approvals/"), ("auditor", "/audit/"), ("admin", "/users/"), ("admin", "/tokens/"),
     ("viewer", "/settings/")],
)  # fmt: skip
def test_each_page_is_open_to_everybody(published: Installation, sign_in: Any, who: str, path: str) -> None:
    visitor = sign_in(who)
    visitor.open(path)

    visitor.check_access()
