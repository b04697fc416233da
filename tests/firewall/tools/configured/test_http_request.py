"""`http_request`: what is sent and told, and every way to an address that is not allowed; servers are on loopback."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from apps.firewall.tools.configured import BY_NAME
from apps.firewall.tools.work import Work
from tests.firewall.tools.configured.works import code, run, work_in
from tests.firewall.tools.connector.loopback import OK, Server, names, saying, serving, watching
from tests.firewall.tools.connector.test_connector import moved


def web(folder: Path, *servers: Server, **settings: Any) -> Work:
    options: dict[str, Any] = {"allow_networks": ["127.0.0.0/8"], "ports": [80, 443, *(each.port for each in servers)]}
    resolve = settings.pop("resolve", names())
    return work_in(folder, "own_http", resolve=resolve, **{**options, **settings})


async def test_method_headers_and_body_are_sent_and_the_answer_is_told(tmp_path: Path) -> None:
    answer = b'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nX-Id: 7\r\nContent-Length: 8\r\n\r\n{"a": 1}'
    async with serving(saying(answer)) as server:
        outcome = await run(
            "http_request",
            web(tmp_path, server),
            url=server.url("/things?x=1"),
            method="PUT",
            headers={"Content-Type": "application/json", "X-Team": "blue"},
            body='{"é": 1}',
        )

    sent = server.requests[0].decode()
    assert sent.startswith("PUT /things?x=1 HTTP/1.1\r\n")
    assert "Content-Type: application/json\r\n" in sent and "X-Team: blue\r\n" in sent
    assert sent.endswith('\r\n\r\n{"é": 1}')
    assert outcome.result is not None
    assert (outcome.result["status"], outcome.result["body"], outcome.result["size"]) == (201, '{"a": 1}', 8)
    assert outcome.result["headers"]["x-id"] == "7"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH"])
async def test_every_method_is_sent_as_it_is(tmp_path: Path, method: str) -> None:
    async with serving(saying(OK)) as server:
        outcome = await run("http_request", web(tmp_path, server), url=server.url(), method=method)

    assert server.requests[0].startswith(method.encode() + b" / ")
    assert outcome.ended == "completed"


@pytest.mark.parametrize("status", [404, 500])
async def test_a_status_of_failure_is_an_answer_too(tmp_path: Path, status: int) -> None:
    async with serving(saying(f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n".encode())) as server:
        outcome = await run("http_request", web(tmp_path, server), url=server.url())

    assert outcome.result is not None and outcome.result["status"] == status


async def test_a_body_that_is_no_text_comes_as_base64_and_one_in_an_encoding_as_text(tmp_path: Path) -> None:
    packed = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 2\r\n\r\n\xff\xfe"
    german = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=latin-1\r\nContent-Length: 1\r\n\r\n\xfc"
    async with serving(saying(packed)) as image, serving(saying(german)) as text:
        first = await run("http_request", web(tmp_path, image), url=image.url())
        second = await run("http_request", web(tmp_path, text), url=text.url())

    assert first.result is not None and first.result["body_base64"] == "//4="
    assert second.result is not None and second.result["body"] == "ü"


REFUSED_URLS = {
    "loopback by address": ("http://127.0.0.1/", "address_refused"),
    "loopback as one number": ("http://2130706433/", "url_refused"),
    "loopback in hexadecimal": ("http://0x7f000001/", "url_refused"),
    "loopback in octal": ("http://0177.0.0.1/", "url_refused"),
    "loopback shortened": ("http://127.1/", "url_refused"),
    "loopback in IPv6": ("http://[::1]/", "address_refused"),
    "mapped into IPv6": ("http://[::ffff:127.0.0.1]/", "address_refused"),
    "NAT64": ("http://[64:ff9b::7f00:1]/", "address_refused"),
    "the metadata of a cloud": ("http://169.254.169.254/latest", "address_refused"),
    "a private network": ("http://10.0.0.1/", "address_refused"),
    "a user before the host": ("http://example.com@127.0.0.1/", "url_refused"),
    "a file": ("file:///etc/passwd", "url_refused"),
    "gopher": ("gopher://127.0.0.1:70/", "url_refused"),
    "another port": ("http://example.com:22/", "url_refused"),
    "a full-width dot": ("http://127。0。0。1/", "url_refused"),
    "a line break": ("http://example.com/\r\nHost: x", "url_refused"),
    "a backslash": ("http://example.com\\@127.0.0.1/", "url_refused"),
}


@pytest.mark.parametrize("name", REFUSED_URLS)
async def test_an_address_inside_is_refused_before_any_packet(tmp_path: Path, name: str) -> None:
    url, expected = REFUSED_URLS[name]
    with watching() as sockets:
        outcome = await run("http_request", work_in(tmp_path, "own_http"), url=url)

    assert (outcome.ended, code(outcome), sockets) == ("failed", expected, [])


async def test_a_name_that_leads_inside_is_refused_and_so_is_one_that_changes_its_mind(tmp_path: Path) -> None:
    inside = work_in(tmp_path, "own_http", resolve=names(["10.0.0.1"]))
    with watching() as sockets:
        assert code(await run("http_request", inside, url="http://tools.test/")) == "address_refused"
    assert sockets == []

    async with serving(saying(OK)) as server:
        rebinding = names(["127.0.0.1"], ["169.254.169.254"])
        work = web(tmp_path, server, resolve=rebinding)
        with watching() as sockets:
            first = await run("http_request", work, url=server.url())
            second = await run("http_request", work, url=server.url())

    assert (first.ended, code(second)) == ("completed", "address_refused")
    assert sockets == [("socket.connect", ("127.0.0.1", server.port))]


async def test_domains_are_allowed_and_denied_by_patterns(tmp_path: Path) -> None:
    settings = {"allow_domains": ["*.tools.test", "api.test"], "deny_domains": ["bad.tools.test"]}
    async with serving(saying(OK)) as server:
        work = web(tmp_path, server, **settings)
        ended = {
            host: (await run("http_request", work, url=server.url(host=host))).ended
            for host in (
                "a.tools.test",
                "api.test",
                "bad.tools.test",
                "tools.test",
                "xtools.test",
                "api.test.evil.test",
            )
        }

    assert [host for host, how in ended.items() if how == "completed"] == ["a.tools.test", "api.test"]


@pytest.mark.parametrize("to", ["http://127.0.0.1:1/", "http://169.254.169.254/", "http://[::1]/", "http://evil.test/"])
async def test_each_redirect_is_judged_anew(tmp_path: Path, to: str) -> None:
    async with serving(saying(moved(to))) as server:
        work = web(tmp_path, server, allow_domains=["tools.test"])
        with watching() as sockets:
            outcome = await run("http_request", work, url=server.url())

    assert (outcome.ended, code(outcome)) == ("failed", "url_refused")
    assert sockets == [("socket.connect", ("127.0.0.1", server.port))]


async def test_secrets_in_headers_do_not_follow_to_another_origin(tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "k", "Accept": "text/plain"}
    async with serving(saying(OK)) as there, serving(saying(moved(there.url(host="there.test")))) as here:
        outcome = await run("http_request", web(tmp_path, here, there), url=here.url(), headers=headers)

    assert outcome.ended == "completed"
    assert b"Bearer x" in here.requests[0]
    lines = {line.partition(b":")[0].lower() for line in there.requests[0].split(b"\r\n")[1:] if line}
    assert lines.isdisjoint({b"authorization", b"cookie", b"x-api-key"}) and b"accept" in lines


async def test_a_redirect_changes_the_method_as_browsers_do_it(tmp_path: Path) -> None:
    seen = {}
    for status, method in ((302, "POST"), (303, "PUT"), (307, "POST"), (308, "PATCH")):
        async with serving(saying(moved("/next", status))) as server:
            await run("http_request", web(tmp_path, server), url=server.url(), method=method, body="x")
        first, second = server.requests[:2]
        seen[status] = (second.split(b" ", 1)[0].decode(), second.endswith(b"\r\n\r\nx"))
        assert first.endswith(b"x")

    assert seen == {302: ("GET", False), 303: ("GET", False), 307: ("POST", True), 308: ("PATCH", True)}


@pytest.mark.parametrize("method", ["POST", "DELETE"])
async def test_nothing_but_a_get_is_sent_on_to_another_origin(tmp_path: Path, method: str) -> None:
    async with serving(saying(OK)) as there, serving(saying(moved(there.url(host="there.test"), 307))) as here:
        outcome = await run("http_request", web(tmp_path, here, there), url=here.url(), method=method, body="secret")

    assert outcome.result is not None
    assert (outcome.result["status"], outcome.result["headers"]["location"]) == (307, there.url(host="there.test"))
    assert there.connections == 0


async def test_more_than_five_redirects_are_too_many(tmp_path: Path) -> None:
    async with serving(saying(moved("/again"))) as server:
        outcome = await run("http_request", web(tmp_path, server), url=server.url())

    assert (code(outcome), len(server.requests)) == ("too_many_redirects", 6)


async def test_an_answer_over_ten_megabytes_is_not_read(tmp_path: Path) -> None:
    async with serving(saying(b"HTTP/1.1 200 OK\r\nContent-Length: 10485761\r\n\r\nx")) as server:
        outcome = await run("http_request", web(tmp_path, server), url=server.url())

    assert code(outcome) == "answer_too_large"


async def test_nobody_knows_what_a_server_did_that_took_the_request_and_never_answered(tmp_path: Path) -> None:
    async def silent(request: bytes, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    async with serving(silent) as server:
        work = web(tmp_path, server)
        asked = await run("http_request", work, url=server.url(), timeout=1)
        sent = await run("http_request", work, url=server.url(), method="POST", timeout=1)

    assert [(each.ended, code(each)) for each in (asked, sent)] == [("failed", "time_limit"), ("unknown", "time_limit")]


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding", "Proxy-Authorization", "Connection"])
async def test_headers_of_the_connection_are_not_theirs(tmp_path: Path, name: str) -> None:
    outcome = await run("http_request", work_in(tmp_path, "own_http"), url="http://x.test/", headers={name: "x"})

    assert code(outcome) == "header_refused"


@pytest.mark.parametrize("headers", [{"X": "a\r\nY: b"}, {"X\r\nY": "b"}, {"X": "a\nb"}, {"": "x"}, {"X Y": "x"}])
def test_a_header_cannot_hold_another_one(headers: dict[str, str]) -> None:
    from apps.firewall.tools.parameters import prepare_params

    definition = BY_NAME["http_request"].definition
    prepared = prepare_params(definition, {"url": "http://x.test/", "headers": headers}, release="2026.9")

    assert prepared.problems


async def test_a_long_body_comes_in_parts_that_say_how_to_go_on(tmp_path: Path) -> None:
    body = "".join(f"line {number}\n" for number in range(60_000)).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    parts, offset = [], 0
    async with serving(saying(answer)) as server:
        while True:
            outcome = await run("http_request", web(tmp_path, server), url=server.url(), offset=offset)
            assert outcome.result is not None
            parts.append(outcome.result["body"])
            if not outcome.result["truncated"]:
                break
            offset = outcome.result["next_offset"]
        small = await run("http_request", web(tmp_path, server), url=server.url(), offset=5, limit=3)

    assert len(parts) > 2 and "".join(parts).encode() == body
    assert "next_offset" not in outcome.result
    assert small.result is not None and (small.result["body"], small.result["next_offset"]) == ("0\nl", 8)
