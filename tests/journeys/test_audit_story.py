"""An auditor finds a call by a word of its result, shares the link, keeps the search, takes it away, verifies it."""

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import DEMO, ROOT, Installation, Visitor

pytestmark = pytest.mark.journey
WORD = "quixotically"
PATIENCE_MS = 30_000
INTACT, FORGED = 0, 1


@pytest.fixture(scope="module")
def recorded(installation: Installation) -> Installation:
    """A published policy, and one call whose result holds a word that nothing else does."""
    installation.manage(
        "policy", "import", str(DEMO / "openclaw.json"), "--approvals", str(DEMO / "exec-approvals.json")
    )
    installation.manage("policy", "publish", "-m", "the sample")
    secret = installation.token("calls_make", "audit_read")
    for tool, params in (
        ("write", {"path": "notes.txt", "content": f"the windmill turned {WORD}\n"}),
        ("read", {"path": "notes.txt"}),
    ):
        answer = httpx.post(
            f"{installation.url}/api/v1/calls",
            headers={"Authorization": f"Bearer {secret}"},
            json={"agent": "main", "tool": tool, "params": params, "session": "agent:main:audited", "wait_ms": 30_000},
            timeout=60,
        ).json()
        assert answer["status"] == "completed", answer
    _wait_until_found(installation, secret)
    return installation


def _wait_until_found(installation: Installation, secret: str) -> None:
    """Words follow the ledger; who reads the page a moment earlier would have to look again."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while time.monotonic() < deadline:
        found = httpx.get(
            f"{installation.url}/api/v1/audit/calls",
            headers={"Authorization": f"Bearer {secret}"},
            params={"tool": "read", "text": WORD},
            timeout=60,
        ).json()
        if found["rows"]:
            return
        time.sleep(0.2)
    raise AssertionError(f"the index does not know `{WORD}`")


@pytest.mark.slow
def test_an_auditor_finds_shares_keeps_takes_away_and_verifies(
    recorded: Installation, sign_in: Any, tmp_path: Path
) -> None:
    auditor, colleague = sign_in("auditor"), sign_in("operator")
    link = _finds(auditor)
    _is_shared(colleague, link)
    _keeps(auditor)
    rows, manifest = _takes_away(auditor, tmp_path)
    key = _key(recorded)
    assert _verdict(rows, manifest, key) == INTACT
    rows.write_text(rows.read_text().replace(WORD, "sensibly"))
    assert _verdict(rows, manifest, key) == FORGED
    assert _tools_of_the_session(auditor, link) == ["write", "read"]


def test_a_role_sees_no_button_that_it_may_not_press(recorded: Installation, sign_in: Any) -> None:
    page = sign_in("operator").open("/audit/?span=all")
    expect(page.get_by_role("button", name="Search", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Export")).to_have_count(0)
    viewer = sign_in("viewer").open("/audit/")
    expect(viewer.get_by_role("button", name="Export")).to_have_count(0)
    expect(viewer.locator("#filters")).to_have_count(0)


def _finds(auditor: Visitor) -> str:
    page = auditor.open("/audit/?tool=read")
    page.get_by_label("Search calls").fill(WORD[:8])
    page.get_by_label("Search calls").press("Enter")
    page.wait_for_url(re.compile(f"q={WORD[:8]}"), timeout=PATIENCE_MS)
    expect(page.locator("#calls .call-link")).to_have_count(1, timeout=PATIENCE_MS)
    page.locator("#calls .call-link").press("Enter")
    drawer = page.locator("#drawer")
    expect(drawer).to_contain_text(WORD, timeout=PATIENCE_MS)
    expect(drawer).to_contain_text("Record intact")
    auditor.check_access()
    return str(drawer.get_by_role("button", name="Copy link").get_attribute("data-copy"))


def _is_shared(colleague: Visitor, link: str) -> None:
    page = colleague.page
    page.goto(link)
    expect(page.locator("#drawer")).to_contain_text(WORD)
    colleague.check_access()


def _keeps(auditor: Visitor) -> None:
    page = auditor.open(f"/audit/?tool=read&q={WORD}")
    page.get_by_role("button", name="Save filter").click()
    page.get_by_label("Name").fill("Windmills")
    page.get_by_label("Share with everybody").check()
    page.locator("#save-filter").get_by_role("button", name="Save").click()
    saved = page.get_by_role("group", name="Saved searches")
    expect(saved.get_by_role("link", name="Windmills")).to_have_attribute("aria-current", "true", timeout=PATIENCE_MS)
    _chooses_a_zone(page)
    auditor.check_access()


def _chooses_a_zone(page: Page) -> None:
    page.get_by_role("button", name="Display").click()
    page.get_by_label("Time zone").fill("Asia/Shanghai")
    page.get_by_role("checkbox", name="Trace").check()
    page.locator("#display").get_by_role("button", name="Save").click()
    expect(page.get_by_role("columnheader", name="Time (Asia/Shanghai (UTC+08:00))")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.get_by_role("columnheader", name="Trace")).to_be_visible()


def _takes_away(auditor: Visitor, folder: Path) -> tuple[Path, Path]:
    page = auditor.page
    page.get_by_role("button", name="Export").click()
    page.get_by_role("button", name="JSONL").click()
    paths = []
    for name in ("Get", "Manifest"):
        with page.expect_download(timeout=2 * PATIENCE_MS) as loaded:
            page.locator("#export-list").get_by_role("link", name=name).first.click(timeout=2 * PATIENCE_MS)
        path = folder / loaded.value.suggested_filename
        loaded.value.save_as(path)
        paths.append(path)
    assert WORD in paths[0].read_text()
    return paths[0], paths[1]


def _key(installation: Installation) -> str:
    found = re.search(r"\b[0-9a-f]{64}\b", installation.manage("audit_key"))
    assert found is not None
    return found[0]


def _verdict(rows: Path, manifest: Path, key: str) -> int:
    """Have the file checked as somebody without the product would; what is said stands in the test's output."""
    command = [sys.executable, "-I", str(ROOT / "verify_audit.py"), "export", str(rows), str(manifest), "--key", key]
    return subprocess.run(command, timeout=60, check=False, cwd=rows.parent).returncode


def _tools_of_the_session(auditor: Visitor, link: str) -> list[str]:
    page = auditor.page
    page.goto(link)
    page.locator("#drawer").get_by_role("link", name=re.compile("audited")).click()
    expect(page.get_by_role("heading", name="Session in order")).to_be_visible(timeout=PATIENCE_MS)
    tools = page.locator(".timeline a.mono")
    expect(tools).to_have_count(2, timeout=PATIENCE_MS)
    auditor.check_access()
    return [text.strip() for text in tools.all_inner_texts()]
