"""What a browser fetches when it first comes: Chromium with an empty cache signs in and sees the overview.

Counted are the bytes on the wire, headers included, as the browser reports them. The alternative is the same without
compression: what its scripts, sheets, pages and fonts hold.
"""

import shutil
from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench._installation import installation
from bench.figures import Figure

MOST_BYTES = 300_000


class _Wire:
    """Adds up what one browser receives."""

    def __init__(self, page: Page) -> None:
        self.received: list[float] = []
        self.unpacked: list[float] = []
        session = page.context.new_cdp_session(page)
        session.on("Network.loadingFinished", lambda event: self.received.append(event["encodedDataLength"]))
        session.on("Network.dataReceived", lambda event: self.unpacked.append(event["dataLength"]))
        session.send("Network.enable")

    def told(self, what: str) -> Figure:
        total = sum(self.received)
        value = f"{total / 1000:.0f} kB in {len(self.received)} answers, unpacked {sum(self.unpacked) / 1000:.0f} kB"
        return Figure(what, value, "≤ 300 kB", total <= MOST_BYTES)


def measure() -> Iterator[Figure]:
    """Open the first two pages of somebody who was never here."""
    with installation() as place, place.serve("--demo"), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(base_url=place.url).new_page()
        wire = _Wire(page)
        page.goto("/sign-in/", wait_until="networkidle")
        yield wire.told("first load of the page of signing in")
        _sign_in(page, place.passwords["admin"])
        yield wire.told("first load of that page and the overview together")
        browser.close()


def _sign_in(page: Any, password: str) -> None:
    page.get_by_label("User name").fill("admin")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "sign-in" not in url)
    page.wait_for_load_state("networkidle")
