"""A worker that is killed while the other side has a batch: the next one sends it again, and goes on from there."""

import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from apps.audit.models import StreamCursor
from apps.audit.services import entries_record
from apps.audit.streaming.sending import stream_send
from apps.audit.streaming.streams import stream_add
from tests.audit.drafts import intent
from tests.audit.siem import HttpServer, served
from tests.gateway.test_sudden_death import database_url

WORKER = """
import sys
from datetime import datetime, timedelta, UTC
from uuid import UUID
import django
django.setup()
from apps.audit.streaming import sending
sending.BATCH_ENTRIES = 4
sending.stream_send(UUID(sys.argv[1]), at=datetime.now(UTC) + timedelta(seconds=1), limit_s=60)
"""


def worker(stream: Any, folder: Path, port: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "DATABASE_URL": database_url(), "OPENCLAW_ADMIN_TESTING": "1"}
    environment |= {"OPENCLAW_ADMIN_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "openclaw_admin.settings"}
    environment |= {"CALLBACK_NETWORKS": "127.0.0.0/8", "AUDIT_STREAM_PORTS": str(port)}
    environment.pop("DATABASE_OWNER_URL", None)
    return subprocess.Popen([sys.executable, "-c", WORKER, str(stream.pk)], env=environment)


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_what_a_killed_worker_had_handed_over_comes_once_more_and_the_rest_follows(
    admin: Any, settings: Any, tmp_path: Path
) -> None:
    with served(HttpServer()) as web:
        port = web.server_address[1]
        settings.CALLBACK_NETWORKS, settings.AUDIT_STREAM_PORTS = ("127.0.0.0/8",), (port,)
        stream = stream_add(admin, name="siem", kind="http", url=f"http://127.0.0.1:{port}/")
        entries_record([intent(params={"n": number}, agent="told") for number in range(12)])
        killed = worker(stream, tmp_path, port)
        web.taken = lambda: os.kill(killed.pid, signal.SIGKILL) if len(web.asked) == 2 else None
        assert killed.wait(240) == -signal.SIGKILL
        [moved] = StreamCursor.objects.filter(stream=stream)
        assert stream_send(stream.pk, at=datetime.now(UTC) + timedelta(minutes=5), limit_s=60) > 0
    batches = [[(row["chain_id"], row["seq"]) for row in json.loads(body)] for _, _, _, body in web.asked]
    assert len(batches[0]) == len(batches[1]) == 4 and batches[0][-1][1] == moved.seq
    assert batches[2][:4] == batches[1]
    told = [row["params"]["n"] for _, _, _, body in web.asked for row in json.loads(body) if row["agent"] == "told"]
    assert list(dict.fromkeys(told)) == list(range(12))
