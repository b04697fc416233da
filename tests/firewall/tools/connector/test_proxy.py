"""The proxy: what it carries, and that nothing of a program's reaches an address that the rules refuse."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector.proxy import GuardedProxy
from tests.firewall.tools.connector.loopback import LOOPBACK, OK, Server, names, saying, serving, watching

LIMIT = 1_000_000


def proxy_to(*servers: Server, **options: Any) -> GuardedProxy:
    resolve = options.pop("resolve", names())
    bytes_limit = options.pop("bytes_limit", LIMIT)
    ports = (80, 443, *(each.port for each in servers))
    rules = AddressRules(**({"networks_allowed": LOOPBACK if servers else (), "ports": ports} | options))
    return GuardedProxy(rules=rules, resolve=resolve, bytes_limit=bytes_limit)


@asynccontextmanager
async def line(proxy: GuardedProxy, folder: Path) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    async with proxy.serving(str(folder / "proxy")):
        reader, writer = await asyncio.open_unix_connection(str(folder / "proxy"))
        yield reader, writer
        writer.close()


async def said(proxy: GuardedProxy, folder: Path, *parts: bytes) -> bytes:
    """Say something on one line, part by part, and read all that is answered."""
    async with line(proxy, folder) as (reader, writer), asyncio.timeout(60):
        answer = b""
        for part in parts:
            writer.write(part)
            await writer.drain()
            if part != parts[-1]:
                answer += await reader.read(1000)
        return answer + await reader.read()


def asking(url: str, *, method: str = "GET", host: str = "x.test", more: str = "") -> bytes:
    return f"{method} {url} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode()


async def test_a_request_is_carried_to_the_host_that_was_checked(tmp_path: Path) -> None:
    async with serving(saying(OK)) as server:
        more = "Proxy-Connection: keep-alive\r\nProxy-Authorization: x\r\nUpgrade: h2c\r\nCookie: a=b\r\n"
        answer = await said(proxy_to(server), tmp_path, asking(server.url("/a?b|c"), host="other.test", more=more))

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n") and answer.endswith(b"\r\n\r\nok")
    assert b"onnection: close" in answer
    sent = server.requests[0].decode()
    assert sent.startswith(f"GET /a?b|c HTTP/1.1\r\nHost: tools.test:{server.port}\r\n")
    assert "Cookie: a=b" in sent
    assert "other.test" not in sent and "Proxy" not in sent and "pgrade" not in sent


async def test_a_body_goes_along_and_a_line_is_for_one_request(tmp_path: Path) -> None:
    async with serving(saying(OK)) as server:
        first = asking(server.url(), method="POST", more="Content-Length: 3\r\n") + b"abc"
        answer = await said(proxy_to(server), tmp_path, first + asking(server.url("/second")))

    assert [request[-3:] for request in server.requests] == [b"abc"]
    assert answer.count(b"HTTP/1.1") == 1


async def test_an_answer_in_pieces_comes_whole(tmp_path: Path) -> None:
    pieces = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"
    async with serving(saying(pieces)) as server:
        answer = await said(proxy_to(server), tmp_path, asking(server.url()))

    assert b"3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n" in answer


async def test_a_tunnel_carries_both_ways(tmp_path: Path) -> None:
    async with serving(saying(b"\x16back")) as server:
        tunnel = asking(f"tools.test:{server.port}", method="CONNECT")
        answer = await said(proxy_to(server), tmp_path, tunnel, b"\x16forth\r\n\r\n")

    assert answer == b"HTTP/1.1 200 Connected\r\n\r\n\x16back"
    assert server.requests == [b"\x16forth\r\n\r\n"]


REFUSED = {
    "loopback": ("127.0.0.1", "address_refused"),
    "loopback of IPv6": ("[::1]", "address_refused"),
    "loopback in IPv6": ("[::ffff:127.0.0.1]", "address_refused"),
    "one number": ("2130706433", "url_refused"),
    "octal": ("0177.0.0.1", "url_refused"),
    "metadata": ("169.254.169.254", "address_refused"),
    "a name that leads inside": ("tools.test", "address_refused"),
    "a user": ("tools.test@127.0.0.1", "url_refused"),
    "a denied name": ("bad.test", "url_refused"),
    "another port": ("93.184.216.34:22", "url_refused"),
}


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
@pytest.mark.parametrize("name", REFUSED)
async def test_what_leads_inside_is_refused_before_any_packet(tmp_path: Path, name: str, method: str) -> None:
    host, expected = REFUSED[name]
    place = host if ":22" in host else f"{host}:80"
    proxy = proxy_to(domains_denied=("bad.test",), resolve=names(["10.0.0.1"]))
    with watching() as packets:
        answer = await said(
            proxy, tmp_path, asking(place if method == "CONNECT" else f"http://{place}/", method=method)
        )

    assert answer == b""
    assert [exc.code for exc in proxy.refusals.values()] == [expected]
    assert [packet for packet in packets if packet[1] != str(tmp_path / "proxy")] == []
    refusal = proxy.refusal(f"http://{place}/")
    assert refusal is not None and refusal.code == expected


async def test_a_name_is_resolved_once_for_all_lines(tmp_path: Path) -> None:
    async with serving(saying(OK)) as server:
        proxy = proxy_to(server, resolve=names(["127.0.0.1"], ["169.254.169.254"]))
        async with proxy.serving(str(tmp_path / "proxy")):
            for _ in range(2):
                reader, writer = await asyncio.open_unix_connection(str(tmp_path / "proxy"))
                writer.write(asking(server.url()))
                assert (await reader.read()).endswith(b"ok")
                writer.close()

    assert len(server.requests) == 2 and not proxy.refusals


async def test_a_tunnel_without_tls_is_no_way_around_https_only(tmp_path: Path) -> None:
    async with serving(saying(OK)) as server:
        proxy = proxy_to(server, schemes=("https",))
        tunnel = asking(f"tools.test:{server.port}", method="CONNECT")
        await said(proxy, tmp_path, tunnel, b"GET / HTTP/1.1\r\n\r\n")
        plain = await said(proxy_to(server, schemes=("https",)), tmp_path / ".", asking(server.url()))

    assert server.requests == [] and plain == b""
    assert proxy.refusals[f"tools.test:{server.port}"].message == "addresses must begin with https, not `http`"


async def test_more_bytes_than_are_carried_end_every_line(tmp_path: Path) -> None:
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n" + b"x" * 9_000_000
    async with serving(saying(large)) as server:
        proxy = proxy_to(server, bytes_limit=100_000)
        answer = await said(proxy, tmp_path, asking(server.url()))

    assert proxy.is_exhausted and len(answer) < 300_000


@pytest.mark.parametrize(
    ("answer", "expected"), [(b"nonsense\r\n\r\n", "answer_broken"), (b"", "answer_broken")], ids=["no HTTP", "nothing"]
)
async def test_a_server_that_fails_is_named(tmp_path: Path, answer: bytes, expected: str) -> None:
    async with serving(saying(answer)) as server:
        proxy = proxy_to(server)
        assert await said(proxy, tmp_path, asking(server.url())) == b""

    assert proxy.refusals[f"tools.test:{server.port}"].code == expected


async def test_a_port_where_nobody_listens_is_named(tmp_path: Path) -> None:
    async with serving(saying(OK)) as server:
        proxy = proxy_to(server)
    await said(proxy, tmp_path, asking(server.url()))

    assert proxy.refusals[f"tools.test:{server.port}"].code == "connection_failed"
