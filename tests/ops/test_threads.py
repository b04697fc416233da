"""Django in threads: what reaches a thread, and what comes back."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpx
import pytest

from openclaw_admin.threads import InThreads

Start = Callable[[str, list[tuple[str, str]]], Any]


class Answer:
    """What Django answers with: parts that come at once, or one after the other."""

    def __init__(self, parts: Iterable[bytes], *, streaming: bool = False) -> None:
        self._parts = parts
        self.streaming = streaming
        self.is_closed = False

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._parts)

    def close(self) -> None:
        self.is_closed = True


def echo(environ: Any, start: Start) -> Answer:
    """Say what was read, and in which thread."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    start("201 Created", [("X-Path", environ["PATH_INFO"]), ("X-Query", environ["QUERY_STRING"])])
    return Answer([b"%d " % len(body), threading.current_thread().name.encode()])


def client(application: Any) -> httpx.AsyncClient:
    served = InThreads(application, workers=2)
    return httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://127.0.0.1:8000")


async def test_a_request_is_answered_in_a_thread() -> None:
    async with client(echo) as http:
        answer = await http.post("/some/path?a=1", content=b"12345")
    assert (answer.status_code, answer.headers["x-path"], answer.headers["x-query"]) == (201, "/some/path", "a=1")
    assert answer.text.startswith("5 WSGI")


async def test_a_body_that_comes_in_parts_is_read_whole() -> None:
    async def parts() -> Any:
        for _ in range(50):
            yield b"x" * 1000

    async with client(echo) as http:
        answer = await http.post("/", content=parts(), headers={"content-length": "50000"})
    assert answer.text.startswith("50000 ")


async def test_an_answer_in_parts_waits_for_its_reader() -> None:
    made: list[int] = []
    sent: list[bytes] = []
    may_go_on = asyncio.Event()

    def parts() -> Iterator[bytes]:
        for number in range(3):
            made.append(number)
            yield b"%d" % number

    answer = Answer(parts(), streaming=True)

    def application(_environ: Any, start: Start) -> Answer:
        start("200 OK", [])
        return answer

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await may_go_on.wait()
            sent.append(message["body"])

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "http_version": "1.1", "headers": []}
    serving = asyncio.create_task(InThreads(application, workers=1)(scope, receive, send))
    async with asyncio.timeout(30):
        while not made:
            await asyncio.sleep(0.001)
        assert (made, sent) == ([0], [])
        may_go_on.set()
        await serving
    assert (made, sent, answer.is_closed) == ([0, 1, 2], [b"0", b"1", b"2", b""], True)


async def test_a_failure_reaches_the_server() -> None:
    def application(_environ: Any, _start: Start) -> Answer:
        raise ZeroDivisionError

    async with client(application) as http:
        with pytest.raises(ZeroDivisionError):
            await http.get("/")


async def test_requests_run_side_by_side() -> None:
    both = threading.Barrier(2)

    def application(_environ: Any, start: Start) -> Answer:
        both.wait(30)
        start("204 No Content", [])
        return Answer([])

    async with client(application) as http:
        answers = await asyncio.gather(http.get("/"), http.get("/"))
    assert [each.status_code for each in answers] == [204, 204]
