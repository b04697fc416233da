"""Background work. Without REDIS_URL the broker is this process's memory and a thread of `serve` does the work."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")

app = Celery("openclaw_admin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
