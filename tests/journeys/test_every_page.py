"""Every page in a real browser: open to everybody in three looks, worked by keys alone, and pictured.

The pictures go to test-results/screens/, with an index.html that shows them side by side.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page

from tests.console.conftest import ask, called  # noqa: F401 - fixtures
from tests.journeys.conftest import AXE_OPTIONS
from tests.journeys.keys import Keys
from tests.journeys.pictures import LOOKS, WIDE, Look, Pictures
from tests.journeys.served import Served, fill, pages_of, serving, session_of
from tests.seeded import seed

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

# What each run looks at: the pages of the mockups.
MAIN = (
    "overview", "approvals", "agent", "group", "explorer-compare", "explorer-matrix", "publish", "audit-drawer", "tool",
    "account_login",
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _beside_a_loop() -> Iterator[None]:
    """Let this thread ask the database although Playwright keeps a loop in it that runs between its own calls."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture
def served(request: pytest.FixtureRequest, admin: Any, transactional_db: None, tmp_path: Any) -> Iterator[Served]:
    request.getfixturevalue("settings").VAR_DIR = tmp_path
    seeded = fill(seed(request), admin)
    pages, session = pages_of(seeded, admin), session_of(admin)
    with serving() as url:
        yield Served(url, session, pages)


class Walk:
    """One browser that goes from page to page, signed in where a page wants it."""

    def __init__(self, browser: Browser, served: Served) -> None:
        self.served = served
        self.problems: dict[str, list[str]] = {}
        self.name = ""
        self._mine, self._anybodys = self._page(browser, is_signed_in=True), self._page(browser, is_signed_in=False)

    def _page(self, browser: Browser, *, is_signed_in: bool) -> Page:
        context = browser.new_context(base_url=self.served.url, reduced_motion="reduce")
        if is_signed_in:
            context.add_cookies([{"name": "sessionid", "value": self.served.session, "url": self.served.url}])
        page = context.new_page()
        page.on("pageerror", lambda error: self.found(f"script: {error}"))
        return page

    def found(self, *problems: str) -> None:
        self.problems.setdefault(self.name, []).extend(problems)

    def open(self, name: str) -> Page:
        """Go to a page and wait until what it fetches has come."""
        self.name = name
        page = self._anybodys if self.served.is_for_anybody(name) else self._mine
        page.set_viewport_size({"width": 1440, "height": 1000})
        page.emulate_media(color_scheme="light")
        page.goto(self.served.pages[name], wait_until="load")
        settle(page)
        return page

    def ends_well(self) -> None:
        wrong = {name: found for name, found in self.problems.items() if found}
        assert wrong == {}, json.dumps(wrong, indent=1)


def settle(page: Page) -> None:
    """Wait for parts that a page fetches as it opens; one that never comes shows in the picture."""
    page.wait_for_timeout(60)
    for _ in range(40):
        if page.locator("[hx-trigger~=load][aria-busy=true], .htmx-request").count() == 0:
            return
        page.wait_for_timeout(100)


def axe(page: Page, *rules: str) -> list[str]:
    """Run axe; given rules, only those."""
    wanted = {"type": "rule", "values": rules} if rules else {"type": "tag", "values": AXE_OPTIONS["runOnly"]}
    found = page.evaluate("wanted => axe.run({runOnly: wanted, resultTypes: ['violations']})", wanted)["violations"]
    return [f"{rule['id']}: {json.dumps([node['target'] for node in rule['nodes'][:4]])}" for rule in found]


def look_at(walk: Walk, names: list[str], *looks: Look) -> None:
    pictures = Pictures()
    for name in names:
        page = walk.open(name)
        page.evaluate(AXE_SCRIPT)
        for look in looks:
            page.set_viewport_size({"width": look.width, "height": look.height})
            page.emulate_media(color_scheme=look.scheme)
            page.wait_for_timeout(80)  # the theme script answers the media query
            walk.found(*(f"{look.name}: {each}" for each in axe(page, *look.rules)))
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            walk.found(*([f"{look.name}: {wide} px wider than its window"] if wide > 0 else []))
            pictures.take(page, name, look)
    pictures.write_index()


def test_the_main_pages_are_open_to_everybody_and_worked_by_keys_alone(served: Served, browser: Browser) -> None:
    walk = Walk(browser, served)
    look_at(walk, list(MAIN), *LOOKS, WIDE)
    press_keys(walk, list(MAIN))
    walk.ends_well()


@pytest.mark.slow
def test_every_page_is_open_to_everybody(served: Served, browser: Browser) -> None:
    walk = Walk(browser, served)
    look_at(walk, chosen(served), *LOOKS)
    walk.ends_well()


@pytest.mark.slow
def test_every_page_is_worked_by_keys_alone(served: Served, browser: Browser) -> None:
    walk = Walk(browser, served)
    press_keys(walk, chosen(served))
    walk.ends_well()


def press_keys(walk: Walk, names: list[str]) -> None:
    keys = Keys()
    for name in names:
        page = walk.open(name)
        walk.found(*keys.walk(page), *keys.panels(page))
        if not walk.served.is_for_anybody(name):
            walk.found(*keys.skip(page))
    walk.found(*keys.menu(walk.open("overview")))
    walk.found(*keys.drawer(walk.open("audit")))
    assert keys.tried >= {"#palette", "#account-menu"}


def chosen(served: Served) -> list[str]:
    """Every page, or those that PAGES names while one mends them: PAGES=audit,agent."""
    wanted = os.environ.get("PAGES", "")
    return [name for name in served.pages if not wanted or name in wanted.split(",")]
