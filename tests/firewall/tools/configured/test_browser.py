"""`browser_navigate` and `browser_screenshot`: a real Chromium, real servers on loopback, names of the test's own."""

import asyncio
import base64
import contextlib
import os
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.browser import machine, visit
from apps.firewall.tools.discovery.own import look_own
from apps.firewall.tools.running import ToolOutcome
from tests.firewall.sandbox.test_process import alive
from tests.firewall.tools.configured.browsing import moved, needs_browser, own_folder, page, site, web  # noqa: F401 - a fixture
from tests.firewall.tools.configured.works import code, run
from tests.firewall.tools.connector.loopback import names, serving, watching
from tests.firewall.tools.connector.test_tls import Certified, certified  # noqa: F401 (a fixture)

pytestmark = [pytest.mark.unhurried, pytest.mark.usefixtures("own_folder"), needs_browser]


def told(outcome: ToolOutcome) -> Any:
    assert outcome.result is not None, outcome
    return outcome.result


def left() -> list[Path]:
    return list(Path(tempfile.gettempdir()).glob("openclaw-browser-*"))


async def test_a_page_is_told_as_people_see_it_and_the_browser_asks_for_nothing_else() -> None:
    html = "<title>Tea</title><p id=a>one</p><p hidden>two</p><a href='/x'>more</a><script>a.innerText+='!'</script>"
    asked: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    before = left()
    async with serving(site({"/": moved("/tea"), "/tea": page(html)})) as server:
        outcome = await run(
            "browser_navigate", web(server, resolve=resolve), url=server.url(), wait_until="networkidle"
        )

    assert told(outcome) == {
        "url": server.url("/tea"),
        "status": 200,
        "title": "Tea",
        "characters": 10,
        "truncated": False,
        "refused": [],
        "text": "one!\n\nmore",
        "links": [{"text": "more", "url": server.url("/x")}],
    }
    assert asked == ["tools.test"]
    assert left() == before


@pytest.mark.slow
async def test_a_page_that_says_no_is_an_answer_and_what_it_could_not_get_is_named() -> None:
    html = "gone <img src='http://169.254.169.254/x.png'><img src='http://elsewhere.test/y.png'>"
    async with serving(site({"/": page(html, status="410 Gone")})) as server:
        work = web(server, deny_domains=["elsewhere.test"])
        outcome = await run("browser_navigate", work, url=server.url())

    assert (told(outcome)["status"], told(outcome)["text"].strip()) == (410, "gone")
    assert {each["place"]: each["code"] for each in told(outcome)["refused"]} == {
        "169.254.169.254:80": "address_refused",
        "elsewhere.test:80": "url_refused",
    }


@pytest.mark.slow
async def test_it_waits_for_as_much_as_it_is_told() -> None:
    late = (
        "<p id=a>first</p><script>setTimeout(async () => a.innerText = await (await fetch('/b')).text(), 200)</script>"
    )
    hanging = "<p>here</p><img src='/never'>"
    pages = {"/": page(late), "/b": page("second", kind="text/plain"), "/slow": page(hanging), "/never": None}
    async with serving(site(pages)) as server:
        idle = await run("browser_navigate", web(server), url=server.url(), wait_until="networkidle")
        read = await run("browser_navigate", web(server), url=server.url("/slow"), wait_until="domcontentloaded")
        whole = await run("browser_navigate", web(server, wall_s=12), url=server.url("/slow"))

    assert told(idle)["text"] == "second"
    assert told(read)["text"] == "here"
    assert code(whole) == "time_limit"


@pytest.mark.slow
async def test_what_a_page_says_of_itself_is_text_whatever_its_scripts_changed() -> None:
    html = """<title>x</title><p>plain</p><a href="http://a.test/">a</a><script>
        Array.prototype.map = function () { return [["x".repeat(9e6), {}], 7, null, ["a", "javascript:1"]] };
        Array.prototype.slice = function () { return this };
        JSON.stringify = () => "{}"; Object.prototype.toJSON = () => 7;
        Object.defineProperty(HTMLElement.prototype, "innerText", {get: () => "forged " + "y".repeat(9e5)});
        alert("stop"); window.open("/popup"); navigator.geolocation.getCurrentPosition(() => 1);
        </script>"""
    async with serving(site({"/": page(html), "/popup": page("other")})) as server:
        outcome = await run("browser_navigate", web(server), url=server.url())

    assert isinstance(told(outcome)["text"], str) and len(told(outcome)["text"]) <= 40_000
    assert all(set(each) == {"text", "url"} and len(each["text"]) <= 200 for each in told(outcome)["links"])
    assert told(outcome)["url"] == server.url()


def picture(outcome: ToolOutcome) -> tuple[int, int]:
    words, image = told(outcome)["content"]
    content = base64.b64decode(image["data"])
    assert (words["type"], image["type"], image["mimeType"]) == ("text", "image", "image/png")
    width, height = struct.unpack(">II", content[16:24])
    details = told(outcome)["details"]
    assert (details["width"], details["height"]) == (width, height)
    assert details["truncated"] == ("[cut:" in words["text"])
    return width, height


async def test_a_picture_of_the_window_of_the_page_and_of_one_element() -> None:
    high = (
        "<body style='margin:0'><div id=a style='height:3000px'></div><i style='display:block;width:90px;height:70px'>"
    )
    async with serving(site({"/": page(high)})) as server:
        window = await run("browser_screenshot", web(server), url=server.url())
        full = await run("browser_screenshot", web(server), url=server.url(), full_page=True)
        element = await run("browser_screenshot", web(server), url=server.url(), selector="body > i")
        missing = await run("browser_screenshot", web(server), url=server.url(), selector="#none")
        broken = await run("browser_screenshot", web(server), url=server.url(), selector="[[[")

    assert (picture(window), picture(full), picture(element)) == ((1280, 800), (1280, 3070), (90, 70))
    assert (code(missing), code(broken)) == ("selector_not_found", "selector_invalid")


@pytest.mark.slow
async def test_a_picture_too_large_is_cut_and_says_so() -> None:
    noise = """<body style='margin:0'><canvas id=c width=1280 height=2000></canvas><p style='height:90000px'><script>
        const d = c.getContext("2d"), i = d.createImageData(1280, 2000); let s = 1;
        for (let n = 0; n < i.data.length; n++) i.data[n] = (s = s * 48271 % 2147483647) & 255;
        d.putImageData(i, 0, 0)</script>"""
    async with serving(site({"/": page(noise), "/high": page("<p style='height:90000px'>")})) as server:
        high = await run("browser_screenshot", web(server), url=server.url("/high"), full_page=True)
        heavy = await run("browser_screenshot", web(server), url=server.url(), full_page=True)

    assert picture(high) == (1280, 8000) and told(high)["details"]["truncated"]
    assert "[cut: the whole is 1280 x 90" in told(high)["content"][0]["text"]
    assert picture(heavy)[1] <= 1000 and told(heavy)["details"]["truncated"]


REFUSED_URLS = {
    "a file": "file:///etc/passwd",
    "the browser's own pages": "chrome://settings/",
    "a page in its address": "data:text/html,hello",
    "a script": "javascript:alert(1)",
    "its source": "view-source:http://tools.test/",
    "loopback as one number": "http://2130706433/",
    "loopback in short": "http://127.1/",
    "a user before the host": "http://tools.test@127.0.0.1/",
    "another port": "http://tools.test:22/",
}


@pytest.mark.parametrize("name", REFUSED_URLS)
async def test_an_address_of_another_kind_is_refused_before_a_browser_starts(name: str) -> None:
    with watching() as packets:
        outcome = await run("browser_navigate", web(), url=REFUSED_URLS[name])

    assert (code(outcome), packets) == ("url_refused", [])


REFUSED_PAGES: dict[str, tuple[dict[str, Any], str]] = {
    "loopback": ({"allow_networks": []}, "address_refused"),
    "a name that leads to a cloud's secrets": ({"resolve": names(["169.254.169.254"])}, "address_refused"),
    "a name that nobody knows": ({"resolve": names([])}, "name_unresolved"),
}


@pytest.mark.parametrize("name", REFUSED_PAGES)
@pytest.mark.slow
async def test_the_reason_is_the_proxys_and_not_the_browsers(name: str) -> None:
    settings, expected = REFUSED_PAGES[name]
    async with serving(site({"/": page("inside")})) as server:
        outcome = await run("browser_navigate", web(server, **settings), url=server.url())

    assert (code(outcome), server.connections) == (expected, 0)


@pytest.mark.slow
async def test_a_server_that_is_not_there_or_offers_a_file_is_named_as_such() -> None:
    file = page("x", kind="application/zip", more="Content-Disposition: attachment\r\n")
    async with serving(site({"/": page("gone"), "/file": file})) as server:
        work, url = web(server), server.url()
        offered = await run("browser_navigate", work, url=server.url("/file"))
    absent = await run("browser_navigate", work, url=url)

    assert (code(offered), code(absent)) == ("download_refused", "connection_failed")


@pytest.mark.slow
async def test_the_browser_checks_certificates_itself(certified: Certified) -> None:  # noqa: F811
    tls, pem = certified("tools.test")
    async with serving(site({"/": page("sealed")}), tls=tls) as server:
        url = server.url(scheme="https")
        unknown = await run("browser_navigate", web(server), url=url)
        known = await run("browser_navigate", web(server, ca=pem), url=url)
        other = await run("browser_navigate", web(server, ca=pem), url=server.url(scheme="https", host="other.test"))

    assert (code(unknown), code(other)) == ("tls_failed", "tls_failed")
    assert told(known)["text"] == "sealed"


@pytest.mark.slow
async def test_more_bytes_than_a_page_may_want_end_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visit, "CARRIED_LIMIT_BYTES", 500_000)
    async with serving(site({"/": page("x" * 600_000)})) as server:
        assert code(await run("browser_navigate", web(server), url=server.url())) == "answer_too_large"


HOGS = {
    "an endless script": ("<script>while (true) {}</script>", "time_limit", 12),
    "memory without end": (
        "<script>const kept = []; while (true) kept.push(new Uint8Array(3e7).fill(7))</script>",
        "memory_limit",
        100,
    ),
}


@pytest.mark.parametrize("name", HOGS)
@pytest.mark.slow
async def test_a_page_that_takes_all_ends_as_this_calls_error_with_all_its_processes(name: str) -> None:
    html, expected, wall_s = HOGS[name]
    async with serving(site({"/": page(html)})) as server:
        started = time.monotonic()
        outcome = await run("browser_navigate", web(server, wall_s=wall_s, memory_mb=700), url=server.url())
        took_s = time.monotonic() - started

    assert (code(outcome), took_s < wall_s + 30) == (expected, True)
    assert not left() and not alive(tempfile.gettempdir())


def renderers() -> list[int]:
    """The processes of our browsers that show pages."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            is_ours = tempfile.gettempdir() in os.readlink(entry / "cwd")
            if is_ours and b"--type=renderer" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


@pytest.mark.slow
async def test_a_page_whose_process_dies_is_told_as_such() -> None:
    async with serving(site({"/": page("<img src=/never>"), "/never": None})) as server:
        call = asyncio.create_task(run("browser_navigate", web(server), url=server.url()))
        async with asyncio.timeout(60):
            while len(server.requests) < 2:
                await asyncio.sleep(0.05)
        for pid in renderers():
            os.kill(pid, signal.SIGKILL)

        assert code(await call) == "page_crashed"


@pytest.mark.slow
async def test_a_call_that_is_cancelled_leaves_no_browser() -> None:
    async with serving(site({"/": None})) as server:
        call = asyncio.create_task(run("browser_navigate", web(server), url=server.url()))
        async with asyncio.timeout(60):
            while not server.requests:
                await asyncio.sleep(0.05)
        started = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    assert time.monotonic() - started < 30
    assert not left() and not alive(tempfile.gettempdir())


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"memory_mb": 100}, "`memory_mb` must be from 512 to 8192"),
        ({"ca": "nothing"}, "`ca` holds no certificates in PEM"),
        ({}, ""),
    ],
)
async def test_settings_that_cannot_be_used_are_findings(settings: dict[str, Any], expected: str) -> None:
    look = await look_own(web(**settings).connection)

    failures = [each.failure.message if each.failure else "" for each in look.found]
    assert failures == [expected, expected]


async def test_a_machine_without_a_browser_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "BROWSERS", ())
    look = await look_own(web().connection)
    outcome = await run("browser_navigate", web(), url="http://tools.test/")

    assert [each.failure.code for each in look.found if each.failure] == ["browser_unavailable"] * 2
    assert code(outcome) == "browser_unavailable"


@pytest.mark.slow
async def test_a_page_speaks_to_no_terminal() -> None:
    html = """<title>a&#27;]0;owned&#7;b</title><pre>one&#27;[2Jtwo\tthree\nfour&#155;31m</pre>
    <script>document.title = 'a\\x1b]0;owned\\x07b'; document.querySelector('pre').append('\\x9b31m\\x1b[A')</script>
    <a href='/x'>go\\x1b</a><script>document.querySelector('a').textContent = 'go\\x1b[2J'</script>"""
    async with serving(site({"/": page(html)})) as server:
        outcome = await run("browser_navigate", web(server), url=server.url())

    said = told(outcome)
    every = said["title"] + said["text"] + said["links"][0]["text"]
    assert not set(every) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}
    assert "two\tthree\nfour" in said["text"] and "\ufffd[2J" in said["links"][0]["text"]


CALLS = """
import asyncio, sys
from tests.firewall.tools.configured.browsing import web
from tests.firewall.tools.configured.works import run
from tests.firewall.tools.connector.loopback import Server
server = Server(port=int(sys.argv[1]))
asyncio.run(run("browser_navigate", web(server), url=server.url()))
"""


@pytest.mark.slow
async def test_a_server_that_is_killed_leaves_no_browser() -> None:
    async with serving(site({"/": None})) as server:
        words = [sys.executable, "-c", CALLS, str(server.port)]
        caller = await asyncio.create_subprocess_exec(*words, env=os.environ | {"TMPDIR": tempfile.gettempdir()})
        async with asyncio.timeout(60):
            while not server.requests:
                await asyncio.sleep(0.05)
        assert alive(tempfile.gettempdir())

        caller.kill()
        await caller.wait()

        async with asyncio.timeout(60):
            while alive(tempfile.gettempdir()):
                await asyncio.sleep(0.05)
