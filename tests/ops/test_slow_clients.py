"""Clients that say half, say nothing or do not read: each is let go of, and none keeps the kill switch waiting."""

import asyncio
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from tests.ops.conftest import READY, Serve, environment_of
from tests.ports import free_port
from tests.slow_clients import KINDS, connected, head, keep_slow, until_ended

pytestmark = pytest.mark.unhurried
CLIENTS = 200
PRESSES = 25
BUSY = 3  # how much longer it may take than without them, on a machine that is busy anyhow
SLOW_CLIENT_S = 3.0


@pytest.fixture(scope="module")
def served(earlier_installation: Path) -> Iterator[tuple[Serve, int]]:
    folder = Path(tempfile.mkdtemp(prefix="oca-ops-"))
    folder.chmod(0o711)
    subprocess.run(["cp", "--archive", f"{earlier_installation}/.", str(folder)], check=True)
    port = free_port()
    environment = environment_of(folder, SLOW_CLIENT_S=str(SLOW_CLIENT_S))
    server = Serve("--port", str(port), environment=environment, log=folder / "slow.log")
    try:
        server.wait_for(READY)
        yield server, port
    finally:
        server.end()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.slow
async def test_a_connection_that_says_too_little_is_ended(served: tuple[Serve, int]) -> None:
    _, port = served
    await asyncio.gather(*(until_ended(kind, port) for kind in KINDS))


async def test_a_head_without_an_end_is_refused(served: tuple[Serve, int]) -> None:
    _, port = served
    reader, writer = await connected(port)
    writer.write(head("GET", "/", b"x")[:-2] + b"X-More: 1\r\n" * 10_000)
    assert (await asyncio.wait_for(reader.readline(), 300)).startswith(b"HTTP/1.1 431 ")
    writer.close()


@pytest.mark.slow
async def test_a_reader_who_takes_nothing_is_let_go(served: tuple[Serve, int]) -> None:
    _, port = served
    _, writer = await connected(port)
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    path = "/static/vendor/tabler.min.css"
    asked = head("GET", path, b"127.0.0.1:%d" % port)
    async with asyncio.timeout(300):
        with suppress(ConnectionError):
            while True:  # more than what the system holds for both ends
                writer.write(asked)
                await writer.drain()
                if writer.transport.is_closing():
                    break
                await asyncio.sleep(0.05)
    writer.close()


async def test_a_body_that_comes_in_time_is_taken_whole(served: tuple[Serve, int]) -> None:
    _, port = served
    reader, writer = await connected(port)
    body = b"login=nobody&password=" + b"x" * 2_000_000
    writer.write(head("POST", "/sign-in/", b"127.0.0.1:%d" % port, b"Content-Length: %d\r\n" % len(body)))
    for start in range(0, len(body), 100_000):
        writer.write(body[start : start + 100_000])
        await writer.drain()
    assert (await asyncio.wait_for(reader.readline(), 300)).startswith(b"HTTP/1.1 403 ")  # it has no CSRF token
    writer.close()


async def signed_in(http: httpx.AsyncClient, said: str) -> None:
    """Sign the administrator in with the password of the first start."""
    found = re.search(r"^ +admin +(\S+)$", said, flags=re.MULTILINE)
    assert found, said
    page = await http.get("/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token
    answer = await http.post(
        "/sign-in/", data={"login": "admin", "password": found[1], "csrfmiddlewaretoken": token[1]}
    )
    assert answer.status_code == 302, answer.text


async def press(http: httpx.AsyncClient, number: int) -> float:
    """Throw the kill switch for everything and take it back; return how long throwing it took, in seconds."""
    headers = {"X-CSRFToken": http.cookies["csrftoken"], "Referer": str(http.base_url)}
    begun_at = time.monotonic()
    answer = await http.post("/api/v1/halts", json={"scope": "environment", "reason": f"n{number}"}, headers=headers)
    took_s = time.monotonic() - begun_at
    assert answer.status_code == 201, answer.text
    halt = answer.json()["id"]
    await http.post(f"/api/v1/halts/{halt}/ask", json={}, headers=headers)
    lifted = await http.post(f"/api/v1/halts/{halt}/lift", json={}, headers=headers)
    assert lifted.status_code < 300, lifted.text
    return took_s


@pytest.mark.slow
async def test_two_hundred_slow_clients_do_not_keep_the_kill_switch_waiting(served: tuple[Serve, int]) -> None:
    server, port = served
    said = (server.log.parent / "serve.log").read_text()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as http:
        await signed_in(http, said)
        without = [await press(http, number) for number in range(PRESSES)]
        clients = [asyncio.create_task(keep_slow(KINDS[n % len(KINDS)], port)) for n in range(CLIENTS)]
        try:
            await asyncio.sleep(0)
            took = [await press(http, number) for number in range(PRESSES)]
            page = await http.get("/approvals/")
        finally:
            for each in clients:
                each.cancel()
            await asyncio.gather(*clients, return_exceptions=True)
    assert page.status_code == 200
    assert max(took) <= max(1.0, BUSY * max(without)), (without, took)
