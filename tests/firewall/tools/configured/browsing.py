"""Pages for a real browser, and the surroundings of its calls; every server is on loopback."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.browser import visit
from apps.firewall.tools.browser.machine import machine_problem
from apps.firewall.tools.connector import Resolve
from apps.firewall.tools.work import Work
from tests.firewall.tools.configured.works import work_in
from tests.firewall.tools.connector.loopback import Handler, Server, names

needs_browser = pytest.mark.skipif(bool(machine_problem()), reason=machine_problem() or "a browser")


@pytest.fixture
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Have browsers of this test keep their folders apart from those of tests beside it, and give them time."""
    tmp_path_factory.getbasetemp()  # made before, so that it is not made in there
    folder = Path(tempfile.mkdtemp(prefix="pages-"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(visit, "TIME_LIMIT_S", 120.0)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)  # what was killed may still write its last


def page(html: str, *, status: str = "200 OK", more: str = "", kind: str = "text/html; charset=utf-8") -> bytes:
    body = html.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def moved(url: str) -> bytes:
    return page("", status="302 Found", more=f"Location: {url}\r\n")


def site(pages: Mapping[str, bytes | None]) -> Handler:
    """Answer by path; None never answers, and what is not there is a 404."""

    async def handle(request: bytes, writer: asyncio.StreamWriter) -> None:
        path = request.split(b" ")[1].decode()
        answer = pages.get(path, page("nothing here", status="404 Not Found"))
        if answer is None:
            await asyncio.sleep(60)
        else:
            writer.write(answer)
            await writer.drain()

    return handle


def web(*servers: Server, resolve: Resolve | None = None, wall_s: float = 120, **settings: Any) -> Work:
    options: dict[str, Any] = {"allow_networks": ["127.0.0.0/8"], "ports": [80, 443, *(each.port for each in servers)]}
    work = work_in(Path("/nonexistent"), "own_browser", resolve=resolve or names(), **{**options, **settings})
    return replace(work, place=replace(work.place, wall_s=wall_s))
