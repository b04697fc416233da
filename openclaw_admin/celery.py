"""Background work. Without REDIS_URL the broker is this process's memory and a thread of `serve` does the work."""

import os
from typing import Any

import structlog
from celery import Celery
from celery.signals import beat_init, worker_init

from openclaw_admin.embedded.errors import EmbeddedError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

log = structlog.get_logger("openclaw_admin.celery")
app = Celery("openclaw_admin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@beat_init.connect
def ask_for_unfinished(**_: object) -> None:
    """Have what an earlier process left done now; the intervals of the schedule begin with the scheduler."""
    for name in app.conf.tasks_at_start:
        app.send_task(name)


@worker_init.connect
@beat_init.connect
def refuse_newer_database(**_: object) -> None:
    """End a worker or scheduler whose database a newer version made."""
    from django.db import DatabaseError, connections

    from openclaw_admin.database import check_version

    try:
        check_version()
    except EmbeddedError as exc:
        raise SystemExit(str(exc)) from exc
    except DatabaseError as exc:  # it is waited for, as by every task
        log.warning("celery.database_unchecked", error=type(exc).__name__)
    finally:
        connections["default"].close()


@worker_init.connect
def ask_no_other_worker(sender: Any, **_: object) -> None:
    """Have a worker begin without a word from others: it needs none, and a broker that goes meanwhile would end it."""
    sender.options |= {"without_mingle": True, "without_gossip": True}
