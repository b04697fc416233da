"""Secrets of fifty shapes are in no file, stream, notice, answer to a program, or log."""

import io
import json
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from django.test import Client
from pyarrow.parquet import ParquetFile

from apps.audit.exporting import export_run
from apps.audit.exports import export_path, export_request
from apps.audit.filters import EntryFilters
from apps.audit.following import follow
from apps.audit.services import entries_record
from apps.audit.streaming.sending import stream_send
from apps.audit.streaming.streams import stream_add
from apps.firewall.identifiers import new_id
from apps.notifications.delivering import deliveries_due, delivery_claim, delivery_heard
from apps.notifications.people import preference_save
from apps.notifications.planning import deliveries_plan
from apps.notifications.sending import send
from apps.notifications.webhooks import webhook_add
from openclaw_admin import logs
from tests.approvals.conftest import NOON, ask, draft_for  # noqa: F401 - fixtures
from tests.audit.drafts import intent, outcome
from tests.audit.siem import KEY, REGION, SECRET, HttpServer, ObjectStore, SyslogServer, served
from tests.gateway.canaries import Canary, canaries, found_in
from tests.gateway.test_canaries import of_files, of_tables
from tests.gateway.test_decisions import Token
from tests.notifications.conftest import Browser, Mailbox, browser_at, mailbox  # noqa: F401 - fixtures
from tests.receiver import Receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.unhurried]
FORMATS = ("csv", "jsonl", "parquet")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> None:
    settings.VAR_DIR = tmp_path / "var"


def record() -> list[Canary]:
    """Record calls whose params, results and errors hold secrets; the words of all are in the index then."""
    given, answered, failed = canaries("params"), canaries("results"), canaries("errors")
    drafts = []
    for asked, told, broke in zip(given, answered, failed, strict=True):
        for ends in ({"result": {"text": told.text, "raw": [told.text]}}, {"error": {"message": broke.text}}):
            call = new_id()
            drafts += [
                intent(call, params={"command": asked.text, "deep": [{"text": asked.text}]}),
                outcome(call, **ends),
            ]
    entries_record(drafts)
    assert follow(limit_s=60) == 0
    return [*given, *answered, *failed]


@pytest.mark.slow
def test_files_of_each_format_and_what_is_asked_for_by_programs(
    environment: Any, auditor: Any, token: Token, settings: Any
) -> None:
    recorded, looked_for = record(), canaries("searches")
    headers: dict[str, Any] = {"HTTP_AUTHORIZATION": f"Bearer {token('audit_read', 'audit_export', name='reads')[1]}"}
    program, answers = Client(), []
    for canary in looked_for:
        answers.append(program.get("/api/v1/audit/calls", {"text": canary.text}, **headers).content)
    for path in ("audit/calls?limit=100", "audit/entries?limit=500", "audit/export?as=csv", "audit/report"):
        answer = program.get(f"/api/v1/{path}", **headers)
        assert answer.status_code == 200, answer.content
        answers.append(b"".join(answer) if answer.streaming else answer.content)
    rows = []
    for name in FORMATS:
        export = export_request(auditor, filters=EntryFilters(), format_name=name, at=datetime.now(UTC))
        assert export_run(export.pk, at=datetime.now(UTC))
        export.refresh_from_db()
        rows.append(export_path(export).read_bytes())
    rows.append(str(ParquetFile(export_path(export)).read().to_pylist()).encode())
    held = {
        "answers": b"\n".join(answers),
        "exports": b"\n".join(rows),
        "tables": of_tables(),
        "files": of_files(settings.VAR_DIR),
    }
    assert all(b"[masked " in held[name] for name in ("answers", "exports", "tables"))
    assert {where: names for where, block in held.items() if (names := found_in(block, recorded + looked_for))} == {}


def test_streams_to_other_systems(environment: Any, admin: Any, settings: Any) -> None:
    settings.CALLBACK_NETWORKS = ("127.0.0.0/8",)
    streams = []
    bucket: dict[str, Any] = {"region": REGION, "secret": f"{KEY}:{SECRET}"}
    with served(HttpServer()) as web, served(SyslogServer(None)) as syslog, served(ObjectStore()) as store:
        for kind, server, address, more in (
            ("http", web, "http://127.0.0.1:{}/in", {}),
            ("otlp", web, "http://127.0.0.1:{}/v1/logs", {}),
            ("syslog", syslog, "syslog+tcp://127.0.0.1:{}", {}),
            ("s3", store, "http://127.0.0.1:{}/bucket", bucket),
        ):
            port = server.server_address[1]
            settings.AUDIT_STREAM_PORTS = (*settings.AUDIT_STREAM_PORTS, port)
            streams.append(stream_add(admin, name=kind, kind=kind, url=address.format(port), **more).pk)
        recorded = record()
        for stream in streams:
            while stream_send(stream, at=datetime.now(UTC) + timedelta(hours=1), limit_s=30):
                pass
    told = {
        "http": b"\n".join(body for _, path, _, body in web.asked if path == "/in"),
        "otlp": b"\n".join(body for _, path, _, body in web.asked if path == "/v1/logs"),
        "syslog": b"\n".join(syslog.messages),
        "s3": b"\n".join([*map(str.encode, store.objects), *store.objects.values()]),
    }
    assert {kind: block.count(b"[masked ") > 300 for kind, block in told.items()} == dict.fromkeys(told, True)
    assert {kind: names for kind, block in told.items() if (names := found_in(block, recorded))} == {}


@pytest.mark.slow
def test_notices_to_people(
    ask: Callable[..., Any],  # noqa: F811 - the fixture
    environment: Any,
    operator: Any,
    mailbox: Mailbox,  # noqa: F811
    receiver: Receiver,
    browser_at: Callable[..., Browser],  # noqa: F811
) -> None:
    browser = browser_at()
    browser.subscribe(operator)
    preference_save(operator, email="olga@example.com", language="", quiet="")
    webhook_add(environment, name="pager", url=f"{receiver.origin}/pager", secret="a shared key of a test")
    asked = canaries("notices")
    for canary in asked:
        params = {"command": canary.text}
        ask(params=params, command=canary.text, action={"tool": "exec", "params": params})
    for seconds in (60, 78, 96, 119):
        at = NOON + timedelta(seconds=seconds)
        deliveries_plan(at)
        for pk in deliveries_due(at, limit=1000):
            taken = delivery_claim(pk, at)
            if taken is not None:
                delivery_heard(taken, send(taken, at), at)
    pushed = [json.dumps(browser.read(body)) for path, _, body in receiver.heard if path == "/push/1"]
    paged = [body for path, _, body in receiver.heard if path == "/pager"]
    mails = [part.get_payload(decode=True) or b"" for _, mail in mailbox.mails for part in mail.walk()]
    assert pushed and paged and mails
    told = b"\n".join([*(each.encode() for each in pushed), *paged, *map(bytes, mails), of_tables()])
    assert found_in(told, asked) == []


@pytest.fixture(params=[logs.JSON, logs.CONSOLE])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    formatter = dict(logs.logging_settings(request.param, "INFO")["formatters"]["ours"])
    output = io.StringIO()
    handler = logging.StreamHandler(output)
    handler.setFormatter(formatter.pop("()")(**formatter))
    logger = logging.getLogger("openclaw_canaries")
    logger.addHandler(handler)
    logger.setLevel("INFO")
    logger.propagate = False
    yield output
    logger.removeHandler(handler)


def test_logs_however_a_secret_gets_there(log: io.StringIO) -> None:
    every = canaries("logs")
    for canary in every:
        structlog.get_logger("openclaw_canaries").info("asked", params={"command": canary.text}, path=canary.text)
        logging.getLogger("openclaw_canaries").warning("of others: %s", canary.text)
        try:
            raise ValueError(canary.text)
        except ValueError:
            structlog.get_logger("openclaw_canaries").exception("failed")
    assert log.getvalue().count("[masked ") > 150
    assert found_in(log.getvalue().encode(), every) == []
