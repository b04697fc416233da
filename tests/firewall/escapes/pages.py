"""The attempts of pages: what a browser is shown by a server that may be reached, and what a browser that somebody
took over would try. Every name is resolved here, every server is on loopback, and only the pages' own may be reached."""

# attempts are lines of a table: breaking them makes them harder to read
# ruff: noqa: E501

import asyncio
import contextlib
import json
import sys
import textwrap
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from apps.firewall.tools.browser import visit
from apps.firewall.tools.browser.machine import machine_problem
from apps.firewall.tools.configured import BY_NAME
from apps.firewall.tools.connections import read_connection
from apps.firewall.tools.connector import Resolve
from apps.firewall.tools.running import Place
from apps.firewall.tools.work import Work
from tests.firewall.escapes.doors import SECRET, Outside
from tests.firewall.tools.connector.loopback import watching

HERE: Final = "127.0.0.2"
"""Where the pages are served; the services that nobody may reach listen at 127.0.0.1."""
WAIT_S: Final = 1.0
HEAD: Final = """<title>held</title><body>nothing<script>
const got = what => { document.title = "ESCAPED " + what; };
const ask = (url, more) => fetch(url, more).then(() => got(url), () => 0);
</script><img src="/wait" hidden>"""


@dataclass(frozen=True, slots=True)
class PageAttempt:
    """A page, and what it is after; `{tcp}`, `{udp}`, `{secret}` in it name what lies outside.

    Args:
        html: of the page, behind `HEAD`.
        leads: where its address redirects to instead.
        answers: addresses of the name `far.test`, one list after the other.
        program: Python that runs in the browser's place; it says `got(what)` when it got anything.
    """

    family: str
    name: str
    html: str = ""
    leads: str = ""
    answers: Sequence[Sequence[str]] = field(default=((HERE,),))
    program: str = ""


PAGES = (
    PageAttempt("redirect", "a page: leads on to the loopback", leads="http://127.0.0.1:{tcp}/"),
    PageAttempt("redirect", "a page: leads on to the secrets of a cloud", leads="http://169.254.169.254/latest/meta-data/"),
    PageAttempt("redirect", "a page: leads on to a file", leads="file://{secret}"),
    PageAttempt("redirect", "a page: a script goes on to a file", html="<script>location = 'file://{secret}'</script>"),
    PageAttempt("redirect", "a page: a script goes on to the browser's own pages", html="<script>location = 'chrome://version'; open('chrome://version')</script>"),
    PageAttempt("redirect", "a page: goes on by itself, to the loopback as one number", html="<meta http-equiv=refresh content='0;url=http://2130706433:{tcp}/'>"),
    PageAttempt("redirect", "a page: what it asks for leads on to the loopback", html="<script>ask('/on?http://127.0.0.1:{tcp}/', {{mode: 'no-cors'}})</script><img src='/on?http://[::1]:{tcp}/' onload=got(1)>"),
    PageAttempt("path", "a page: frames, pictures and styles that are files", html="<iframe src='file://{secret}' ></iframe><img src='file://{secret}'><object data='file://{secret}'></object><link rel=stylesheet href='file://{secret}'><script>ask('file://{secret}')</script>"),
    PageAttempt("address", "a page: asks the loopback and the secrets of a cloud", html="<script>for (const place of ['127.0.0.1:{tcp}', 'localhost:{tcp}', '169.254.169.254', '10.0.0.1']) ask('http://' + place, {{mode: 'no-cors'}})</script>"),
    PageAttempt("decimal address", "a page: asks the loopback in odd spellings", html="<script>for (const place of ['2130706433', '0x7f.1', '0177.0.0.1', '127.1', '0', '①②⑦.⓪.⓪.①']) ask('http://' + place + ':{tcp}', {{mode: 'no-cors'}})</script>"),
    PageAttempt("IPv6 address", "a page: asks the loopback by IPv6", html="<script>for (const place of ['::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', '2002:7f00:1::', 'fe80::1']) ask('http://[' + place + ']:{tcp}', {{mode: 'no-cors'}})</script>"),
    PageAttempt("address", "a page: frames, forms, beacons and streams to the loopback", html="<iframe src='http://127.0.0.1:{tcp}/'></iframe><iframe name=f></iframe><form id=g target=f method=post action='http://127.0.0.1:{tcp}/'></form><script>g.submit(); navigator.sendBeacon('http://127.0.0.1:{tcp}/', 'x'); new EventSource('http://127.0.0.1:{tcp}/').onopen = () => got('stream'); open('http://127.0.0.1:{tcp}/')</script>"),
    PageAttempt("address", "a page: sockets to the loopback", html="<script>for (const place of ['127.0.0.1', 'localhost', '[::1]', '2130706433']) new WebSocket('ws://' + place + ':{tcp}/').onopen = () => got('a socket')</script>"),
    PageAttempt("address", "a page: connects ahead to the loopback", html="<link rel=preconnect href='http://127.0.0.1:{tcp}'><link rel=dns-prefetch href='//localhost:{tcp}'><link rel=prefetch href='http://127.0.0.1:{tcp}/'><script type=speculationrules>{{\"prerender\": [{{\"urls\": [\"http://127.0.0.1:{tcp}/\"]}}]}}</script>"),
    PageAttempt("address", "a page: workers that load from the loopback", html="<script>for (const kind of [Worker, SharedWorker]) new kind(URL.createObjectURL(new Blob([\"importScripts('http://127.0.0.1:{tcp}/')\"])))</script>"),
    PageAttempt("DNS rebinding", "a page: a name that changes to the loopback", html="<script>(async () => {{ for (let n = 0; n < 6; n++) await fetch('http://far.test:{tcp}/' + n, {{mode: 'no-cors', cache: 'no-store'}}).then(() => got(n), () => 0) }})()</script>", answers=((HERE,), ("127.0.0.1",))),
    PageAttempt("DNS rebinding", "a page: a name that leads here and to the loopback", html="<script>ask('http://far.test:{tcp}/', {{mode: 'no-cors'}})</script>", answers=((HERE, "127.0.0.1"),)),
    PageAttempt("UDP", "a page: calls a peer on the loopback", html="<script>const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{udp}'}}, {{urls: 'turn:127.0.0.1:{udp}', username: 'a', credential: 'b'}}, {{urls: 'turn:127.0.0.1:{tcp}?transport=tcp', username: 'a', credential: 'b'}}]}}); peer.createDataChannel('x'); peer.onicecandidate = e => {{ if (e.candidate && /srflx|relay/.test(e.candidate.candidate)) got('a peer') }}; peer.createOffer().then(o => peer.setLocalDescription(o))</script>"),
    PageAttempt("UDP", "a page: sessions over QUIC to the loopback", html="<script>try {{ new WebTransport('https://127.0.0.1:{udp}/').ready.then(() => got('a session'), () => 0) }} catch (e) {{}}</script>"),
    PageAttempt("disk", "a page: leaves files by downloads", html="<a id=d download=mine href='data:application/zip,mine'></a><script>d.click(); for (let n = 0; n < 5; n++) {{ const a = document.createElement('a'); a.download = 'mine' + n; a.href = URL.createObjectURL(new Blob(['mine'])); a.click() }}</script>"),
    PageAttempt("network", "a browser taken over: opens lines of its own", program="""
        for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET, socket.SOCK_RAW)):
            for place in (("127.0.0.1", WORLD["tcp"]), ("127.0.0.1", WORLD["udp"]), ("93.184.216.34", 80)):
                with tried():
                    line = socket.socket(family, kind)
                    line.connect(place)
                    line.send(b"x")
                    if kind != socket.SOCK_DGRAM or place[0] != "127.0.0.1":  # to its own loopback everybody may talk
                        got(place)"""),
    PageAttempt("network", "a browser taken over: services behind names of their own", program="""
        for place in (WORLD["unix"], "\\0" + WORLD["abstract"], "/run/dbus/system_bus_socket", "/var/run/docker.sock"):
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
                with tried():
                    line = socket.socket(socket.AF_UNIX, kind)
                    line.connect(place)
                    got(place)"""),
    PageAttempt("network", "a browser taken over: asks the proxy in its own words", program="""
        lines = [f"CONNECT {place} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n" for place in (f"127.0.0.1:{WORLD['tcp']}", f"localhost:{WORLD['tcp']}", f"[::1]:{WORLD['tcp']}", f"2130706433:{WORLD['tcp']}", f"page.test@127.0.0.1:{WORLD['tcp']}", f"page.test:80\\t127.0.0.1:{WORLD['tcp']}")]
        lines += [f"GET {url} HTTP/1.1\\r\\nHost: page.test\\r\\n\\r\\n" for url in (f"http://127.0.0.1:{WORLD['tcp']}/", f"http://page.test\\\\@127.0.0.1:{WORLD['tcp']}/", "http://169.254.169.254/", f"file://{WORLD['secret']}", f"http://127.0.0.1:{WORLD['tcp']}#@page.test/", "/", "*")]
        for line in lines:
            with tried():
                asked = socket.socket(socket.AF_UNIX)
                asked.settimeout(1)
                asked.connect(ORDER["socket"])
                asked.sendall(line.encode() + b"GET / HTTP/1.1\\r\\n\\r\\n")
                if b" 200 " in asked.recv(100):
                    got(line)"""),
    PageAttempt("path", "a browser taken over: the neighbour's file", program="""
        for path in (WORLD["secret"], f"/proc/1/root{WORLD['secret']}", f"/proc/{WORLD['server']}/environ", f"/proc/{WORLD['server']}/root{WORLD['secret']}"):
            with tried():
                got(open(path).read())"""),
    PageAttempt("signal", "a browser taken over: processes outside", program="""
        for pid in (WORLD["bystander"], WORLD["server"]):
            with tried():
                if pid > 20:  # few are its own
                    os.kill(pid, signal.SIGSTOP)
                    got(pid)"""),
    PageAttempt("network", "a browser taken over: a namespace of its own", program="""
        import ctypes
        for flags in (0x10000000, 0x40000000, 0x00020000, 0x10000000 | 0x40000000):
            if ctypes.CDLL(None, use_errno=True).unshare(flags) == 0:
                got(flags)
        if ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
            got("a mount")"""),
)  # fmt: skip

INSIDE: Final = """
import contextlib, json, os, signal, socket, sys
ORDER, WORLD, GOT = json.load(sys.stdin), {world}, []
got = lambda what: GOT.append(str(what))
tried = lambda: contextlib.suppress(OSError)
"""
SAYS: Final = """
title = f"ESCAPED {GOT}" if GOT else "held"
print(json.dumps({"url": ORDER["url"], "status": 200, "title": title, "text": "", "characters": 0, "links": []}))
"""


async def through_browser(attempt: PageAttempt, around: Outside) -> str:
    """Make one attempt; return what was wrong about it, empty when it was held."""
    async with _served(attempt, around.facts) as port:
        rules = {"allow_networks": [f"{HERE}/32"], "ports": [80, 443, port, around.facts["tcp"]]}
        connection = read_connection(source="pages", kind="own_browser", settings=rules, secrets={})
        place = Place(root="/nonexistent", python=sys.executable, wall_s=20)
        work = Work(place=place, connection=connection, resolve=_resolving(attempt))
        params = {"url": f"http://page.test:{port}/", "wait_until": "load"}
        with _in_its_place(attempt, around), watching() as packets:
            outcome = await BY_NAME["browser_navigate"].run(params, work)
    said = json.dumps([outcome.result, outcome.error])
    if "ESCAPED" in said or SECRET in said or "Command Line" in said:
        return f"it got what it wanted: {said[:500]}"
    if outcome.error is not None and outcome.error["code"] in {"browser_failed", "browser_unavailable", "time_limit"}:
        return f"it did not run: {outcome.error}"
    strange = [place for event, place in packets if not _is_ours(event, place)]
    return "; ".join([*around.harm, *(f"a packet went to {place}" for place in strange)])


def browser_problem() -> str:
    """Say why no page can be opened here."""
    return machine_problem()


def _is_ours(event: str, place: Any) -> bool:
    if event == "socket.sendmsg":
        return place is None  # to the process that starts programs
    return event == "socket.connect" and isinstance(place, tuple) and place[0] == HERE


def _resolving(attempt: PageAttempt) -> Resolve:
    left = list(attempt.answers)

    async def resolve(host: str) -> Sequence[str]:
        if host == "page.test":
            return [HERE]
        if host == "far.test":
            return left.pop(0) if len(left) > 1 else left[0]
        return ["127.0.0.1"]

    return resolve


@contextlib.asynccontextmanager
async def _served(attempt: PageAttempt, facts: Mapping[str, Any]) -> AsyncIterator[int]:
    """Serve the page, what it redirects to, and an answer that is late so that the page is watched for a while."""
    html = HEAD + attempt.html.format(**facts)
    leads = attempt.leads.format(**facts)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError), contextlib.closing(writer):
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ")[1].decode()
            if path == "/wait":
                await asyncio.sleep(WAIT_S)
            to = path.partition("?")[2] if path.startswith("/on?") else leads if path == "/" else ""
            body = html.encode() if path == "/" else b""
            head = f"HTTP/1.1 302 Found\r\nLocation: {to}" if to else "HTTP/1.1 200 OK"
            kind = "Content-Type: text/html; charset=utf-8\r\nConnection: close"
            writer.write(f"{head}\r\n{kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()

    server = await asyncio.start_server(talk, HERE, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@contextlib.contextmanager
def _in_its_place(attempt: PageAttempt, around: Outside) -> Any:
    """Run the attempt's program, if it has one, exactly as the browser's is run."""
    if not attempt.program:
        yield
        return
    path = around.folder / "code" / "inside.py"
    world = json.dumps({name: value for name, value in around.facts.items() if name != "way"})
    path.write_text(INSIDE.format(world=world) + textwrap.dedent(attempt.program) + SAYS)
    usual = visit.PROGRAM
    visit.PROGRAM = str(path)  # type: ignore[misc]
    try:
        yield
    finally:
        visit.PROGRAM = usual  # type: ignore[misc]
