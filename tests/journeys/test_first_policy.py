"""A new admin brings a real document, mends what is missing without breaking a house rule, publishes, and goes back."""

import re
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import ROOT, Installation, Visitor, pick, save_to_draft

pytestmark = pytest.mark.journey

DOCUMENT = ROOT / "tests" / "samples" / "openclaw.full.json5"
"""As OpenClaw itself validates it: JSON5, with comments, and more than the tool policy uses."""
AGENT, GROUP, OWNER, TOOL = "ops", "-100123", "1001", "exec"
RULE = "no command of our agents runs unasked"


def test_from_a_real_document_to_a_change_that_is_taken_back(installation: Installation, sign_in: Any) -> None:
    admin = sign_in("admin")
    _imports(admin)
    _publishes(admin, "As we had it", "v1")
    _guards(admin)
    secret = installation.token("calls_make")
    assert _called(installation, secret, "read") == "failed"  # there is no such file
    assert _called(installation, secret, TOOL) == "tool_not_found"

    _finds_why_it_is_missing(admin)
    _takes_the_smallest_fix(admin)
    _sees_who_else_would_have_it(admin)
    _cannot_publish(admin)
    _has_a_person_asked(admin)
    _replays(admin)
    _publishes(admin, "Commands for the owner, each one asked for", "v2")
    assert _called(installation, secret, TOOL) == "awaiting_approval"

    _rolls_back(admin)
    assert _called(installation, secret, TOOL) == "tool_not_found"


def _called(installation: Installation, secret: str, tool: str) -> str:
    """Call a tool as the owner has it called in the group; gives what becomes of it."""
    wanted = {
        "agent": AGENT,
        "session": f"agent:{AGENT}:telegram:group:{GROUP}",
        "tool": tool,
        "params": {"command": "date"} if tool == TOOL else {"path": "."},
        "context": {"channel": "telegram", "group_id": GROUP, "sender_id": OWNER},
        "wait_ms": 0 if tool == TOOL else 30_000,
    }
    headers = {"Authorization": f"Bearer {secret}"}
    with httpx.Client(base_url=f"{installation.url}/api/v1", headers=headers, timeout=60) as client:
        answer = client.post("/calls", json=wanted).json()
        for _ in range(300):  # the request for a person is on its way
            if answer.get("status") != "running":
                break
            answer = client.get(f"/calls/{answer['id']}", params={"wait": 200}).json()
    return str(answer.get("code") or answer["status"])


def _imports(admin: Visitor) -> None:
    page = admin.open("/import/")
    page.get_by_label("openclaw.json as a file").set_input_files(DOCUMENT)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("This can be imported")).to_be_visible()
    page.get_by_label("openclaw.json as a file").set_input_files(DOCUMENT)
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#report")).to_contain_text("Imported")
    admin.check_access()
    page.locator("#report").get_by_role("link", name="Review and publish").click()


def _publishes(admin: Visitor, message: str, version: str) -> None:
    page = admin.open("/publish/")
    page.get_by_label("Message").fill(message)
    page.get_by_role("button", name=f"Publish {version}").click()
    page.wait_for_url(re.compile("/snapshots/"))
    expect(page.locator("main")).to_contain_text(message)


def _guards(admin: Visitor) -> None:
    """Write a house rule down while it holds."""
    page = admin.open("/guardrails/")
    page.get_by_role("link", name="Add guardrail").click()
    page.get_by_label("Name", exact=True).fill(RULE)
    page.wait_for_load_state()
    for field, name in (("Agents", "main"), ("Agents", AGENT), ("Tools", TOOL)):
        box = page.get_by_role("combobox", name=re.compile(f"^{field}"))
        box.fill(name)
        box.press("Enter")
    page.get_by_label("Demands", exact=True).select_option("asks")
    expect(page.locator("#reads")).to_contain_text("holds")
    page.get_by_role("button", name="Add guardrail").click()
    expect(page.locator("#guardrails")).to_contain_text(RULE)


def _finds_why_it_is_missing(admin: Visitor) -> None:
    page = admin.open("/explorer/")
    for label, value in (("Agent", AGENT), ("Channel", "telegram"), ("Group", GROUP), ("Sender", f"id:{OWNER}")):
        pick(page, label, value)
    page.locator("#verdicts").get_by_role("link", name=TOOL, exact=True).click()
    expect(page.locator("#trace .trace > li.hit")).to_contain_text("minimal")
    admin.check_access()


def _takes_the_smallest_fix(admin: Visitor) -> None:
    page = admin.page
    fix = page.locator("#fix-A")
    expect(fix.locator(".fix-edits > li")).to_have_count(1)
    expect(fix).to_contain_text(f"agents.entries.{AGENT}.tools.alsoAllow")
    fix.get_by_role("button", name="Put it into the draft").click()
    page.wait_for_url(re.compile("at=draft"))
    expect(page.locator("#trace .verdict.deny")).to_have_count(0)


def _sees_who_else_would_have_it(admin: Visitor) -> None:
    page = admin.page
    page.locator("#draft-pill").get_by_role("link").click()
    page.wait_for_url(re.compile("/publish/"))
    expect(page.locator("#blast")).to_contain_text(AGENT)
    expect(page.locator("#blast")).to_contain_text(TOOL)
    rails = page.locator("#guardrail-review")
    expect(rails).to_contain_text("1 keeps from publishing")
    expect(rails).to_contain_text("Counterexample.")
    admin.check_access()


def _cannot_publish(admin: Visitor) -> None:
    page = admin.page
    expect(page.get_by_role("button", name="Publish v2")).to_be_disabled()
    expect(page.locator("#publish-do")).to_contain_text("Guardrails that fail must be mended or accepted first.")
    expect(page.locator("#guardrail-review")).to_contain_text(RULE)


def _has_a_person_asked(admin: Visitor) -> None:
    page = admin.open(f"/agents/{AGENT}/exec/")
    settings = page.get_by_role("region", name=re.compile("^Settings"))
    settings.get_by_label("Mode").select_option("ask")
    save_to_draft(page, settings)
    expect(page.locator("main")).to_contain_text("on-miss")
    page = admin.open("/publish/")
    expect(page.locator("#guardrail-review")).to_contain_text("nothing in the way")


def _replays(admin: Visitor) -> None:
    page = admin.page
    expect(page.locator("#publish-form")).to_contain_text("Not replayed yet")
    page.locator("#replay").get_by_role("button", name="Replay").click()
    expect(page.locator("#replay")).to_contain_text("2 real calls against the draft")
    expect(page.locator("#replay")).to_contain_text("1 would have been allowed")
    expect(page.locator("#publish-form")).to_contain_text("Replay: past calls would now run")
    admin.check_access()


def _rolls_back(admin: Visitor) -> None:
    page = admin.open("/snapshots/")
    page.get_by_role("link", name="v1", exact=True).last.click()
    page.locator("#rollback-form").get_by_label("Message").fill("Not before the holidays")
    page.get_by_role("button", name="Roll back to v1").click()
    page.wait_for_url(re.compile("/snapshots/"))
    expect(page.locator("main")).to_contain_text("Not before the holidays")
    expect(page.locator("main")).to_contain_text("v3")
    admin.check_access()
