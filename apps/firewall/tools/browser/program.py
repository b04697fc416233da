"""The program that opens one page: `python -I program.py`, one order as JSON on stdin, one answer on stdout.

It runs inside bubblewrap, without a network: between the browser and a socket of the service lies a forwarder, and the
proxy behind that socket decides what is reached. Whatever a page does, it does to this tree of processes; what is
answered from here is hostile text, and whoever started this checks its shape. Standard library and Playwright only.
"""

import asyncio
import base64
import contextlib
import json
import os
import sys
from typing import Any

from playwright.async_api import Browser, Error, FloatRect, Page, Request, async_playwright
from playwright.async_api import TimeoutError as TooLongError

WIDTH, HEIGHT = 1280, 800
CHUNK_BYTES = 65536
# Beside what Playwright sets: no way but the proxy's is tried, and the browser asks for nothing that no page wants.
ARGUMENTS = (
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-quic",
    "--disable-software-rasterizer",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--in-process-gpu",
    "--no-pings",
    "--no-zygote",
)
OWN_HOSTS = "update.googleapis.com"
"""What the browser asks by itself at each start: not through the proxy, so that it leads nowhere."""
LINKS = "nodes => nodes.slice(0, {count}).map(node => [String(node.innerText).slice(0, 200), String(node.href)])"
SIZES = "() => [scrollX, scrollY, document.documentElement.scrollWidth, document.documentElement.scrollHeight]"


class RefusedError(Exception):
    """The call ends here; `code` says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Watched:
    """What happens to a page beside what it is asked for."""

    def __init__(self, page: Page) -> None:
        self.code = "page_failed"
        self.failed_url = ""
        self._page = page
        page.context.on("page", self._opened)
        page.on("crash", lambda _: self._ended("page_crashed"))
        page.on("download", lambda _: self._ended("download_refused"))
        page.on("requestfailed", self._failed)

    async def _opened(self, other: Page) -> None:
        with contextlib.suppress(Error):  # it has gone by itself
            await other.close()

    def _ended(self, code: str) -> None:
        self.code = code

    def _failed(self, request: Request) -> None:
        if request.is_navigation_request() and request.frame == self._page.main_frame:
            self.failed_url = request.url


async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> None:
    """Carry one line of the browser to the service's socket, and back."""
    with contextlib.suppress(OSError), contextlib.closing(writer):
        far_reader, far_writer = await asyncio.open_unix_connection(path)
        with contextlib.closing(far_writer):
            await asyncio.gather(carry(reader, far_writer), carry(far_reader, writer))


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):  # one side hung up: the other learns of it
        while part := await reader.read(CHUNK_BYTES):
            writer.write(part)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.write_eof()


async def carry_out(order: dict[str, Any]) -> None:
    """Open the page in a browser of its own, say what came of it, and leave the rest to whoever ends this tree."""
    way = await asyncio.start_server(lambda reader, writer: forward(reader, writer, order["socket"]), "127.0.0.1", 0)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=order["browser"],
            args=list(ARGUMENTS),
            proxy={"server": f"http://127.0.0.1:{way.sockets[0].getsockname()[1]}", "bypass": OWN_HOSTS},
            chromium_sandbox=False,  # what holds it lies around all of us, and lets nobody make a further one
        )
        try:
            told = await shown(browser, order)
        except RefusedError as exc:
            told = {"error": {"code": exc.code, "message": str(exc)}}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        os._exit(0)


async def shown(browser: Browser, order: dict[str, Any]) -> dict[str, Any]:
    context = await browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, accept_downloads=False, service_workers="block", locale="en-US"
    )
    context.set_default_timeout(order["time_limit_ms"])
    page = await context.new_page()
    watched = Watched(page)
    try:
        response = await page.goto(order["url"], wait_until=order["wait_until"])
        made = await (picture(page, order) if order["is_picture"] else words(page, order))
        told = {"url": page.url, "status": response.status if response else 0, "title": await page.title(), **made}
    except TooLongError:
        told = {"error": {"code": "time_limit", "message": "the page was not ready in time"}}
    except Error as exc:
        told = {"error": {"code": watched.code, "message": first_line(exc)}}
    return {**told, "failed_url": watched.failed_url}


async def words(page: Page, order: dict[str, Any]) -> dict[str, Any]:
    """Read what people would read."""
    root = page.locator(":root")
    try:
        text = await root.inner_text()
    except TooLongError:
        raise
    except Error:  # no page of HTML
        text = await root.text_content() or ""
    return {"text": text[: order["letters"]], "characters": len(text), "links": await links_of(page, order["links"])}


async def links_of(page: Page, count: int) -> object:
    """Read links where the page's own scripts run: a page that spoils what everybody uses there has none."""
    try:
        return await page.eval_on_selector_all("a[href]", LINKS.format(count=count))
    except TooLongError:
        raise
    except Error:
        return []


async def picture(page: Page, order: dict[str, Any]) -> dict[str, Any]:
    """Take a picture, of as much as fits."""
    area = await area_of(page, order)
    whole = [area["width"], area["height"]]
    area["width"], area["height"] = min(whole[0], order["width"]), min(whole[1], order["height"])
    while True:
        png = await page.screenshot(full_page=True, clip=area, animations="disabled")
        if len(png) <= order["png_bytes"] or area["height"] < 2:
            return {"png": base64.b64encode(png).decode("ascii"), "whole": whole}
        area["height"] = area["height"] // 2


async def area_of(page: Page, order: dict[str, Any]) -> FloatRect:
    try:
        across, down, width, height = map(float, await page.evaluate(SIZES))
    except (TypeError, ValueError) as exc:
        raise RefusedError("page_failed", "the page does not say how large it is") from exc
    if order["selector"]:
        box = await box_of(page, order["selector"])
        return {**box, "x": max(0, box["x"] + across), "y": max(0, box["y"] + down)}
    if order["full_page"]:
        return {"x": 0, "y": 0, "width": max(1, width), "height": max(1, height)}
    return {"x": across, "y": down, "width": WIDTH, "height": HEIGHT}


async def box_of(page: Page, selector: str) -> FloatRect:
    try:
        found = page.locator(f"css={selector}")
        box = await found.first.bounding_box() if await found.count() else None
    except TooLongError:
        raise
    except Error as exc:
        raise RefusedError("selector_invalid", f"the selector cannot be read: {first_line(exc)}") from exc
    if box is None or box["width"] < 1 or box["height"] < 1:
        raise RefusedError("selector_not_found", f"nothing on the page fits `{selector}`, or it cannot be seen")
    return box


def first_line(exc: Error) -> str:
    return exc.message.strip().partition("\n")[0][:500]


if __name__ == "__main__":
    asyncio.run(carry_out(json.load(sys.stdin)))
