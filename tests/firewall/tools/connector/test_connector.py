"""Requests reach checked addresses only, and answers are read within limits. Every server is a real one on loopback."""

import asyncio
import time
from collections.abc import Sequence

import httpx2
import pytest

from apps.firewall.tools.connections import AddressRules
from apps.firewall.tools.connector import Connector, ConnectorError, system_resolve
from apps.firewall.tools.connector.errors import (
    AddressRefusedError,
    AnswerBrokenError,
    AnswerTooLargeError,
    NameUnresolvedError,
    TimeLimitError,
    TooManyRedirectsError,
    UnreachableError,
    UrlRefusedError,
)
from tests.firewall.tools.connector.loopback import OK, connector, names, saying, serving, watching


def moved(to: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


async def test_a_name_is_resolved_by_us_and_stays_in_the_host_header() -> None:
    async with serving(saying(OK)) as server:
        with watching() as sockets:
            answer = await connector(server).get(server.url("/x?y=1"), headers={"X-Team": "blue"})
    assert (answer.status, answer.body) == (200, b"ok")
    assert sockets == [("socket.connect", ("127.0.0.1", server.port))]
    head = server.requests[0].decode()
    assert head.startswith("GET /x?y=1 HTTP/1.1\r\n")
    assert f"Host: tools.test:{server.port}\r\n" in head
    assert "X-Team: blue\r\n" in head


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "0.0.0.0",
        "10.0.0.1",
        "100.64.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "192.168.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "fc00::1",
        "fe80::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
async def test_a_name_that_leads_inside_is_refused_before_any_packet(address: str) -> None:
    guarded = connector(resolve=names([address]), networks_allowed=())
    with watching() as sockets, pytest.raises(AddressRefusedError) as caught:
        await guarded.get("http://tools.test/")
    assert sockets == []
    assert not caught.value.was_sent


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "10.0.0.1"])
async def test_an_address_in_the_url_is_judged_like_a_name(host: str) -> None:
    with watching() as sockets, pytest.raises(AddressRefusedError):
        await connector(networks_allowed=()).get(f"http://{host}/")
    assert sockets == []


async def test_one_address_inside_refuses_all_of_a_name() -> None:
    guarded = connector(resolve=names(["1.1.1.1", "10.0.0.1"]))
    with watching() as sockets, pytest.raises(AddressRefusedError, match=r"10\.0\.0\.1"):
        await guarded.get("https://tools.test/")
    assert sockets == []


async def test_the_system_resolver_is_asked_and_its_loopback_refused() -> None:
    with watching() as sockets, pytest.raises(AddressRefusedError):
        await connector(resolve=system_resolve, networks_allowed=()).get("http://localhost/")
    assert [event for event, _ in sockets] == ["socket.getaddrinfo"]


async def test_a_refused_url_is_not_even_resolved() -> None:
    asked: list[str] = []

    async def resolve(host: str) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"]

    guarded = connector(resolve=resolve, domains_denied=("*.test",))
    for url in (
        "http://tools.test/",
        "http://u@tools.example/",
        "http://0x7f.1/",
        "ftp://a.example/",
        "http://a.b:22/",
    ):
        with watching() as sockets, pytest.raises(UrlRefusedError):
            await guarded.get(url)
        assert sockets == []
    assert asked == []


async def test_a_name_that_changes_its_address_is_connected_to_where_it_was_checked() -> None:
    """The resolver says loopback once and metadata ever after: what was checked is used, nothing asks again."""
    async with serving(saying(OK)) as server:
        guarded = connector(server, resolve=names(["127.0.0.1"], ["169.254.169.254"]))
        with watching() as sockets:
            assert (await guarded.get(server.url())).status == 200
        assert sockets == [("socket.connect", ("127.0.0.1", server.port))]
        with watching() as sockets, pytest.raises(AddressRefusedError):
            await guarded.get(server.url())
        assert sockets == []


async def test_a_name_that_changes_between_redirects_is_refused_at_the_second() -> None:
    async with serving(saying(moved("/again"))) as server:
        guarded = connector(server, resolve=names(["127.0.0.1"], ["10.0.0.1"]))
        with watching() as sockets, pytest.raises(AddressRefusedError):
            await guarded.get(server.url())
    assert {address for _, (address, _) in sockets} == {"127.0.0.1"}


@pytest.mark.parametrize(
    "to",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://[::1]:22/",
        "http://user@tools.test/",
        "http://2130706433/",
        "http://denied.test/",
        "file:///etc/passwd",
        "//[broken/",
        "gopher://tools.test/",
    ],
)
async def test_a_redirect_is_checked_like_a_first_address(to: str) -> None:
    async with serving(saying(moved(to))) as server:
        guarded = connector(server, ports=(80, 443, server.port), domains_denied=("denied.test",))
        with watching() as sockets, pytest.raises((UrlRefusedError, AddressRefusedError)):
            await guarded.get(server.url())
    assert sockets == [("socket.connect", ("127.0.0.1", server.port))]


async def test_redirects_are_followed_and_secrets_stay_with_the_first_origin() -> None:
    async with serving(saying(OK)) as other, serving(saying(moved(other.url("/end", "other.test")))) as server:
        guarded = connector(ports=(server.port, other.port))
        answer = await guarded.get(server.url(), headers={"Authorization": "Bearer s3cret"})
    assert (answer.status, answer.url) == (200, other.url("/end", "other.test"))
    assert b"s3cret" in server.requests[0]
    assert b"s3cret" not in other.requests[0]


async def test_a_circle_of_redirects_ends() -> None:
    async with serving(saying(moved("/round"))) as server:
        with pytest.raises(TooManyRedirectsError):
            await connector(server).get(server.url())
    assert server.connections <= 6


async def test_a_post_is_sent_once_and_its_redirect_is_the_answer() -> None:
    async with serving(saying(moved("/elsewhere", 307))) as server:
        answer = await connector(server).post(server.url(), b'{"a":1}')
    assert answer.status == 307
    assert [request.split(b"\r\n\r\n")[1] for request in server.requests] == [b'{"a":1}']


async def test_a_body_larger_than_the_limit_is_not_read() -> None:
    async with serving(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000)) as server:
        with pytest.raises(AnswerTooLargeError):
            await connector(server).get(server.url(), limit_bytes=4999)
        assert len((await connector(server).get(server.url(), limit_bytes=5000)).body) == 5000


async def test_a_body_without_length_is_cut_at_the_limit() -> None:
    written = 0

    async def flood(request: bytes, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while written < 50_000_000:
            writer.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            written += 0x10000
            await writer.drain()

    async with serving(flood) as server:
        with pytest.raises(AnswerTooLargeError):
            await connector(server).get(server.url(), limit_bytes=100_000)
    assert written < 20_000_000


async def test_a_packed_body_is_refused_because_it_may_be_gigabytes() -> None:
    async with serving(saying(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok")) as server:
        with pytest.raises(AnswerBrokenError, match="gzip"):
            await connector(server).get(server.url())
    assert b"Accept-Encoding: identity\r\n" in server.requests[0]


async def test_a_body_that_drips_is_ended_in_time() -> None:
    async def drip(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with serving(drip) as server:
        begun = time.monotonic()
        with pytest.raises(TimeLimitError) as caught:
            await connector(server).post(server.url(), b"{}", time_limit_s=0.2)
        assert time.monotonic() - begun < 5
    assert caught.value.was_sent


async def test_a_server_that_never_answers_is_given_up() -> None:
    async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with serving(silent) as server:
        with pytest.raises(TimeLimitError, match=r"0\.2 s"):
            await connector(server).get(server.url(), time_limit_s=0.2)


async def test_a_resolver_that_hangs_is_given_up_with_nothing_sent() -> None:
    async def resolve(host: str) -> Sequence[str]:
        await asyncio.sleep(5)
        return []

    with pytest.raises(TimeLimitError) as caught:
        await connector(resolve=resolve).post("http://tools.test/", b"{}", time_limit_s=0.1)
    assert not caught.value.was_sent


async def test_a_line_that_breaks_after_the_request_says_that_it_may_have_been_read() -> None:
    async with serving(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")) as server:
        with pytest.raises(ConnectorError) as caught:
            await connector(server).post(server.url(), b"{}")
    assert caught.value.was_sent


async def test_a_closed_port_says_that_nothing_was_sent() -> None:
    async with serving(saying(OK)) as server:
        pass
    with pytest.raises(UnreachableError) as caught:
        await connector(server).post(server.url(), b"{}")
    assert not caught.value.was_sent


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async with serving(saying(OK)) as server:
        guarded = connector(server, resolve=names(["127.0.0.2", "127.0.0.1"]))
        assert (await guarded.get(server.url())).status == 200


@pytest.mark.parametrize(
    "answer", [b"hello\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 300_000]
)
async def test_rubbish_is_no_answer(answer: bytes) -> None:
    async with serving(saying(answer)) as server:
        with pytest.raises(AnswerBrokenError) as caught:
            await connector(server).get(server.url())
    assert len(caught.value.message) < 500


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-secret-banner\r\n\r\n",
        b"220 secret-banner ESMTP\r\n",
        b"HTTP/1.1 200 OK\r\nsecret-banner\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nsecret-banner\r\n",
    ],
)
async def test_nothing_that_another_service_says_stands_in_the_error(answer: bytes) -> None:
    async with serving(saying(answer)) as server:
        with pytest.raises(AnswerBrokenError) as broken:
            await connector(server).get(server.url())

    assert "secret-banner" not in broken.value.message
    assert "SSH" not in broken.value.message


@pytest.mark.parametrize("found", [[], ["not-an-address"]])
async def test_a_name_without_address_is_named(found: list[str]) -> None:
    with pytest.raises(NameUnresolvedError, match=r"tools\.test"):
        await connector(resolve=names(found)).get("http://tools.test/")


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(saying(OK)) as proxy, serving(saying(OK)) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        await connector(server).get(server.url())
        async with httpx2.AsyncClient(transport=connector(server).transport(), trust_env=False) as client:
            await client.get(server.url())
    assert (server.connections, proxy.connections) == (2, 0)


async def test_a_foreign_client_is_held_to_the_same_rules() -> None:
    async with serving(saying(moved("http://169.254.169.254/"))) as server:
        guarded = connector(server, ports=(80, server.port))
        async with httpx2.AsyncClient(transport=guarded.transport(), trust_env=False, follow_redirects=True) as client:
            with watching() as sockets, pytest.raises(AddressRefusedError):
                await client.get(server.url(), headers={"Host": "another.test"})
    assert sockets == [("socket.connect", ("127.0.0.1", server.port))]
    assert b"another.test" not in server.requests[0]


async def test_a_foreign_client_streams() -> None:
    async def events(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        await writer.drain()

    async with (
        serving(events) as server,
        httpx2.AsyncClient(transport=connector(server).transport()) as client,
        client.stream("GET", server.url()) as answer,
    ):
        assert [part async for part in answer.aiter_raw()] == [b"one", b"two"]


async def test_a_foreign_client_gets_errors_of_its_own_library() -> None:
    async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)

    async with serving(silent) as server, httpx2.AsyncClient(transport=connector(server).transport()) as client:
        with pytest.raises(httpx2.ReadTimeout):
            await client.get(server.url(), timeout=httpx2.Timeout(5, read=0.05))
    async with httpx2.AsyncClient(transport=connector(server).transport()) as client:
        with pytest.raises(ConnectorError, match="does not answer"):
            await client.get(server.url())


async def test_the_rules_that_nobody_changed_allow_no_loopback_and_no_odd_port() -> None:
    guarded = Connector(resolve=names(["127.0.0.1"]))
    assert guarded.rules == AddressRules()
    with pytest.raises(AddressRefusedError):
        await guarded.get("https://tools.test/")
    with pytest.raises(UrlRefusedError):
        await guarded.get("https://tools.test:8443/")


async def test_connections_are_used_again_only_by_whoever_drives_the_transport() -> None:
    async def twice(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await writer.drain()
        await asyncio.sleep(60)

    async with serving(twice) as server:
        await connector(server).get(server.url())
        assert await asyncio.wait_for(server.hung_up.wait(), 40)
