"""Background work. Without REDIS_URL the broker is this process's memory and a thread of `serve` does the work."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

app = Celery("openclaw_admin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@beat_init.connect
def ask_for_unfinished(**_: object) -> None:
    """Have what an earlier process left done now; the intervals of the schedule begin with the scheduler."""
    for name in app.conf.tasks_at_start:
        app.send_task(name)


@worker_init.connect
def ask_no_other_worker(sender: Any, **_: object) -> None:
    """Have a worker begin without a word from others: it needs none, and a broker that goes meanwhile would end it."""
    sender.options |= {"without_mingle": True, "without_gossip": True}
