"""An MCP server is found, its tool is read, allowed, tried with a mistake, mended, and run for real."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.journeys.conftest import DEMO, ROOT, Installation, Visitor, save_to_draft

pytestmark = pytest.mark.journey

SERVER = ROOT / "docs" / "examples" / "mcp" / "notes_server.py"
SECRET = "not-for-any-page"
TOOL = "notes__note_add"


@pytest.fixture(scope="module")
def published(installation: Installation) -> Installation:
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    return installation


@pytest.mark.slow
def test_a_server_is_found_read_tried_mended_and_run(published: Installation, sign_in: Any, tmp_path: Path) -> None:
    admin = sign_in("admin")
    _finds_the_server(admin, tmp_path)
    _reads_what_gemini_gets(admin)
    _allows_it(admin)
    _tries_mends_and_runs(admin)
    assert [note.read_text() for note in tmp_path.iterdir()] == ["Milk\nTwo litres."]
    _sees_the_call(sign_in("auditor"))
    _walks_the_catalogue(admin)


def _finds_the_server(admin: Visitor, folder: Path) -> None:
    page = admin.open("/sources/")
    admin.check_access()
    page.get_by_role("link", name="Add source").first.click()
    page.get_by_role("link", name=re.compile(r"MCP server \(command\)")).click()
    admin.check_access()
    page.get_by_label("Key", exact=True).fill("notes")
    page.get_by_label("Command", exact=True).fill(f"{sys.executable}\n{SERVER}")
    page.get_by_label("Environment variables").fill(f"NOTES_KEY={SECRET}")
    page.get_by_label("Folder the command starts in").fill("notes")
    page.get_by_role("button", name="Add source").click()
    expect(page.get_by_role("alert").first).to_contain_text("must be an absolute path")
    admin.check_access()
    page.get_by_label("Folder the command starts in").fill(str(folder))
    page.get_by_role("button", name="Add source").click()
    page.wait_for_url("**/sources/notes/")
    expect(page.get_by_text(SECRET)).to_have_count(0)
    page.get_by_role("button", name="Look now").click()
    looks = page.locator("#looks")
    expect(looks.get_by_role("link", name=TOOL)).to_be_visible(timeout=60_000)
    expect(looks).to_contain_text("2 added")
    admin.check_access()


def _reads_what_gemini_gets(admin: Visitor) -> None:
    page = admin.page
    page.get_by_role("link", name=TOOL).first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(TOOL)
    expect(page.get_by_text("Not live yet.")).to_be_visible()
    page.get_by_role("tab", name=re.compile("^Gemini")).click()
    gemini = page.get_by_role("tabpanel", name=re.compile("^Gemini"))
    expect(gemini.locator(".diff del").first).to_be_visible()
    gemini.get_by_text("Why, and where").click()
    expect(gemini).to_contain_text("Gemini does not accept it")
    page.get_by_role("tab", name=re.compile("^Gemini")).press("ArrowLeft")
    expect(page.get_by_role("tabpanel", name=re.compile("^Anthropic"))).to_be_visible()
    admin.check_access()


def _allows_it(admin: Visitor) -> None:
    page = admin.open("/agents/main/")
    page.get_by_role("combobox", name="Also allow").fill(TOOL)
    page.get_by_role("combobox", name="Also allow").press("Enter")
    save_to_draft(page)
    expect(page.get_by_text("unpublished change").first).to_be_visible()
    page = admin.open("/publish/")
    page.get_by_label("Message").fill("Notes for main")
    page.get_by_role("button", name=re.compile("^Publish v")).click()
    page.wait_for_url(re.compile("snapshots"))


def _tries_mends_and_runs(admin: Visitor) -> None:
    page = admin.open(f"/tools/{TOOL}/")
    form, out, title = page.locator("#try"), page.locator("#try-out"), page.locator("#try").get_by_label("title")
    form.get_by_label("Agent").select_option("main")
    form.get_by_label("text").fill("Two litres.")
    form.get_by_role("button", name="Check call").click()
    expect(out).to_contain_text("Policy allows it.")
    expect(out).to_contain_text("Fix 1 mistake to send.")
    expect(form).to_contain_text("`title` must have at least 1 character")
    expect(title).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_label("text")).to_have_value("Two litres.")
    admin.check_access()
    title.fill("Milk")
    form.get_by_role("button", name="Run for real…").click()
    expect(out).to_contain_text("no approval needed")
    expect(out).to_contain_text("Run it for real as main?")
    expect(title).not_to_have_attribute("aria-invalid", "true")
    admin.check_access()
    form.get_by_role("button", name="Run it").click()
    call = page.locator("#try-call")
    expect(call).to_contain_text("ok", timeout=30_000)
    expect(call).to_contain_text("Two litres.")
    admin.check_access()


def _sees_the_call(auditor: Visitor) -> None:
    page = auditor.open(f"/audit/?tool={TOOL}")
    row = page.locator("#calls tbody tr").first
    expect(row).to_contain_text("main")
    page.get_by_role("link", name=TOOL).first.click()
    expect(page.locator("#drawer")).to_contain_text("Two litres.")
    page = auditor.open(f"/tools/{TOOL}/")
    expect(page.get_by_role("region", name="Calls")).to_contain_text("1")
    expect(page.get_by_role("button", name="Run for real…")).to_have_count(0)


def _walks_the_catalogue(admin: Visitor) -> None:
    page = admin.open("/tools/")
    page.get_by_label("Search tools").fill("note_")
    expect(page.locator("#tools tbody tr")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"\?q=note_$"))
    admin.check_access()
    page.get_by_label("Search tools").fill("nothing like it")
    expect(page.get_by_text("No tools match")).to_be_visible()
    admin.check_access()
    for path in ("/plugins/", "/tool-groups/", "/tool-groups/group:fs/", f"/tool/state/{TOOL}/?to=disabled"):
        admin.open(path)
        admin.check_access()
    page.get_by_label("Reason").fill("enough notes")
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("calls to it are refused until it is back")).to_be_visible()
    admin.check_access()
