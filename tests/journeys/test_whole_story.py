"""From an imported file to an exported record: everybody's part in one command, in their own browsers."""

import concurrent.futures
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.journeys.conftest import DEMO, Installation, Visitor, agent_calls, queue_of, save_to_draft

pytestmark = pytest.mark.journey

COMMAND = "touch seen-by-a-person.txt"


def hold_answer(page: Page) -> Callable[[], None]:
    """Hold this browser's answer to a request back until the returned function is called."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    def let_go() -> None:
        for route in held:
            route.continue_()

    page.route("**/resolve/", keep)
    return let_go


def test_a_policy_is_imported_reviewed_published_and_obeyed(installation: Installation, sign_in: Any) -> None:
    admin = sign_in("admin")
    _imports_the_sample(admin)
    _publishes(admin, "The sample as it is")
    _denies_exec(admin, "ops-runner")
    _reviews_and_publishes(admin)

    secret = installation.token("calls_make")
    status, refused = agent_calls(installation, secret, "ops-runner", "date")
    assert (status, refused["code"]) == (404, "tool_not_found")

    operator, second = queue_of(sign_in("operator")), queue_of(admin)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = pool.submit(agent_calls, installation, secret, "main", COMMAND)
        card = operator.get_by_role("article").filter(has_text=COMMAND)
        late = second.get_by_role("article").filter(has_text=COMMAND)
        expect(card).to_be_visible()
        expect(late).to_be_visible()
        let_go = hold_answer(second)
        late.get_by_role("button", name="Deny…").click()
        late.get_by_placeholder("Shown to the agent").fill("not today")
        late.get_by_role("button", name="Deny Enter").click()
        card.get_by_role("button", name="Allow once").click()
        status, answer = running.result(timeout=40)
        expect(late).to_have_attribute("data-leaving", "true")
        second.wait_for_timeout(2500)  # longer than a decided card stays of which nobody waits to be told
        let_go()
        expect(second.get_by_text("Operator was faster")).to_be_visible()

    assert (status, answer["status"], answer["result"]["exit_code"]) == (200, "completed", 0)
    assert [found.name for found in installation.var.glob("workspaces/*/main/*")] == ["seen-by-a-person.txt"]
    _finds_and_exports(sign_in("auditor"), answer["id"])


def _imports_the_sample(admin: Visitor) -> None:
    page = admin.open("/import/")
    admin.check_access()
    page.get_by_label("openclaw.json as a file").set_input_files(DEMO / "openclaw.json")
    page.get_by_label("Exec approvals as a file").set_input_files(DEMO / "exec-approvals.json")
    page.get_by_role("button", name="Import", exact=True).click()
    page.goto(admin.url + "/agents/")
    expect(page.get_by_role("link", name="ops-runner").first).to_be_visible()
    admin.check_access()


def _publishes(admin: Visitor, message: str) -> None:
    page = admin.open("/publish/")
    page.get_by_label("Message").fill(message)
    page.get_by_role("button", name=re.compile("^Publish v")).click()
    page.wait_for_url(re.compile("snapshots"))


def _denies_exec(admin: Visitor, agent: str) -> None:
    page = admin.open(f"/agents/{agent}/")
    funnel = page.locator("#funnel")
    available = funnel.get_by_text(re.compile(r"\d+ of \d+ tools available"))
    before = available.inner_text()
    page.get_by_role("combobox", name="Deny").fill("exec")
    page.get_by_role("combobox", name="Deny").press("Enter")
    expect(available).not_to_have_text(before)
    expect(funnel).to_contain_text(f"agents.{agent}.tools.deny")
    admin.check_access()
    save_to_draft(page)
    expect(page.get_by_text("unpublished change").first).to_be_visible()


def _reviews_and_publishes(admin: Visitor) -> None:
    page = admin.open("/publish/")
    blast = page.locator("#blast")
    expect(blast).to_contain_text("ops-runner", timeout=15_000)
    expect(blast).to_contain_text("exec")
    admin.check_access()
    _publishes(admin, "No commands for the runner")
    admin.open("/snapshots/")
    admin.check_access()
    page.goto(f"{admin.url}/explorer/?agent=ops-runner&tool=exec")
    expect(page.get_by_text("agents.ops-runner.tools.deny exec").first).to_be_visible()
    admin.check_access()
    admin.open("/")
    admin.check_access()


def _finds_and_exports(auditor: Visitor, call_id: str) -> None:
    page = auditor.open("/audit/")
    auditor.check_access()
    page.get_by_role("main").get_by_role("link", name="exec").first.click()
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
    late = "approval_refused"  # the second operator's answer, which came too late
    assert [kind for kind in kinds if kind != late] == [
        "approval_asked",
        "approval_answered",
        "call_intent",
        "call_outcome",
    ]
    assert kinds.count(late) == 1
