"""Calls that are ended wherever they wait, over a real socket, on the loop and the server of production."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvloop
from django.utils import timezone

from apps.approvals.models import Approval
from apps.audit.selectors import call_record
from apps.firewall.engine.snapshot import Snapshot
from apps.firewall.identifiers import read_id
from apps.firewall.runtime.invoke import invoke as whole
from apps.gateway.database import in_database
from apps.gateway.lifecycle import gateway
from apps.gateway.models import AsyncCall
from apps.halts.services import halt_lift, halt_place
from tests.gateway.conftest import LISTED, snapshot_with
from tests.gateway.server import Holder, Server
from tests.stepping import Stepped

WAITS_LIMIT = 120
ENDED = frozenset({"cancelled", "denied", "failed"})


@dataclass(frozen=True)
class Way:
    """A call, the policy that meets it, and how it ends when nobody disturbs it."""

    snapshot: Callable[[], Snapshot]
    body: Mapping[str, Any]
    end: str


READ: dict[str, Any] = {"tool": "read", "params": {"path": "a.txt"}}
COMMAND: dict[str, Any] = {"tool": "exec", "params": {"command": "echo"}}
WAYS = {
    "the policy denies it": Way(lambda: snapshot_with(deny=("read",)), READ, "tool_not_found"),
    "its tool answers": Way(snapshot_with, READ, "failed"),
    "a person is asked": Way(lambda: snapshot_with(approvals={}), COMMAND, "awaiting_approval"),
    "it is queued": Way(lambda: snapshot_with(approvals=LISTED), {**COMMAND, "mode": "async"}, "queued"),
}


class Disturbed:
    """Has the next call of this process ended when it waits for the nth time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = 0
        self.stepped: Stepped | None = None

        def invoke(call: Any, ports: Any, *, abort: Any) -> Any:
            def end() -> None:
                gateway().desk.abort(call.id, by="user:olga", reason="stopped")

            self.stepped = Stepped(whole(call, ports, abort=abort), at=self.at, disturb=end)
            return self.stepped

        monkeypatch.setattr("apps.gateway.desk.invoke", invoke)


def on_server(holder: Holder, work: Callable[[httpx.AsyncClient], Any], secret: str) -> None:
    """Do something with a client of a server that runs as `make run` runs it: uvicorn on uvloop, in the main thread."""

    async def main() -> None:
        server = Server(holder.snapshots())
        serving = asyncio.create_task(server._uvicorn.serve())
        async with asyncio.timeout(60):
            while not server._uvicorn.started:
                assert not serving.done(), "the server did not start"
                await asyncio.sleep(0.01)
        try:
            headers = {"Authorization": f"Bearer {secret}"}
            async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as client:
                await work(client)
        finally:
            server._uvicorn.should_exit = True
            await serving

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


@pytest.fixture
def var(tmp_path: Path, settings: Any) -> Path:
    settings.VAR_DIR = tmp_path / "var"
    return tmp_path


def ended(call_id: Any) -> tuple[str, int, int]:
    """Say how a call stands on record, how many people are asked about it, and how many rows of it are open."""
    record = call_record(call_id)
    pending = sum(each.is_pending for each in Approval.objects.filter(call_id=call_id))
    is_open = AsyncCall.objects.filter(pk=call_id).exclude(state="done").count()
    return "" if record is None else record.status, pending, is_open


@pytest.mark.parametrize("way", WAYS)
def test_a_call_that_is_ended_wherever_it_waits_is_answered_and_on_record(
    way: str, transactional_db: None, environment: Any, secret: str, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disturbed = Disturbed(monkeypatch)
    holder = Holder(WAYS[way].snapshot())

    async def work(client: httpx.AsyncClient) -> None:
        for at in range(1, WAITS_LIMIT):
            disturbed.at = at
            body = {"agent": "bot", "wait_ms": 20_000 if way != "a person is asked" else 300, **WAYS[way].body}
            answer = await client.post("/api/v1/calls", json=body)
            assert answer.headers["content-type"] == "application/json", at
            content = answer.json()
            assert disturbed.stepped is not None
            if not disturbed.stepped.was_disturbed:
                assert WAYS[way].end in {content.get("status"), content.get("code")}, content
                return
            if answer.status_code == 404:  # refused before it was ended; what is on record is asked for elsewhere
                assert content["code"] == "tool_not_found"
                continue
            assert answer.status_code in {200, 202}, content
            until = time.monotonic() + 30
            while (found := await in_database(ended, read_id("call", content["id"])))[0] not in ENDED:
                assert time.monotonic() < until, (at, content, found)
                await asyncio.sleep(0.02)
            assert found[1:] == (0, 0), (at, content, found)
        raise AssertionError("it never came to its end")

    on_server(holder, work, secret)


def denials() -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM audit_entry WHERE kind IN ('denial', 'call_outcome')")
        return int(cursor.fetchone()[0])


def test_calls_that_come_while_the_kill_switch_is_thrown_are_answered_and_on_record(
    transactional_db: None, environment: Any, secret: str, var: Path
) -> None:
    rounds, at_once = 10, 6

    def throw() -> Any:
        return halt_place(environment, scope="agent", name="bot", reason="now", unknown=True, at=timezone.now())

    async def work(client: httpx.AsyncClient) -> None:
        body = {"agent": "bot", "tool": "write", "params": {"path": "q.md", "content": "x"}}
        for _ in range(rounds):
            throwing = asyncio.ensure_future(in_database(throw))
            calls = [client.post("/api/v1/calls", json=body) for _ in range(at_once)]
            answers = await asyncio.gather(*calls)
            late = await asyncio.gather(*[client.post("/api/v1/calls", json=body) for _ in range(at_once)])
            assert [each.status_code for each in [*answers, *late]] == [200] * at_once * 2, [
                each.text for each in [*answers, *late] if each.status_code != 200
            ]
            await in_database(halt_lift, await throwing, at=timezone.now())
        assert await in_database(denials) == rounds * at_once * 2

    on_server(Holder(snapshot_with()), work, secret)


def test_a_caller_that_hangs_up_at_any_moment_leaves_a_record(
    transactional_db: None, environment: Any, secret: str, var: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Any] = []

    def invoke(call: Any, *args: Any, **kwargs: Any) -> Any:
        begun.append(call)
        return whole(call, *args, **kwargs)

    monkeypatch.setattr("apps.gateway.desk.invoke", invoke)

    async def work(client: httpx.AsyncClient) -> None:
        host, port = client.base_url.host, client.base_url.port
        body = b'{"agent":"bot","tool":"read","params":{"path":"a"}}'
        head = (
            f"POST /api/v1/calls HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {secret}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()
        for pauses in range(24):  # turns of the loop between sending and hanging up
            before = len(begun)
            _, writer = await asyncio.open_connection(host, port)
            writer.write(head + body)
            await writer.drain()
            async with asyncio.timeout(30):
                while len(begun) == before:
                    await asyncio.sleep(0)
            for _ in range(pauses):
                await asyncio.sleep(0)
            writer.close()
        async with asyncio.timeout(30):
            while gateway().desk.running:
                await asyncio.sleep(0.01)
        assert await in_database(denials) == len(begun) == 24

    on_server(Holder(snapshot_with(deny=("read",))), work, secret)
