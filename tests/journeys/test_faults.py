"""Eleven faults of a real document and its plugins: why a tool is missing, found in at most four clicks, and mended."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import Installation, Visitor, pick

pytestmark = pytest.mark.journey

MOST_CLICKS = 4
DOCUMENT = {
    "agents": {
        "ownership": "explicit",
        "entries": {
            "bot": {"tools": {"profile": "coding", "byProvider": {"openai": {"deny": ["web_fetch"]}}}},
            "denied": {"tools": {"profile": "coding", "deny": ["exec"]}},
            "guarded": {"tools": {"profile": "coding", "toolsBySender": {"*": {"deny": ["read"]}}}},
            "narrow": {"tools": {"profile": "minimal"}},
            "typo": {"tools": {"profile": "coding", "deny": ["exce"]}},
        },
    },
    "channels": {"telegram": {"groups": {"-100": {"tools": {"deny": ["process"]}}}}},
    "tools": {
        "deny": ["x_search"],
        "sandbox": {"tools": {"deny": ["write"]}},
        "subagents": {"tools": {"deny": ["sessions_list"]}},
    },
}


@pytest.fixture(scope="module")
def published(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    path: Path = tmp_path_factory.mktemp("faults") / "openclaw.json"
    path.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    _have_a_plugin_off(installation)
    installation.manage("policy", "import", str(path))
    installation.manage("policy", "publish", "-m", "with faults")
    return installation


def _have_a_plugin_off(installation: Installation) -> None:
    headers = {"Authorization": f"Bearer {installation.token('policy_read', 'policy_write')}"}
    with httpx.Client(base_url=f"{installation.url}/api/v1/registry", headers=headers, timeout=60) as client:
        client.post("/plugins", json={"key": "lamps", "name": "Lamps"}).raise_for_status()
        lamp = {"name": "lamp_set", "description": "Sets a lamp."}
        client.post("/tools", json={"definition": lamp, "plugin": "lamps"}).raise_for_status()
        client.patch("/plugins/lamps", json={"version": 1, "is_enabled": False}).raise_for_status()


class Search:
    """One search for a fault from the start page on; clicks and picks are counted."""

    def __init__(self, visitor: Visitor) -> None:
        self.page: Page = visitor.open("/")
        self.clicks = 0

    def click(self, target: Locator) -> None:
        self.clicks += 1
        target.click()

    def menu(self, name: str) -> None:
        self.click(self.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).first)

    def pick(self, label: str, value: str) -> None:
        self.clicks += 1
        pick(self.page, label, value)

    def agent(self, name: str) -> None:
        self.menu("Agents")
        self.click(self.page.locator("main").get_by_role("link", name=name, exact=True).first)

    def chip(self, layer: str, tool: str) -> None:
        """Follow a removed tool of the funnel to its trace; the list behind the first few takes a click more."""
        row = self.page.locator(f"#fl-{layer}")
        expect(row).to_be_visible()
        chip = row.get_by_role("link", name=tool, exact=True)
        if not chip.is_visible():
            self.click(row.locator("summary"))
        self.click(chip)

    def finds(self, rule: str) -> None:
        """The trace names the rule that decided."""
        expect(self.page.locator("#trace .trace > li.hit")).to_contain_text(rule)
        assert self.clicks <= MOST_CLICKS

    def mends(self, *edits: str) -> None:
        """Take the smallest fix; the draft then allows the tool."""
        fix = self.page.locator("#fix-A")
        expect(fix.locator(".fix-edits > li")).to_have_count(len(edits))
        for edit in edits:
            expect(fix).to_contain_text(edit)
        fix.get_by_role("button", name="Put it into the draft").click()
        self.page.wait_for_url(re.compile("at=draft"))
        expect(self.page.locator("#trace .trace > li.hit")).to_have_count(0)
        expect(self.page.locator("#trace .verdict.deny")).to_have_count(0)


@pytest.mark.slow
def test_eleven_faults_are_found_in_four_clicks_and_four_are_mended(published: Installation, sign_in: Any) -> None:
    admin = sign_in("admin")
    _faults_of_agents(admin)
    _faults_of_situations(admin)
    _a_fault_of_a_group(admin)
    _a_plugin_that_is_off(admin)
    page = admin.open("/publish/")
    expect(page.locator("main")).to_contain_text("denied")


def _faults_of_agents(admin: Visitor) -> None:
    """A typo, a deny, a rule by sender, a profile that hides, a deny for everybody."""
    search = Search(admin)
    search.agent("typo")
    expect(search.page.locator("main")).to_contain_text("exce")
    expect(search.page.locator("main")).to_contain_text(re.compile("did you mean|names nothing|no tool", re.IGNORECASE))
    assert search.clicks <= MOST_CLICKS
    search = Search(admin)
    search.agent("guarded")
    search.chip("sender", "read")
    search.finds("deny read")
    search = Search(admin)
    search.agent("bot")
    search.chip("global", "x_search")
    search.finds("tools.deny x_search")
    search = Search(admin)
    search.agent("denied")
    search.chip("agent", "exec")
    search.finds("agents.denied.tools.deny exec")
    search.mends("agents.entries.denied.tools.deny")
    search = Search(admin)
    search.agent("narrow")
    search.chip("profile", "read")
    search.finds("minimal")
    search.mends("agents.entries.narrow.tools.alsoAllow")


def _faults_of_situations(admin: Visitor) -> None:
    """A provider's block, the sandbox, sub-agents, owners: each is one pick away in the explorer."""
    for label, value, tool, rule in (
        ("Model", "openai", "web_fetch", "byProvider.openai.deny web_fetch"),
        ("Sandbox", "on", "write", "tools.sandbox.tools.deny write"),
        ("Sub-agent depth", "1", "sessions_list", "sessions_list"),
        ("Owner", "no", "gateway", "Owner-only"),
    ):
        search = Search(admin)
        search.menu("Explorer")
        search.pick(label, value)
        search.click(search.page.locator("#verdicts").get_by_role("link", name=tool, exact=True))
        search.finds(rule)


def _a_fault_of_a_group(admin: Visitor) -> None:
    search = Search(admin)
    search.menu("Explorer")
    search.click(search.page.get_by_role("link", name="Matrix"))
    search.click(search.page.get_by_role("link", name=re.compile("^bot, process:")))
    search.click(search.page.locator("#cell").get_by_role("link", name=re.compile("Group")))
    search.finds("channels.telegram.groups.-100.tools.deny process")
    search.mends("channels.telegram.groups.-100.tools.deny")


def _a_plugin_that_is_off(admin: Visitor) -> None:
    search = Search(admin)
    search.menu("Plugins")
    search.click(search.page.locator("main").get_by_role("link", name="Lamps"))
    page = search.page
    expect(page.locator("main")).to_contain_text("lamp_set")
    expect(page.locator("main")).to_contain_text("the next publication leaves them out")
    assert search.clicks <= MOST_CLICKS
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_role("link", name="Switch off…")).to_be_visible()
