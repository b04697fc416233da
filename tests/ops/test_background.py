"""Background tasks: each of the schedule exists, and the thread of `serve` does them."""

import time
from collections.abc import Callable
from pathlib import Path

import psycopg
from django.conf import settings

from openclaw_admin.celery import app
from tests.ops.conftest import READY, Serve, free_port

UNFINISHED = """
INSERT INTO audit_export (id, requested_by_label, requested_at, touched_at, format, filters, state, rows_done,
                          size_bytes, path, error)
SELECT gen_random_uuid(), 'somebody', asked, asked, 'jsonl', '{}', 'waiting', 0, 0, '', ''
FROM (VALUES (now() - interval '1 hour')) AS hour (asked)
"""


def test_every_task_of_the_schedule_exists() -> None:
    app.loader.import_default_modules()
    wanted = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} | {*settings.CELERY_TASKS_AT_START}
    assert wanted - set(app.tasks) == set()


def test_an_export_that_an_earlier_process_left_is_finished_after_the_start(
    serve: Callable[..., Serve], lived_in: Path
) -> None:
    first = serve("--port", str(free_port()), "--no-background")
    first.wait_for(READY)
    with psycopg.connect((lived_in / "var" / "run" / "database_owner_url").read_text()) as connection:
        connection.execute(UNFINISHED)
    first.end()
    serve("--port", str(free_port())).wait_for(READY)
    with psycopg.connect((lived_in / "var" / "run" / "database_owner_url").read_text(), autocommit=True) as connection:
        deadline = time.monotonic() + 120
        states: list[str] = []
        while time.monotonic() < deadline and states[-1:] != ["done"]:
            row = connection.execute("SELECT state FROM audit_export").fetchone()
            assert row is not None
            states.append(row[0])
            time.sleep(0.2)
    assert states[-1] == "done"
