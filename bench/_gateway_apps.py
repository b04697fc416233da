"""The two servers of `bench.gateway`: the agents' door, and a DRF view on Django's own ASGI handler.

Both know one token, hold the same snapshot and count; neither asks a database. Run as
`uvicorn bench._gateway_apps:door` or `…:django_view`.
"""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "openclaw_admin.settings")
django.setup()

from bench._gateway_doors import django_view, door  # noqa: E402 - Django must be set up first

__all__ = ["django_view", "door"]
