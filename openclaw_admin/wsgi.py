"""Django's pages and the programs' API as WSGI; asgi.py runs this inside its own process."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
application = get_wsgi_application()

import openclaw_admin.celery  # noqa: E402, F401 - without it `.delay` would look for a broker of Celery's default app
