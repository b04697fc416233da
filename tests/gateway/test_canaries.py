"""Secrets of fifty shapes go in by every door; a scan of all bytes that stay or come out finds none of them."""

import json
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from apps.audit.drafts import EntryDecision
from apps.audit.exports import entry_export
from apps.audit.filters import EntryFilters
from apps.audit.models import Entry
from apps.audit.services import entries_record
from apps.firewall.identifiers import new_id, show_id
from tests import database
from tests.audit.drafts import denial, outcome
from tests.gateway.canaries import SHAPES, Canary, canaries, found_in
from tests.gateway.conftest import publish_first
from tests.gateway.processes import Installation, until
from tests.gateway.test_decisions import Token

pytestmark = pytest.mark.unhurried
DOCUMENT = json.dumps(
    {
        "agents": {
            "ownership": "explicit",
            "entries": {
                "bot": {"tools": {"exec": {"security": "full", "ask": "off"}}},
                "careful": {"tools": {"exec": {"security": "full", "ask": "always"}}},
            },
        }
    }
)


@pytest.fixture
def secrets(transactional_db: None, environment: Any, token: Token, tmp_path: Path, settings: Any) -> dict[str, str]:
    settings.VAR_DIR = tmp_path / "var"
    publish_first(environment, DOCUMENT)
    return {
        "agent": token("calls_make")[1],
        "operator": token("approvals_read", "approvals_resolve", name="answers")[1],
    }


@contextmanager
def heard(url: str, secret: str) -> Iterator[list[bytes]]:
    """Keep every frame of an operator's socket."""
    frames: list[bytes] = []

    def listen(socket: ClientConnection) -> None:
        with suppress(ConnectionClosed):
            for frame in socket:
                frames.append(frame.encode() if isinstance(frame, str) else frame)

    headers = {"Authorization": f"Bearer {secret}"}
    with connect(f"{url.replace('http', 'ws')}/api/v1/rpc", additional_headers=headers, proxy=None) as socket:
        listener = threading.Thread(target=listen, args=(socket,))
        listener.start()
        yield frames
    listener.join(30)


def called(client: httpx.Client, agent: str, command: str, **more: Any) -> bytes:
    order = {"agent": agent, "tool": "exec", "params": {"command": command}, **more}
    answer = client.post("/api/v1/calls", json=order)
    assert answer.status_code in {200, 202}, answer.text
    return answer.content


def of_tables() -> bytes:
    """Read every row of every table as the owner."""
    with database.owner_connection() as connection:
        names = connection.execute(
            "SELECT quote_ident(table_name) FROM information_schema.tables"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        ).fetchall()
        blocks = []
        for (name,) in names:
            with connection.cursor() as cursor, cursor.copy(f"COPY (SELECT * FROM {name}) TO STDOUT") as rows:
                blocks += [name.encode(), *map(bytes, rows)]
    return b"\n".join(blocks)


def of_files(folder: Path) -> bytes:
    """Read every file that the installation keeps, but for what agents' tools wrote into their own workspaces."""
    kept = [path for path in folder.rglob("*") if path.is_file() and "workspaces" not in path.parts]
    return b"\n".join(path.read_bytes() for path in kept)


@pytest.mark.slow
def test_no_secret_stays_or_comes_out(
    secrets: dict[str, str],
    environment: Any,
    auditor: Any,
    operator: Any,
    tmp_path: Path,
    settings: Any,
) -> None:
    installation = Installation(tmp_path)
    given, asked, failed = canaries("params"), canaries("approvals"), canaries("errors")
    answers: list[bytes] = []
    headers = {"Authorization": f"Bearer {secrets['agent']}"}
    with (
        installation.server(),
        heard(installation.url, secrets["operator"]) as frames,
    ):
        with httpx.Client(base_url=installation.url, headers=headers, timeout=120) as agent:
            for canary in given:
                answers.append(called(agent, "bot", f"printf %s {shlex.quote(canary.text)}"))
            for canary in failed:
                answers.append(
                    called(agent, "bot", f"sh -c {shlex.quote('cat >&2; exit 3')} <<< {shlex.quote(canary.text)}")
                )
            for canary in asked:
                answers.append(called(agent, "careful", f"echo {shlex.quote(canary.text)}", wait_ms=0))
        until(lambda: len(frames) >= len(asked), what="an event of every question")
        with httpx.Client(
            base_url=installation.url, headers={"Authorization": f"Bearer {secrets['operator']}"}, timeout=120
        ) as answering:
            answers.append(answering.get("/api/v1/approvals").content)
            answers.append(answering.post("/api/v1/rpc/exec.approval.list", json={}).content)
    every = [*given, *asked, *failed, *in_process()]

    pages = [page for path in paths() for page in (read(auditor, path), read(operator, path))]
    exports = [b"".join(entry_export(EntryFilters(), name)) for name in ("jsonl", "csv")]
    logs = (tmp_path / "processes.log").read_bytes()
    held = {
        "tables": of_tables(),
        "files": of_files(settings.VAR_DIR),
        "logs": logs,
        "answers": b"\n".join(answers),
        "frames": b"\n".join(frames),
        "pages": b"\n".join(pages),
        "exports": b"\n".join(exports),
    }
    assert len(SHAPES) == 50 and len(found_in(b" ".join(each.text.encode() for each in given), given)) == 49
    assert b"[masked " in held["tables"] and b"[masked " in held["exports"] and b"[masked " in held["pages"]
    assert {where: names for where, block in held.items() if (names := found_in(block, every))} == {}


def in_process() -> list[Canary]:
    """Record what reaches the ledger by no call here: what hooks changed, reasons, structured results."""
    hooks, reasons, results = canaries("hooks"), canaries("reasons"), canaries("results")
    drafts = []
    for hook, reason, result in zip(hooks, reasons, results, strict=True):
        changed = {"hooks": [{"name": "h", "before": {"command": hook.text}, "after": {"command": "true"}}]}
        call = new_id()
        base = denial(
            call, changes=changed, decision=EntryDecision(verdict="deny", layer="agent", reason=f"not {reason.text}")
        )
        ended = outcome(call, result={"content": [{"type": "text", "text": result.text}], "raw": [result.text]})
        drafts += [base, ended]
    entries_record(drafts)
    return [*hooks, *reasons, *results]


def paths() -> list[str]:
    """Name pages that show what was recorded: lists, and some calls."""
    ids = Entry.objects.filter(call_id__isnull=False).order_by("at").values_list("call_id", flat=True)
    shown = [show_id("call", each) for each in dict.fromkeys(ids) if each is not None]
    return ["/audit/?span=all", "/approvals/", "/notifications/", *(f"/audit/calls/{each}/" for each in shown[::25])]


def read(user: Any, path: str) -> bytes:
    browser = Client()
    browser.force_login(user)
    return bytes(browser.get(path).content)
