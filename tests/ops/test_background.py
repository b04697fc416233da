"""Background tasks: each of the schedule exists; `test_serve.py` sees the thread of `serve` do one."""

from django.conf import settings

from openclaw_admin.celery import app


def test_every_task_of_the_schedule_exists() -> None:
    app.loader.import_default_modules()
    wanted = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} | {*settings.CELERY_TASKS_AT_START}
    assert wanted - set(app.tasks) == set()
