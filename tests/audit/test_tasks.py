"""What Celery runs: each task of the schedule exists, and does its work when called."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from apps.approvals.tasks import approvals_abandon_task, approvals_escalate_task, approvals_expire_task
from apps.audit.exports import export_request
from apps.audit.filters import EntryFilters
from apps.audit.models import Export
from apps.audit.tasks import (
    export_run_task,
    exports_purge_task,
    exports_resume_task,
    partitions_ensure_task,
    sweep_orphans_task,
)
from openclaw_admin.celery import app

pytestmark = pytest.mark.django_db


def test_every_scheduled_task_exists(settings: Any) -> None:
    app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert scheduled | set(settings.CELERY_TASKS_AT_START) <= set(app.tasks)


def test_an_idle_installation_has_nothing_to_sweep() -> None:
    assert partitions_ensure_task() >= 0
    assert sweep_orphans_task() >= 0
    assert [approvals_expire_task(), approvals_escalate_task(), approvals_abandon_task()] == [0, 0, 0]
    assert exports_purge_task() == 0


def test_an_export_is_written_by_its_task_and_asked_for_again_until_then(
    auditor: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR_DIR = tmp_path
    at = timezone.now() - timedelta(seconds=1)
    export = export_request(auditor, filters=EntryFilters(tool=("nothing",)), format_name="csv", at=at)
    enqueued: list[str] = []
    monkeypatch.setattr(export_run_task, "delay", enqueued.append)
    assert exports_resume_task() == 1 and enqueued == [str(export.pk)]
    assert export_run_task(enqueued[0])
    assert Export.objects.get(pk=export.pk).state == "done" and exports_resume_task() == 0
