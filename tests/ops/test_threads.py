"""Django in threads: what reaches a thread, and what comes back."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpx
import pytest

from openclaw_admin.threads import AT_ONCE_BYTES, STREAMS, InThreads

SCOPE = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "http_version": "1.1", "headers": []}
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
            yield b"%d" % number * AT_ONCE_BYTES

    answer = Answer(parts(), streaming=True)

    def application(_environ: Any, start: Start) -> Answer:
        start("200 OK", [])
        return answer

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await may_go_on.wait()
            sent.append(message["body"][-1:])

    served = InThreads(application, workers=1)
    serving = asyncio.create_task(served(SCOPE, Asked(), send))
    async with asyncio.timeout(30):
        while len(made) < 2:
            await asyncio.sleep(0.001)
        assert (made, sent) == ([0, 1], [])
        may_go_on.set()
        await serving
    assert (made, sent, answer.is_closed) == ([0, 1, 2], [b"1", b"2", b""], True)


class Asked:
    """A request without a body, whose client stays until `leave`."""

    def __init__(self) -> None:
        self._is_asked = False
        self.leave = asyncio.Event()

    async def __call__(self) -> Any:
        if not self._is_asked:
            self._is_asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.leave.wait()
        return {"type": "http.disconnect"}


async def test_a_short_answer_in_parts_holds_no_thread_while_its_reader_is_slow() -> None:
    answer = Answer([b"a", b"b"], streaming=True)

    def application(_environ: Any, start: Start) -> Answer:
        start("200 OK", [])
        return answer

    async def send(message: Any) -> None:
        assert answer.is_closed

    await InThreads(application, workers=1)(SCOPE, Asked(), send)


async def test_a_reader_who_reads_nothing_of_a_long_answer_keeps_nobody_waiting() -> None:
    def application(environ: Any, start: Start) -> Answer:
        start("200 OK", [])
        return Answer([b"x" * AT_ONCE_BYTES] * 9, streaming=environ["PATH_INFO"] == "/long")

    served = InThreads(application, workers=1)
    reading, never = asyncio.Event(), asyncio.Event()

    async def unread(message: Any) -> None:
        reading.set()
        await never.wait()

    long = asyncio.create_task(served(SCOPE | {"path": "/long"}, Asked(), unread))
    async with asyncio.timeout(30):
        await reading.wait()
        answers: list[Any] = []

        async def send(message: Any) -> None:
            answers.append(message)

        await served(SCOPE, Asked(), send)
        assert len(answers[1]["body"]) == 9 * AT_ONCE_BYTES
        never.set()
        await long


async def test_more_long_answers_than_threads_for_them_are_refused_at_once() -> None:
    def application(_environ: Any, start: Start) -> Answer:
        start("200 OK", [])
        return Answer([b"x" * AT_ONCE_BYTES] * 9, streaming=True)

    served = InThreads(application, workers=1)
    read = asyncio.Event()
    begun: list[int] = []

    async def slowly(message: Any) -> None:
        if "status" in message:
            begun.append(message["status"])
        await read.wait()

    async with asyncio.timeout(30):
        waiting = [asyncio.create_task(served(SCOPE, Asked(), slowly)) for _ in range(STREAMS)]
        while len(begun) < STREAMS:
            await asyncio.sleep(0.001)
        refused: list[int] = []

        async def send(message: Any) -> None:
            refused.append(message.get("status", 0))

        await served(SCOPE, Asked(), send)
        assert refused == [503, 0]
        read.set()
        await asyncio.gather(*waiting)


async def test_nothing_more_is_made_for_a_reader_who_left() -> None:
    made: list[int] = []
    left = threading.Event()

    def parts() -> Iterator[bytes]:
        for number in range(1000):
            made.append(number)
            yield b"x" * AT_ONCE_BYTES
            if number == 3:
                assert left.wait(30)

    def application(_environ: Any, start: Start) -> Answer:
        start("200 OK", [])
        return Answer(parts(), streaming=True)

    asked = Asked()

    async def send(message: Any) -> None:
        if len(made) >= 4 and not left.is_set():
            asked.leave.set()
            await asyncio.sleep(0)
            left.set()

    async with asyncio.timeout(30):
        await InThreads(application, workers=1)(SCOPE, asked, send)
    assert len(made) < 20


async def test_a_body_that_is_held_back_takes_no_thread_and_is_refused(settings: Any) -> None:
    settings.SLOW_CLIENT_S = 0.05

    parts = iter([{"type": "http.request", "body": b"half", "more_body": True}])

    async def half() -> Any:
        for part in parts:
            return part
        return await asyncio.Event().wait()

    answers: list[Any] = []

    async def send(message: Any) -> None:
        answers.append(message)

    def application(_environ: Any, _start: Start) -> Answer:
        raise AssertionError("a thread was taken")

    await InThreads(application, workers=1)(SCOPE, half, send)
    assert (answers[0]["status"], b"body_too_slow" in answers[1]["body"]) == (408, True)


async def test_what_is_reserved_is_answered_while_every_thread_works() -> None:
    go_on = threading.Event()

    def application(environ: Any, start: Start) -> Answer:
        if environ["PATH_INFO"] != "/reserved":
            assert go_on.wait(30)
        start("204 No Content", [])
        return Answer([])

    served = InThreads(application, workers=2, is_reserved=lambda scope: scope["path"] == "/reserved")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://127.0.0.1:8000") as http:
        others = [asyncio.create_task(http.get("/")) for _ in range(5)]
        answer = await asyncio.wait_for(http.post("/reserved", content=b"x"), 30)
        assert (answer.status_code, [each.done() for each in others]) == (204, [False] * 5)
        go_on.set()
        assert {each.status_code for each in await asyncio.gather(*others)} == {204}


async def test_a_body_above_the_limit_is_refused_unread(settings: Any) -> None:
    settings.BODY_LIMIT_BYTES = 1000
    async with client(echo) as http:
        answer = await http.post("/x", content=b"a" * 1001)
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")


async def test_a_body_in_chunks_needs_no_length() -> None:
    async def parts() -> Any:
        yield b"123"
        yield b"45"

    async with client(echo) as http:
        answer = await http.post("/", content=parts())
    assert answer.text.startswith("5 ")


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
