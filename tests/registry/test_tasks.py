"""Looks that are asked for or due are done in the background; the run tells how far they are."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from apps.accounts.errors import PermissionDeniedError
from apps.registry import services
from apps.registry.models import DiscoveryRun, DiscoverySource, Environment, Tool
from apps.registry.tasks import look_begin, look_run_task, look_task, looks_due_task, runs_close_orphaned_task

TOOL = '''
from openclaw_admin.tools import tool

@tool
def tea_brew(minutes: int) -> str:
    """Brew tea for some minutes."""
    return "ready"
'''


@pytest.fixture
def folder(environment: Environment, tmp_path: Path) -> DiscoverySource:
    (tmp_path / "tea_tool.py").write_text(TOOL)
    return services.source_create(
        environment, key="kitchen", kind="folder", settings={"scan_directories": [str(tmp_path)]}
    )


def ended(run: DiscoveryRun) -> DiscoveryRun:
    until = time.monotonic() + 120
    while run.state == "running" and time.monotonic() < until:
        time.sleep(0.05)
        run.refresh_from_db()
    return run


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was put into the queue, by the name of the task."""
    from apps.registry import tasks

    found: list[tuple[str, str]] = []
    for task in (tasks.look_task, tasks.look_run_task):
        monkeypatch.setattr(task, "delay", lambda identifier, name=task.name: found.append((name, identifier)))
    return found


@pytest.mark.django_db(transaction=True)
def test_a_look_that_somebody_asks_for_is_done_behind_the_request(
    folder: DiscoverySource, admin: Any, queued: list[tuple[str, str]]
) -> None:
    run = look_begin(folder, by=admin)
    assert (run.state, run.actor) == ("running", "user:admin")
    assert queued == [("registry.look_run", str(run.pk))]

    assert look_run_task(str(run.pk))
    assert (ended(run).state, run.added) == ("completed", 1)
    assert Tool.objects.get(name="tea_brew").executor["kind"] == "python"
    assert not look_run_task(str(run.pk)), "a look is done once"


@pytest.mark.django_db(transaction=True)
def test_a_source_whose_time_has_come_is_looked_through(folder: DiscoverySource, queued: list[tuple[str, str]]) -> None:
    assert looks_due_task() == 0
    services.source_save(folder, interval_s=60)
    assert looks_due_task() == 1
    assert queued == [("registry.look", str(folder.pk))]

    assert look_task(str(folder.pk))
    assert ended(folder.runs.get()).state == "completed"
    assert looks_due_task() == 0


@pytest.mark.django_db
def test_a_source_that_is_busy_or_switched_off_is_left_alone(folder: DiscoverySource, look: Callable[..., Any]) -> None:
    services.run_start(folder)
    assert not look_task(str(folder.pk))
    services.source_save(folder, is_enabled=False)
    assert not look_task(str(folder.pk))


@pytest.mark.django_db
def test_looks_of_gone_processes_are_closed_when_the_scheduler_starts(folder: DiscoverySource) -> None:
    run = services.run_start(folder)
    DiscoveryRun.objects.filter(pk=run.pk).update(boot=None)
    assert "registry.runs_close_orphaned" in settings.CELERY_TASKS_AT_START
    assert runs_close_orphaned_task() == 1
    assert ended(run).error_code == "process_gone"


@pytest.mark.django_db
def test_who_may_not_look_begins_nothing(folder: DiscoverySource, viewer: Any, queued: list[Any]) -> None:
    with pytest.raises(PermissionDeniedError):
        look_begin(folder, by=viewer)
    assert queued == []
    assert not DiscoveryRun.objects.exists()
